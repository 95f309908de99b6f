-- Sessions of the operator's console, by the hash of what the cookie holds. Ended ones are removed.
CREATE TABLE console_sessions (
    hash        BLOB PRIMARY KEY,
    key_id      TEXT NOT NULL REFERENCES operator_keys (id),
    created_at  BIGINT NOT NULL,
    used_at     BIGINT NOT NULL
);
CREATE INDEX console_sessions_by_use ON console_sessions (used_at);

-- What the console's search finds records by, over all merchants.
CREATE INDEX orders_by_number ON orders (order_number);
CREATE INDEX orders_by_customer_reference ON orders (customer_reference) WHERE customer_reference IS NOT NULL;
CREATE INDEX subscriptions_by_customer_reference ON subscriptions (customer_reference)
    WHERE customer_reference IS NOT NULL;
CREATE INDEX external_references_by_id ON external_references (id);
CREATE INDEX shipments_by_tracking_number ON shipments (tracking_number) WHERE tracking_number IS NOT NULL;
CREATE INDEX payments_by_processor_reference ON payments (json_extract(body, '$.processor.reference'))
    WHERE json_extract(body, '$.processor.reference') IS NOT NULL;

-- Endpoints that the service or the operator disabled: its first page shows them.
CREATE INDEX webhook_endpoints_given_up ON webhook_endpoints (disabled_at)
    WHERE status = 'disabled' AND disabled_reason <> 'merchant' AND deleted_at IS NULL;
