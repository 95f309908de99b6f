-- What merchants can ask of delivery: changed and deleted endpoints, the history of an endpoint's deliveries, and the
-- figures of integration health.

-- A deleted endpoint is kept for the operator's sake and hidden from its merchant; its place is free again.
ALTER TABLE webhook_endpoints ADD COLUMN deleted_at BIGINT;
-- When the failures began that no success has ended.
ALTER TABLE webhook_endpoints ADD COLUMN first_failure_at BIGINT;
CREATE INDEX webhook_endpoints_kept ON webhook_endpoints (merchant_id, livemode, created_sequence)
    WHERE deleted_at IS NULL;
CREATE INDEX webhook_endpoints_disabled ON webhook_endpoints (id) WHERE status = 'disabled';

-- Secrets whose overlap has ended are removed.
CREATE INDEX endpoint_secrets_by_expiry ON endpoint_secrets (expires_at) WHERE expires_at IS NOT NULL;

-- An endpoint's deliveries are listed by a counter of their own: replays have the sequence of an old event.
ALTER TABLE deliveries ADD COLUMN created_sequence BIGINT;
ALTER TABLE deliveries ADD COLUMN updated_at BIGINT;
UPDATE deliveries SET created_sequence = placed.place, updated_at = placed.changed_at FROM (
    SELECT id AS placed_id, ROW_NUMBER() OVER (PARTITION BY endpoint_id ORDER BY created_at, sequence, id) AS place,
        COALESCE(succeeded_at, failed_at, created_at) AS changed_at
    FROM deliveries) AS placed WHERE deliveries.id = placed.placed_id;
CREATE UNIQUE INDEX deliveries_by_creation ON deliveries (endpoint_id, created_sequence);
CREATE INDEX deliveries_by_event ON deliveries (event_id, endpoint_id);
CREATE INDEX deliveries_failed ON deliveries (endpoint_id, failed_at) WHERE status = 'failed';
-- With the time of creation in it, what waits is counted without looking at a row.
DROP INDEX deliveries_due;
CREATE INDEX deliveries_due ON deliveries (endpoint_id, next_attempt_at, sequence, created_at)
    WHERE status = 'pending';

-- The last day of an endpoint's attempts.
ALTER TABLE attempts ADD COLUMN endpoint_id TEXT;
UPDATE attempts SET endpoint_id = (SELECT endpoint_id FROM deliveries WHERE deliveries.id = attempts.delivery_id);
CREATE INDEX attempts_by_endpoint ON attempts (endpoint_id, started_at, outcome, duration_ms);

-- The dispatcher knows endpoints, not whose they are.
CREATE INDEX alerts_by_subject ON alerts (subject, code) WHERE closed_at IS NULL;
