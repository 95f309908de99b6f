-- The tables of contract 12 that the first way through the service needs.
--
-- Every record that merchants read is stored as its rendered JSON (`body`) beside the columns that constraints,
-- joins and filters need; both are written by one statement. Times are milliseconds since the Unix epoch, handed in
-- by the application (T7). Unique indexes on tenant data begin with merchant_id and livemode (T2). Texts compare byte
-- by byte, as ids are made to, whatever the database's locale.

CREATE TABLE merchants (
    id          TEXT COLLATE "C" PRIMARY KEY,
    slug        TEXT COLLATE "C" NOT NULL UNIQUE,
    status      TEXT COLLATE "C" NOT NULL CHECK (status IN ('active', 'suspended', 'closed')),
    body        TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);

CREATE TABLE api_keys (
    id           TEXT COLLATE "C" PRIMARY KEY,
    merchant_id  TEXT COLLATE "C" NOT NULL REFERENCES merchants (id),
    livemode     BOOLEAN NOT NULL,
    hash         BYTEA NOT NULL UNIQUE,
    name         TEXT COLLATE "C" NOT NULL,
    display      TEXT COLLATE "C" NOT NULL,
    scopes       TEXT COLLATE "C" NOT NULL,
    expires_at   BIGINT,
    revoked_at   BIGINT,
    created_by   TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL
);

CREATE TABLE operator_keys (
    id          TEXT COLLATE "C" PRIMARY KEY,
    hash        BYTEA NOT NULL UNIQUE,
    name        TEXT COLLATE "C" NOT NULL,
    display     TEXT COLLATE "C" NOT NULL,
    scopes      TEXT COLLATE "C" NOT NULL,
    revoked_at  BIGINT,
    created_at  BIGINT NOT NULL
);

-- One row per (receiving merchant, mode); the last statement before the events takes it (contract 8.3).
CREATE TABLE streams (
    merchant_id      TEXT COLLATE "C" NOT NULL REFERENCES merchants (id),
    livemode         BOOLEAN NOT NULL,
    last_sequence    BIGINT NOT NULL CHECK (last_sequence >= 0),
    last_created_at  BIGINT NOT NULL,
    PRIMARY KEY (merchant_id, livemode)
);

-- Apart from streams, so that reserving an order number does not take the stream's row early.
CREATE TABLE order_counters (
    merchant_id  TEXT COLLATE "C" NOT NULL REFERENCES merchants (id),
    livemode     BOOLEAN NOT NULL,
    last_number  BIGINT NOT NULL,
    PRIMARY KEY (merchant_id, livemode)
);

CREATE TABLE checkouts (
    id                TEXT COLLATE "C" PRIMARY KEY,
    merchant_id       TEXT COLLATE "C" NOT NULL REFERENCES merchants (id),
    livemode          BOOLEAN NOT NULL,
    status            TEXT COLLATE "C" NOT NULL CHECK (status IN ('open', 'completed', 'expired', 'cancelled')),
    currency          TEXT COLLATE "C" NOT NULL,
    total             BIGINT NOT NULL CHECK (total >= 0),
    expires_at        BIGINT NOT NULL,
    resource_version  BIGINT NOT NULL CHECK (resource_version >= 1),
    body              TEXT COLLATE "C" NOT NULL
);

CREATE TABLE payments (
    id                     TEXT COLLATE "C" PRIMARY KEY,
    merchant_id            TEXT COLLATE "C" NOT NULL REFERENCES merchants (id),
    livemode               BOOLEAN NOT NULL,
    status                 TEXT COLLATE "C" NOT NULL CHECK (status IN ('created', 'pending', 'authorized', 'succeeded', 'failed',
                                                           'cancelled', 'partially_refunded', 'refunded')),
    checkout_id            TEXT COLLATE "C" REFERENCES checkouts (id),
    order_number           TEXT COLLATE "C",
    currency               TEXT COLLATE "C" NOT NULL,
    amount                 BIGINT NOT NULL CHECK (amount >= 1),
    amount_authorized      BIGINT NOT NULL CHECK (amount_authorized <= amount),
    amount_captured        BIGINT NOT NULL CHECK (amount_captured <= amount_authorized),
    amount_refunded        BIGINT NOT NULL CHECK (amount_refunded BETWEEN 0 AND amount_captured),
    resource_version       BIGINT NOT NULL CHECK (resource_version >= 1),
    created_sequence       BIGINT,
    created_at             BIGINT NOT NULL,
    body                   TEXT COLLATE "C" NOT NULL
);
CREATE INDEX payments_by_order ON payments (merchant_id, livemode, order_number) WHERE order_number IS NOT NULL;
-- At most one attempt of a checkout can be under way: two captures of one checkout must not be possible.
CREATE UNIQUE INDEX payments_open_by_checkout ON payments (merchant_id, livemode, checkout_id)
    WHERE checkout_id IS NOT NULL AND status IN ('created', 'pending', 'authorized');

-- What processors tell is idempotent for ever by the processor's own event id (contract 6.2). One event of theirs may
-- be the first news of a payment and its outcome at once, so the two messages it becomes are told apart.
CREATE TABLE processor_reports (
    processor           TEXT COLLATE "C" NOT NULL,
    message             TEXT COLLATE "C" NOT NULL CHECK (message IN ('start', 'report')),
    processor_event_id  TEXT COLLATE "C" NOT NULL,
    payment_id          TEXT COLLATE "C" NOT NULL REFERENCES payments (id),
    received_at         BIGINT NOT NULL,
    PRIMARY KEY (processor, message, processor_event_id)
);

CREATE TABLE orders (
    merchant_id         TEXT COLLATE "C" NOT NULL REFERENCES merchants (id),
    livemode            BOOLEAN NOT NULL,
    order_number        TEXT COLLATE "C" NOT NULL,
    status              TEXT COLLATE "C" NOT NULL CHECK (status IN ('pending', 'confirmed', 'completed', 'cancelled')),
    payment_status      TEXT COLLATE "C" NOT NULL CHECK (payment_status IN ('unpaid', 'pending', 'authorized', 'partially_paid',
                            'paid', 'partially_refunded', 'refunded', 'failed', 'voided')),
    fulfillment_status  TEXT COLLATE "C" NOT NULL CHECK (fulfillment_status IN ('unfulfilled', 'partially_fulfilled', 'fulfilled',
                            'partially_shipped', 'shipped', 'partially_delivered', 'delivered')),
    currency            TEXT COLLATE "C" NOT NULL,
    total               BIGINT NOT NULL CHECK (total >= 0),
    customer_reference  TEXT COLLATE "C",
    resource_version    BIGINT NOT NULL CHECK (resource_version >= 1),
    created_sequence    BIGINT,
    last_sequence       BIGINT,
    created_at          BIGINT NOT NULL,
    updated_at          BIGINT NOT NULL,
    body                TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (merchant_id, livemode, order_number)
);
CREATE UNIQUE INDEX orders_by_creation ON orders (merchant_id, livemode, created_sequence);
CREATE INDEX orders_by_customer ON orders (merchant_id, livemode, customer_reference, created_sequence)
    WHERE customer_reference IS NOT NULL;

CREATE TABLE order_lines (
    merchant_id         TEXT COLLATE "C" NOT NULL,
    livemode            BOOLEAN NOT NULL,
    order_number        TEXT COLLATE "C" NOT NULL,
    id                  TEXT COLLATE "C" NOT NULL,
    quantity            BIGINT NOT NULL CHECK (quantity BETWEEN 1 AND 100000),
    fulfilled_quantity  BIGINT NOT NULL CHECK (fulfilled_quantity <= quantity),
    shipped_quantity    BIGINT NOT NULL CHECK (shipped_quantity <= fulfilled_quantity),
    delivered_quantity  BIGINT NOT NULL CHECK (delivered_quantity BETWEEN 0 AND shipped_quantity),
    PRIMARY KEY (merchant_id, livemode, order_number, id),
    FOREIGN KEY (merchant_id, livemode, order_number) REFERENCES orders (merchant_id, livemode, order_number)
);

CREATE TABLE shipments (
    id                TEXT COLLATE "C" PRIMARY KEY,
    merchant_id       TEXT COLLATE "C" NOT NULL REFERENCES merchants (id),
    livemode          BOOLEAN NOT NULL,
    order_number      TEXT COLLATE "C" NOT NULL,
    status            TEXT COLLATE "C" NOT NULL CHECK (status IN ('created', 'in_transit', 'exception', 'delivered', 'returned',
                                                      'cancelled')),
    carrier           TEXT COLLATE "C" NOT NULL,
    tracking_number   TEXT COLLATE "C",
    -- Kept for ever, beyond the idempotency record: a late retry must not ship twice (contract 4.3).
    idempotency_key   TEXT COLLATE "C",
    resource_version  BIGINT NOT NULL CHECK (resource_version >= 1),
    created_sequence  BIGINT,
    body              TEXT COLLATE "C" NOT NULL,
    FOREIGN KEY (merchant_id, livemode, order_number) REFERENCES orders (merchant_id, livemode, order_number)
);
CREATE INDEX shipments_by_order ON shipments (merchant_id, livemode, order_number);
CREATE UNIQUE INDEX shipments_by_tracking ON shipments (merchant_id, livemode, order_number, carrier, tracking_number)
    WHERE tracking_number IS NOT NULL;
CREATE UNIQUE INDEX shipments_by_key ON shipments (merchant_id, livemode, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

CREATE TABLE events (
    merchant_id  TEXT COLLATE "C" NOT NULL REFERENCES merchants (id),
    livemode     BOOLEAN NOT NULL,
    sequence     BIGINT NOT NULL CHECK (sequence >= 1),
    id           TEXT COLLATE "C" NOT NULL UNIQUE,
    type         TEXT COLLATE "C" NOT NULL,
    resource_id  TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    body         TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (merchant_id, livemode, sequence)
);
CREATE INDEX events_by_type ON events (merchant_id, livemode, type, sequence);
CREATE INDEX events_by_resource ON events (merchant_id, livemode, resource_id, sequence);

-- T3: an event never changes after its commit.
CREATE FUNCTION events_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'events are immutable';
END
$$;
CREATE TRIGGER events_no_update BEFORE UPDATE OR DELETE ON events
    FOR EACH ROW EXECUTE FUNCTION events_refuse_change();
CREATE TRIGGER events_no_truncate BEFORE TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION events_refuse_change();

CREATE TABLE webhook_endpoints (
    id                          TEXT COLLATE "C" PRIMARY KEY,
    merchant_id                 TEXT COLLATE "C" NOT NULL REFERENCES merchants (id),
    livemode                    BOOLEAN NOT NULL,
    url                         TEXT COLLATE "C" NOT NULL,
    description                 TEXT COLLATE "C",
    enabled_events              TEXT COLLATE "C" NOT NULL,
    status                      TEXT COLLATE "C" NOT NULL CHECK (status IN ('enabled', 'disabled')),
    disabled_reason             TEXT COLLATE "C" CHECK (disabled_reason IN ('merchant', 'gone', 'failing', 'operator')),
    disabled_at                 BIGINT,
    api_version                 TEXT COLLATE "C" NOT NULL,
    secret_hint                 TEXT COLLATE "C" NOT NULL,
    previous_secret_expires_at  BIGINT,
    secret_rotated_at           BIGINT,
    health_state                TEXT COLLATE "C" NOT NULL CHECK (health_state IN ('unknown', 'healthy', 'degraded', 'failing')),
    consecutive_failures        BIGINT NOT NULL CHECK (consecutive_failures >= 0),
    last_success_at             BIGINT,
    last_failure_at             BIGINT,
    last_response_status        BIGINT,
    last_error                  TEXT COLLATE "C",
    metadata                    TEXT COLLATE "C" NOT NULL,
    -- What deliveries carry beside the service's own headers: the names for people, and all of it sealed under the
    -- key-encryption key, bound to the endpoint (contract 4.10).
    header_names                TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    headers_sealed              BYTEA,
    -- How long an attempt may take; NULL is what the deployment has.
    timeout_ms                  BIGINT CHECK (timeout_ms BETWEEN 1000 AND 30000),
    retry_schedule              TEXT COLLATE "C" NOT NULL DEFAULT 'standard'
        CHECK (retry_schedule IN ('standard', 'short', 'long')),
    resource_version            BIGINT NOT NULL CHECK (resource_version >= 1),
    -- Endpoints have no event of their own; the list goes by a counter of the tenant (contract 8.5).
    created_sequence            BIGINT NOT NULL,
    created_at                  BIGINT NOT NULL,
    updated_at                  BIGINT NOT NULL
);
CREATE UNIQUE INDEX webhook_endpoints_by_creation ON webhook_endpoints (merchant_id, livemode, created_sequence);

-- Signing secrets, sealed under the key-encryption key; the newest version signs first.
CREATE TABLE endpoint_secrets (
    endpoint_id  TEXT COLLATE "C" NOT NULL REFERENCES webhook_endpoints (id),
    version      BIGINT NOT NULL CHECK (version >= 1),
    sealed       BYTEA NOT NULL,
    expires_at   BIGINT,
    PRIMARY KEY (endpoint_id, version)
);

CREATE TABLE deliveries (
    id                    TEXT COLLATE "C" PRIMARY KEY,
    merchant_id           TEXT COLLATE "C" NOT NULL REFERENCES merchants (id),
    livemode              BOOLEAN NOT NULL,
    event_id              TEXT COLLATE "C" NOT NULL REFERENCES events (id),
    event_type            TEXT COLLATE "C" NOT NULL,
    sequence              BIGINT NOT NULL,
    endpoint_id           TEXT COLLATE "C" NOT NULL REFERENCES webhook_endpoints (id),
    triggered_by          TEXT COLLATE "C" NOT NULL CHECK (triggered_by IN ('event', 'test', 'replay', 'recovery')),
    status                TEXT COLLATE "C" NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed', 'cancelled')),
    attempt_count         BIGINT NOT NULL CHECK (attempt_count >= 0),
    next_attempt_at       BIGINT,
    lease_token           TEXT COLLATE "C",
    lease_until           BIGINT,
    last_outcome          TEXT COLLATE "C",
    last_response_status  BIGINT,
    failure_reason        TEXT COLLATE "C" CHECK (failure_reason IN ('attempts_exhausted', 'rejected', 'gone', 'endpoint_disabled',
                                                         'endpoint_deleted')),
    succeeded_at          BIGINT,
    failed_at             BIGINT,
    created_at            BIGINT NOT NULL,
    CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL))
);
-- I12: exactly one delivery of trigger `event` per event and endpoint.
CREATE UNIQUE INDEX deliveries_once ON deliveries (event_id, endpoint_id) WHERE triggered_by = 'event';
-- The work list: finished deliveries are not in it, so that it costs the same beside a million of them.
CREATE INDEX deliveries_due ON deliveries (endpoint_id, next_attempt_at, sequence) WHERE status = 'pending';
-- What is in flight: counts against the cap of its endpoint, and is never more than the processes can send at a time.
CREATE INDEX deliveries_leased ON deliveries (endpoint_id, lease_until) WHERE lease_token IS NOT NULL;

CREATE TABLE attempts (
    id                TEXT COLLATE "C" PRIMARY KEY,
    delivery_id       TEXT COLLATE "C" NOT NULL REFERENCES deliveries (id),
    number            BIGINT NOT NULL CHECK (number >= 1),
    started_at        BIGINT NOT NULL,
    signed_timestamp  BIGINT NOT NULL,
    duration_ms       BIGINT NOT NULL CHECK (duration_ms >= 0),
    outcome           TEXT COLLATE "C" NOT NULL CHECK (outcome IN ('success', 'http_error', 'redirect', 'timeout', 'dns_error',
                          'connect_error', 'tls_error', 'blocked_address', 'protocol_error')),
    response_status   BIGINT,
    response_excerpt  TEXT COLLATE "C",
    retry_at          BIGINT,
    UNIQUE (delivery_id, number)
);

-- The answer to a request that committed, under the key the client gave (contract 2.15, 4.3). The operator's
-- stand under `operator:<merchant>` or, where they name no merchant, under `operator`.
CREATE TABLE idempotency (
    merchant_id  TEXT COLLATE "C" NOT NULL,
    livemode     BOOLEAN NOT NULL,
    key          TEXT COLLATE "C" NOT NULL,
    fingerprint  BYTEA NOT NULL,
    operation    TEXT COLLATE "C" NOT NULL,
    answer       TEXT COLLATE "C" NOT NULL,
    request_id   TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    PRIMARY KEY (merchant_id, livemode, key)
);
CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);

CREATE TABLE audit_log (
    id                TEXT COLLATE "C" PRIMARY KEY,
    at                BIGINT NOT NULL,
    key_id            TEXT COLLATE "C" NOT NULL,
    request_id        TEXT COLLATE "C" NOT NULL,
    operation         TEXT COLLATE "C" NOT NULL,
    resource_id       TEXT COLLATE "C",
    resource_version  BIGINT
);
