-- How many requests an endpoint may get at a time (contract 18.4).

-- The receiver named the time in `held_until`: a success that was in flight before does not lift the hold.
ALTER TABLE webhook_endpoints ADD COLUMN hold_asked BOOLEAN NOT NULL DEFAULT FALSE;
-- Successes since the last hold ended, 1 to 3: 2, 4 and 8 requests at a time. 0: as many as it may have.
ALTER TABLE webhook_endpoints ADD COLUMN hold_regained BIGINT NOT NULL DEFAULT 0 CHECK (hold_regained BETWEEN 0 AND 3);

-- Attempts that a receiver put off with `Retry-After`: they do not use up the schedule.
ALTER TABLE deliveries ADD COLUMN put_off_count BIGINT NOT NULL DEFAULT 0 CHECK (put_off_count >= 0);

-- What is leased to an endpoint is counted by whoever leases more, its own and that of other instances apart.
DROP INDEX deliveries_leased;
CREATE INDEX deliveries_leased ON deliveries (endpoint_id, lease_until, lease_token) WHERE lease_token IS NOT NULL;
