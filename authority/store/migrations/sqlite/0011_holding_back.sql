-- What attempts say of an endpoint, besides its health (contract 7.4, 7.5, 15.6): whether it is being held back, and
-- what its automatic disabling is decided by. Beside the endpoint, so that it is the same on every instance.

-- No request begins before this time.
ALTER TABLE webhook_endpoints ADD COLUMN held_until BIGINT;
-- How often the hold has been lengthened since the last success; above 0 one request at a time.
ALTER TABLE webhook_endpoints ADD COLUMN hold_step BIGINT NOT NULL DEFAULT 0 CHECK (hold_step >= 0);
-- When it was last lengthened or lifted. What began before says nothing new.
ALTER TABLE webhook_endpoints ADD COLUMN hold_since BIGINT;
-- The first few different events that failed since the last success, separated by blanks.
ALTER TABLE webhook_endpoints ADD COLUMN failed_events TEXT NOT NULL DEFAULT '';
-- Time alone makes an endpoint failing, and disables it.
CREATE INDEX webhook_endpoints_failing ON webhook_endpoints (first_failure_at)
    WHERE first_failure_at IS NOT NULL AND status = 'enabled';
