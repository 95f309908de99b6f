-- The rest of the commerce authority: refunds, subscriptions, alerts; lists of payments and shipments; and what the
-- scheduler looks for.

CREATE TABLE refunds (
    id                TEXT PRIMARY KEY,
    merchant_id       TEXT NOT NULL REFERENCES merchants (id),
    livemode          BOOLEAN NOT NULL,
    order_number      TEXT NOT NULL,
    payment_id        TEXT NOT NULL REFERENCES payments (id),
    status            TEXT NOT NULL CHECK (status IN ('requested', 'processing', 'completed', 'failed')),
    amount            BIGINT NOT NULL CHECK (amount >= 1),
    -- Kept for ever, beyond the idempotency record: a late retry must not refund twice (contract 4.3).
    idempotency_key   TEXT,
    resource_version  BIGINT NOT NULL CHECK (resource_version >= 1),
    created_sequence  BIGINT NOT NULL,
    created_at        BIGINT NOT NULL,
    body              TEXT NOT NULL,
    FOREIGN KEY (merchant_id, livemode, order_number) REFERENCES orders (merchant_id, livemode, order_number)
);
CREATE UNIQUE INDEX refunds_by_creation ON refunds (merchant_id, livemode, created_sequence);
CREATE INDEX refunds_by_order ON refunds (merchant_id, livemode, order_number);
CREATE INDEX refunds_by_payment ON refunds (payment_id);
CREATE UNIQUE INDEX refunds_by_key ON refunds (merchant_id, livemode, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
-- The payment adapter's work list (contract 6.2).
CREATE INDEX refunds_open ON refunds (status, id) WHERE status IN ('requested', 'processing');

CREATE TABLE subscriptions (
    id                  TEXT PRIMARY KEY,
    merchant_id         TEXT NOT NULL REFERENCES merchants (id),
    livemode            BOOLEAN NOT NULL,
    status              TEXT NOT NULL CHECK (status IN ('incomplete', 'trialing', 'active', 'past_due', 'paused',
                                                        'cancelled')),
    customer_reference  TEXT,
    resource_version    BIGINT NOT NULL CHECK (resource_version >= 1),
    created_sequence    BIGINT NOT NULL,
    created_at          BIGINT NOT NULL,
    body                TEXT NOT NULL
);
CREATE UNIQUE INDEX subscriptions_by_creation ON subscriptions (merchant_id, livemode, created_sequence);
CREATE INDEX subscriptions_by_customer ON subscriptions (merchant_id, livemode, customer_reference, created_sequence)
    WHERE customer_reference IS NOT NULL;

-- One row per owner, code and subject while it is open. The operator's stand under `operator`.
CREATE TABLE alerts (
    id             TEXT PRIMARY KEY,
    merchant_id    TEXT NOT NULL,
    livemode       BOOLEAN NOT NULL,
    code           TEXT NOT NULL,
    subject        TEXT NOT NULL,
    severity       TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
    message        TEXT NOT NULL,
    count          BIGINT NOT NULL CHECK (count >= 1),
    first_seen_at  BIGINT NOT NULL,
    last_seen_at   BIGINT NOT NULL,
    closed_at      BIGINT
);
CREATE UNIQUE INDEX alerts_open ON alerts (merchant_id, livemode, code, subject) WHERE closed_at IS NULL;

-- Payments and shipments stand in lists by their first event, like orders.
ALTER TABLE payments ADD COLUMN subscription_id TEXT;
UPDATE payments SET created_sequence = (
    SELECT MIN(sequence) FROM events WHERE events.merchant_id = payments.merchant_id
        AND events.livemode = payments.livemode AND events.resource_id = payments.id);
UPDATE shipments SET created_sequence = (
    SELECT MIN(sequence) FROM events WHERE events.merchant_id = shipments.merchant_id
        AND events.livemode = shipments.livemode AND events.resource_id = shipments.id);
CREATE UNIQUE INDEX payments_by_creation ON payments (merchant_id, livemode, created_sequence);
CREATE UNIQUE INDEX shipments_by_creation ON shipments (merchant_id, livemode, created_sequence);

-- What the scheduler looks for.
ALTER TABLE checkouts ADD COLUMN created_sequence BIGINT;
CREATE INDEX checkouts_open ON checkouts (expires_at) WHERE status = 'open';
CREATE INDEX orders_pending ON orders (merchant_id, livemode, created_at) WHERE status = 'pending';

-- A processor's message may be about a refund as well.
CREATE TABLE processor_messages (
    processor           TEXT NOT NULL,
    message             TEXT NOT NULL CHECK (message IN ('start', 'report', 'refund_report')),
    processor_event_id  TEXT NOT NULL,
    resource_id         TEXT NOT NULL,
    received_at         BIGINT NOT NULL,
    PRIMARY KEY (processor, message, processor_event_id)
);
INSERT INTO processor_messages SELECT processor, message, processor_event_id, payment_id, received_at
    FROM processor_reports;
DROP TABLE processor_reports;
ALTER TABLE processor_messages RENAME TO processor_reports;
