-- The operator's side: what the audit log tells.

-- Whose record was written, and from which version to which (`resource_version` is the one after).
ALTER TABLE audit_log ADD COLUMN merchant_id TEXT;
ALTER TABLE audit_log ADD COLUMN livemode BOOLEAN;
ALTER TABLE audit_log ADD COLUMN version_before BIGINT;
ALTER TABLE audit_log ADD COLUMN reason TEXT;
CREATE INDEX audit_log_by_key ON audit_log (key_id, id);
CREATE INDEX audit_log_by_resource ON audit_log (resource_id, id) WHERE resource_id IS NOT NULL;

-- Rotation, and when a key was last used.
ALTER TABLE api_keys ADD COLUMN replaced_by TEXT REFERENCES api_keys (id);
ALTER TABLE api_keys ADD COLUMN last_used_at BIGINT;
CREATE INDEX api_keys_by_merchant ON api_keys (merchant_id, id);

-- The platform's own endpoint, the sink, gets the events of all merchants and modes. It and its deliveries stand under
-- `operator`, as the operator's alerts do: ids of merchants begin with `mer_`, so it is nobody's and no tenant's query
-- finds it. Therefore these two tables no longer refer to merchants.
-- A constraint's end changes no row. SQLite has no statement for it; this is the procedure its manual gives
-- (lang_altertable.html, "Making Other Kinds Of Table Schema Changes").
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'TEXT NOT NULL REFERENCES merchants (id)', 'TEXT NOT NULL')
    WHERE type = 'table' AND name IN ('webhook_endpoints', 'deliveries');
PRAGMA writable_schema = RESET;
