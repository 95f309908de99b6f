-- What the scheduler looks for, read from the one place where it stands: the merchant's own settings.
ALTER TABLE merchants ADD COLUMN pending_order_ttl_hours BIGINT
    GENERATED ALWAYS AS ((body::jsonb #>> '{settings,pending_order_ttl_hours}')::bigint) STORED;
CREATE INDEX merchants_with_ttl ON merchants (id) WHERE pending_order_ttl_hours IS NOT NULL;

-- In the order of the rounds, so that a batch ends where the next begins.
DROP INDEX checkouts_open;
CREATE INDEX checkouts_open ON checkouts (expires_at, id) WHERE status = 'open';
DROP INDEX orders_pending;
CREATE INDEX orders_pending ON orders (merchant_id, livemode, created_at, order_number) WHERE status = 'pending';
