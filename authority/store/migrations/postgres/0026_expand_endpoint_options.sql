-- What deliveries carry beside the service's own headers: the names for people, and all of it sealed under the
-- key-encryption key, bound to the endpoint (contract 4.10).
ALTER TABLE webhook_endpoints ADD COLUMN header_names TEXT COLLATE "C" NOT NULL DEFAULT '[]';
ALTER TABLE webhook_endpoints ADD COLUMN headers_sealed BYTEA;

-- How long an attempt may take; NULL is what the deployment has.
ALTER TABLE webhook_endpoints ADD COLUMN timeout_ms BIGINT CHECK (timeout_ms BETWEEN 1000 AND 30000);

-- When deliveries are tried again.
ALTER TABLE webhook_endpoints ADD COLUMN retry_schedule TEXT COLLATE "C" NOT NULL DEFAULT 'standard'
    CHECK (retry_schedule IN ('standard', 'short', 'long'));
