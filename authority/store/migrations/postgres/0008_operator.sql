-- The operator's side: what the audit log tells.

-- Whose record was written, and from which version to which (`resource_version` is the one after).
ALTER TABLE audit_log ADD COLUMN merchant_id TEXT COLLATE "C";
ALTER TABLE audit_log ADD COLUMN livemode BOOLEAN;
ALTER TABLE audit_log ADD COLUMN version_before BIGINT;
ALTER TABLE audit_log ADD COLUMN reason TEXT COLLATE "C";
CREATE INDEX audit_log_by_key ON audit_log (key_id, id);
CREATE INDEX audit_log_by_resource ON audit_log (resource_id, id) WHERE resource_id IS NOT NULL;
