-- Limits of merchants (contract 18.4-9), why an endpoint is held back (18.4-6), and the instances that share the rates.

-- Requests that may be in flight to an endpoint: what its merchant or the operator set; null is the default.
-- The effective number is the endpoint's own, at most its merchant's, else its merchant's, else 128:
--   COALESCE(CASE WHEN e.max_in_flight < m.max_in_flight THEN e.max_in_flight ELSE m.max_in_flight END,
--            e.max_in_flight, 128)
-- with a LEFT JOIN of merchants m, since the platform's own endpoint has no merchant.
ALTER TABLE webhook_endpoints ADD COLUMN max_in_flight BIGINT CHECK (max_in_flight BETWEEN 1 AND 256);
-- The default and the upper bound of the merchant's endpoints; null is 128 and 256.
ALTER TABLE merchants ADD COLUMN max_in_flight BIGINT CHECK (max_in_flight BETWEEN 1 AND 256);
-- How much of each instance's delivery slots the merchant may hold, in percent; null is 25.
ALTER TABLE merchants ADD COLUMN dispatch_share_percent BIGINT CHECK (dispatch_share_percent BETWEEN 1 AND 100);
-- What SQL does not need of a merchant's limits stands in its record alone (`body`, member `limits`).

-- Why `held_until` was set; kept and cleared with it.
ALTER TABLE webhook_endpoints ADD COLUMN held_reason TEXT COLLATE "C"
    CHECK (held_reason IN ('rate_limited', 'unavailable', 'timeout', 'unreachable'));
UPDATE webhook_endpoints SET held_reason = CASE
        WHEN last_error = 'http_error' AND last_response_status = 429 THEN 'rate_limited'
        WHEN last_error = 'http_error' THEN 'unavailable'
        WHEN last_error = 'timeout' THEN 'timeout'
        ELSE 'unreachable' END
    WHERE held_until IS NOT NULL;

-- The services that run on this database, each with the time of its last heartbeat by the database's clock, in
-- milliseconds. They divide the merchants' request rates among them.
CREATE TABLE instances (
    id       TEXT COLLATE "C" PRIMARY KEY,
    seen_at  BIGINT NOT NULL
);
