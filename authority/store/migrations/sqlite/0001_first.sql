-- The schema (contract 12).
--
-- Every record that merchants read is stored as its rendered JSON (`body`) beside the columns that constraints,
-- joins and filters need; both are written by one statement. Times are milliseconds since the Unix epoch, handed in
-- by the application (T7).
--
-- Rows of merchants and of the operator have a shard. A file has one: 0. Every key, unique index and foreign key of such
-- a table begins with it, as on PostgreSQL (contract 21-1). An index that does not is for what looks through all
-- shards. Small tables that all shards read have no shard: merchants, keys, sessions, connections of partners.

CREATE TABLE merchants (
    id                       TEXT PRIMARY KEY,
    slug                     TEXT NOT NULL UNIQUE,
    status                   TEXT NOT NULL CHECK (status IN ('active', 'suspended', 'closed')),
    body                     TEXT NOT NULL,
    created_at               BIGINT NOT NULL,
    updated_at               BIGINT NOT NULL,
    -- What the service looks for by itself, read from the one place where it stands: the merchant's own settings.
    pending_order_ttl_hours  BIGINT
        GENERATED ALWAYS AS (json_extract(body, '$.settings.pending_order_ttl_hours')) VIRTUAL,
    sandbox_auto_advance     BOOLEAN
        GENERATED ALWAYS AS (json_extract(body, '$.settings.sandbox_auto_advance')) VIRTUAL,
    -- A counterpart of the sandbox, for the merchant that it belongs to: whoever develops against the API has somebody
    -- to share test orders with.
    counterpart_of           TEXT REFERENCES merchants (id),
    -- The default and the upper bound of the merchant's endpoints; null is 128 and 256.
    max_in_flight            BIGINT CHECK (max_in_flight BETWEEN 1 AND 256),
    -- How much of each instance's delivery slots the merchant may hold, in percent; null is 25. What SQL does not need
    -- of a merchant's limits stands in its record alone (`body`, member `limits`).
    dispatch_share_percent   BIGINT CHECK (dispatch_share_percent BETWEEN 1 AND 100)
);
CREATE INDEX merchants_with_ttl ON merchants (id) WHERE pending_order_ttl_hours IS NOT NULL;
CREATE UNIQUE INDEX merchants_counterpart ON merchants (counterpart_of) WHERE counterpart_of IS NOT NULL;

CREATE TABLE api_keys (
    id            TEXT PRIMARY KEY,
    merchant_id   TEXT NOT NULL REFERENCES merchants (id),
    livemode      BOOLEAN NOT NULL,
    hash          BLOB NOT NULL UNIQUE,
    name          TEXT NOT NULL,
    display       TEXT NOT NULL,
    scopes        TEXT NOT NULL,
    expires_at    BIGINT,
    revoked_at    BIGINT,
    -- Rotation, and when the key was last used.
    replaced_by   TEXT REFERENCES api_keys (id),
    last_used_at  BIGINT,
    created_by    TEXT NOT NULL,
    created_at    BIGINT NOT NULL
);
CREATE INDEX api_keys_by_merchant ON api_keys (merchant_id, id);

CREATE TABLE operator_keys (
    id          TEXT PRIMARY KEY,
    hash        BLOB NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    display     TEXT NOT NULL,
    scopes      TEXT NOT NULL,
    revoked_at  BIGINT,
    created_at  BIGINT NOT NULL
);

-- Sessions of the operator's console, by the hash of what the cookie holds. Ended ones are removed.
CREATE TABLE console_sessions (
    hash        BLOB PRIMARY KEY,
    key_id      TEXT NOT NULL REFERENCES operator_keys (id),
    created_at  BIGINT NOT NULL,
    used_at     BIGINT NOT NULL
);
CREATE INDEX console_sessions_by_use ON console_sessions (used_at);

-- Links to the merchant portal, and the sessions that they become, by the hash of what the link and then the cookie
-- holds. Ended ones are removed.
CREATE TABLE portal_sessions (
    id           TEXT PRIMARY KEY,
    hash         BLOB NOT NULL UNIQUE,
    merchant_id  TEXT NOT NULL REFERENCES merchants (id),
    livemode     BOOLEAN NOT NULL,
    scopes       TEXT NOT NULL,
    key_id       TEXT NOT NULL REFERENCES operator_keys (id),
    return_url   TEXT,
    created_at   BIGINT NOT NULL,
    opened_at    BIGINT,
    expires_at   BIGINT NOT NULL
);
CREATE INDEX portal_sessions_by_end ON portal_sessions (expires_at);

-- The services that run on this database, each with the time of its last heartbeat by the database's clock, in
-- milliseconds. They divide the merchants' request rates among them.
CREATE TABLE instances (
    id       TEXT PRIMARY KEY,
    seen_at  BIGINT NOT NULL
);

-- The row that readiness writes, to see whether the database takes writes.
CREATE TABLE write_probe (
    id          BIGINT PRIMARY KEY CHECK (id = 1),
    written_at  BIGINT NOT NULL,
    -- As large as what a busy service writes at once: a disk with room for a line is full all the same.
    filler      TEXT NOT NULL
);

-- One row per (receiving merchant, mode); the last statement before the events takes it (contract 8.3).
CREATE TABLE streams (
    shard            INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    merchant_id      TEXT NOT NULL REFERENCES merchants (id),
    livemode         BOOLEAN NOT NULL,
    last_sequence    BIGINT NOT NULL CHECK (last_sequence >= 0),
    last_created_at  BIGINT NOT NULL,
    -- Up to which sequence events were removed because of their age. The guard of events lets nothing else go: whoever
    -- wants to remove an event has to say first, in the same transaction, that the stream begins behind it.
    removed_through  BIGINT NOT NULL DEFAULT 0 CHECK (removed_through >= 0),
    -- How many active shares the merchant owns. It is read with the stream, so that merchants who share nothing pay no
    -- statement for it; the statements that make and end a share count it.
    active_shares    BIGINT NOT NULL DEFAULT 0 CHECK (active_shares >= 0),
    PRIMARY KEY (shard, merchant_id, livemode)
);

-- Apart from streams, so that reserving an order number does not take the stream's row early.
CREATE TABLE order_counters (
    shard        INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    merchant_id  TEXT NOT NULL REFERENCES merchants (id),
    livemode     BOOLEAN NOT NULL,
    last_number  BIGINT NOT NULL,
    PRIMARY KEY (shard, merchant_id, livemode)
);

CREATE TABLE checkouts (
    shard               INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    id                  TEXT NOT NULL,
    merchant_id         TEXT NOT NULL REFERENCES merchants (id),
    livemode            BOOLEAN NOT NULL,
    status              TEXT NOT NULL CHECK (status IN ('open', 'completed', 'expired', 'cancelled')),
    currency            TEXT NOT NULL,
    total               BIGINT NOT NULL CHECK (total >= 0),
    expires_at          BIGINT NOT NULL,
    resource_version    BIGINT NOT NULL CHECK (resource_version >= 1),
    body                TEXT NOT NULL,
    created_sequence    BIGINT,
    -- What a checkout of mode `subscription` agrees on; no member of its record (contract 2.7).
    subscription_terms  TEXT,
    PRIMARY KEY (shard, id)
);
-- In the order of the scheduler's rounds, so that a batch ends where the next begins.
CREATE INDEX checkouts_open ON checkouts (expires_at, id) WHERE status = 'open';

CREATE TABLE payments (
    shard                  INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    id                     TEXT NOT NULL,
    merchant_id            TEXT NOT NULL REFERENCES merchants (id),
    livemode               BOOLEAN NOT NULL,
    status                 TEXT NOT NULL CHECK (status IN ('created', 'pending', 'authorized', 'succeeded', 'failed',
                               'cancelled', 'partially_refunded', 'refunded')),
    checkout_id            TEXT,
    order_number           TEXT,
    currency               TEXT NOT NULL,
    amount                 BIGINT NOT NULL CHECK (amount >= 1),
    amount_authorized      BIGINT NOT NULL CHECK (amount_authorized <= amount),
    amount_captured        BIGINT NOT NULL CHECK (amount_captured <= amount_authorized),
    amount_refunded        BIGINT NOT NULL CHECK (amount_refunded BETWEEN 0 AND amount_captured),
    -- The sum of the payment's open refunds, computed from their rows with each of them (I2): together with what went
    -- back it never exceeds what was captured.
    amount_refund_pending  BIGINT NOT NULL DEFAULT 0
        CHECK (amount_refund_pending >= 0 AND amount_refunded + amount_refund_pending <= amount_captured),
    resource_version       BIGINT NOT NULL CHECK (resource_version >= 1),
    created_sequence       BIGINT,
    created_at             BIGINT NOT NULL,
    body                   TEXT NOT NULL,
    subscription_id        TEXT,
    -- Money that came after its checkout or its order had ended.
    late                   BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (shard, id),
    FOREIGN KEY (shard, checkout_id) REFERENCES checkouts (shard, id)
);
-- The payments and refunds of an order, and the refunds of a payment, in the order they were made. Without the order in
-- the index SQLite rather walks through the whole list of the merchant, which has it.
CREATE INDEX payments_by_order ON payments (shard, merchant_id, livemode, order_number, created_sequence)
    WHERE order_number IS NOT NULL;
-- At most one attempt of a checkout can be under way: two captures of one checkout must not be possible.
CREATE UNIQUE INDEX payments_open_by_checkout ON payments (shard, merchant_id, livemode, checkout_id)
    WHERE checkout_id IS NOT NULL AND status IN ('created', 'pending', 'authorized');
CREATE UNIQUE INDEX payments_by_creation ON payments (shard, merchant_id, livemode, created_sequence);
CREATE INDEX payments_late ON payments (shard, merchant_id, livemode, created_sequence) WHERE late;
CREATE INDEX payments_late_of_all ON payments (id) WHERE late;

-- What processors tell is idempotent for ever by the processor's own event id, per merchant and mode (contract 6.2).
-- One event of theirs may be the first news of a payment and its outcome at once, so the messages it becomes are told
-- apart. The processor's name is in lower case without outer blanks; `said` is what the message said of status and
-- amounts.
CREATE TABLE processor_reports (
    shard               INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    merchant_id         TEXT NOT NULL REFERENCES merchants (id),
    livemode            BOOLEAN NOT NULL,
    processor           TEXT NOT NULL,
    message             TEXT NOT NULL CHECK (message IN ('start', 'report', 'refund_report')),
    processor_event_id  TEXT NOT NULL,
    resource_id         TEXT NOT NULL,
    said                TEXT,
    received_at         BIGINT NOT NULL,
    PRIMARY KEY (shard, merchant_id, livemode, processor, message, processor_event_id)
);

CREATE TABLE orders (
    shard                  INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    merchant_id            TEXT NOT NULL REFERENCES merchants (id),
    livemode               BOOLEAN NOT NULL,
    order_number           TEXT NOT NULL,
    status                 TEXT NOT NULL CHECK (status IN ('pending', 'confirmed', 'completed', 'cancelled')),
    payment_status         TEXT NOT NULL CHECK (payment_status IN ('unpaid', 'pending', 'authorized', 'partially_paid',
                               'paid', 'partially_refunded', 'refunded', 'failed', 'voided')),
    fulfillment_status     TEXT NOT NULL CHECK (fulfillment_status IN ('unfulfilled', 'partially_fulfilled', 'fulfilled',
                               'partially_shipped', 'shipped', 'partially_delivered', 'delivered')),
    currency               TEXT NOT NULL,
    total                  BIGINT NOT NULL CHECK (total >= 0),
    customer_reference     TEXT,
    resource_version       BIGINT NOT NULL CHECK (resource_version >= 1),
    created_sequence       BIGINT,
    last_sequence          BIGINT,
    created_at             BIGINT NOT NULL,
    updated_at             BIGINT NOT NULL,
    body                   TEXT NOT NULL,
    -- Whether the operator confirmed the order, whatever its payments say.
    confirmed_by_operator  BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (shard, merchant_id, livemode, order_number)
);
CREATE UNIQUE INDEX orders_by_creation ON orders (shard, merchant_id, livemode, created_sequence);
CREATE INDEX orders_by_customer ON orders (shard, merchant_id, livemode, customer_reference, created_sequence)
    WHERE customer_reference IS NOT NULL;
-- The feed goes by the sequence of the event that last changed each order. Unique, as sequences are: two orders at one
-- place could be torn apart by the end of a page, and one of them would never be read.
CREATE UNIQUE INDEX orders_by_change ON orders (shard, merchant_id, livemode, last_sequence);
-- In the order of the scheduler's rounds, which begin with the merchants of all shards.
CREATE INDEX orders_pending ON orders (merchant_id, livemode, created_at, order_number) WHERE status = 'pending';

CREATE TABLE order_lines (
    shard                      INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    merchant_id                TEXT NOT NULL,
    livemode                   BOOLEAN NOT NULL,
    order_number               TEXT NOT NULL,
    id                         TEXT NOT NULL,
    quantity                   BIGINT NOT NULL CHECK (quantity BETWEEN 1 AND 100000),
    fulfilled_quantity         BIGINT NOT NULL CHECK (fulfilled_quantity <= quantity),
    shipped_quantity           BIGINT NOT NULL CHECK (shipped_quantity <= fulfilled_quantity),
    delivered_quantity         BIGINT NOT NULL CHECK (delivered_quantity BETWEEN 0 AND shipped_quantity),
    -- What the fulfilment update set as shipped and as fulfilled, beside what parcels brought: cancelling a parcel must
    -- not take it back (contract 3.7). Not part of the order's record.
    marked_shipped_quantity    BIGINT NOT NULL DEFAULT 0
        CHECK (marked_shipped_quantity BETWEEN 0 AND shipped_quantity),
    marked_fulfilled_quantity  BIGINT NOT NULL DEFAULT 0 CHECK (marked_fulfilled_quantity BETWEEN 0 AND quantity),
    PRIMARY KEY (shard, merchant_id, livemode, order_number, id),
    FOREIGN KEY (shard, merchant_id, livemode, order_number)
        REFERENCES orders (shard, merchant_id, livemode, order_number)
);

-- Which order a merchant's system means: at most one per name. The rest of an entry stands in the order's record.
CREATE TABLE external_references (
    shard         INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    merchant_id   TEXT NOT NULL,
    livemode      BOOLEAN NOT NULL,
    system        TEXT NOT NULL,
    id            TEXT NOT NULL,
    order_number  TEXT NOT NULL,
    PRIMARY KEY (shard, merchant_id, livemode, system, id),
    FOREIGN KEY (shard, merchant_id, livemode, order_number)
        REFERENCES orders (shard, merchant_id, livemode, order_number)
);
CREATE UNIQUE INDEX external_references_by_order
    ON external_references (shard, merchant_id, livemode, order_number, system);

CREATE TABLE shipments (
    shard                    INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    id                       TEXT NOT NULL,
    merchant_id              TEXT NOT NULL REFERENCES merchants (id),
    livemode                 BOOLEAN NOT NULL,
    order_number             TEXT NOT NULL,
    status                   TEXT NOT NULL CHECK (status IN ('created', 'in_transit', 'exception', 'delivered', 'returned',
                                 'cancelled')),
    carrier                  TEXT NOT NULL,
    tracking_number          TEXT,
    -- Kept for ever, beyond the idempotency record: a late retry must not ship twice (contract 4.3).
    idempotency_key          TEXT,
    idempotency_fingerprint  BLOB,
    resource_version         BIGINT NOT NULL CHECK (resource_version >= 1),
    created_sequence         BIGINT,
    body                     TEXT NOT NULL,
    PRIMARY KEY (shard, id),
    FOREIGN KEY (shard, merchant_id, livemode, order_number)
        REFERENCES orders (shard, merchant_id, livemode, order_number)
);
CREATE INDEX shipments_by_order ON shipments (shard, merchant_id, livemode, order_number, created_sequence);
CREATE UNIQUE INDEX shipments_by_tracking
    ON shipments (shard, merchant_id, livemode, order_number, carrier, tracking_number)
    WHERE tracking_number IS NOT NULL;
CREATE UNIQUE INDEX shipments_by_key ON shipments (shard, merchant_id, livemode, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX shipments_by_creation ON shipments (shard, merchant_id, livemode, created_sequence);

CREATE TABLE refunds (
    shard                    INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    id                       TEXT NOT NULL,
    merchant_id              TEXT NOT NULL REFERENCES merchants (id),
    livemode                 BOOLEAN NOT NULL,
    -- Money that came late may belong to no order, and its refund neither.
    order_number             TEXT,
    payment_id               TEXT NOT NULL,
    status                   TEXT NOT NULL CHECK (status IN ('requested', 'processing', 'completed', 'failed')),
    amount                   BIGINT NOT NULL CHECK (amount >= 1),
    -- Kept for ever, beyond the idempotency record: a late retry must not refund twice (contract 4.3).
    idempotency_key          TEXT,
    idempotency_fingerprint  BLOB,
    resource_version         BIGINT NOT NULL CHECK (resource_version >= 1),
    created_sequence         BIGINT NOT NULL,
    created_at               BIGINT NOT NULL,
    body                     TEXT NOT NULL,
    -- A merchant's key and an operator's are different keys, even where they read the same.
    requester                TEXT NOT NULL DEFAULT 'api_key'
        CHECK (requester IN ('api_key', 'operator', 'system')),
    PRIMARY KEY (shard, id),
    FOREIGN KEY (shard, payment_id) REFERENCES payments (shard, id),
    FOREIGN KEY (shard, merchant_id, livemode, order_number)
        REFERENCES orders (shard, merchant_id, livemode, order_number)
);
CREATE UNIQUE INDEX refunds_by_creation ON refunds (shard, merchant_id, livemode, created_sequence);
CREATE INDEX refunds_by_order ON refunds (shard, merchant_id, livemode, order_number, created_sequence);
CREATE INDEX refunds_by_payment ON refunds (shard, merchant_id, livemode, payment_id, created_sequence);
CREATE UNIQUE INDEX refunds_by_key ON refunds (shard, merchant_id, livemode, requester, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
-- The payment adapter's work list (contract 6.2).
CREATE INDEX refunds_open ON refunds (status, id) WHERE status IN ('requested', 'processing');

CREATE TABLE subscriptions (
    shard               INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    id                  TEXT NOT NULL,
    merchant_id         TEXT NOT NULL REFERENCES merchants (id),
    livemode            BOOLEAN NOT NULL,
    status              TEXT NOT NULL CHECK (status IN ('incomplete', 'trialing', 'active', 'past_due', 'paused',
                            'cancelled')),
    customer_reference  TEXT,
    resource_version    BIGINT NOT NULL CHECK (resource_version >= 1),
    created_sequence    BIGINT NOT NULL,
    created_at          BIGINT NOT NULL,
    body                TEXT NOT NULL,
    -- The moment from which its periods are counted.
    period_anchor       BIGINT,
    -- When its last pause ended, until a period has begun since.
    resumed_at          BIGINT,
    PRIMARY KEY (shard, id)
);
CREATE UNIQUE INDEX subscriptions_by_creation ON subscriptions (shard, merchant_id, livemode, created_sequence);
CREATE INDEX subscriptions_by_customer
    ON subscriptions (shard, merchant_id, livemode, customer_reference, created_sequence)
    WHERE customer_reference IS NOT NULL;
CREATE INDEX subscriptions_by_status ON subscriptions (shard, merchant_id, livemode, status, created_sequence);

CREATE TABLE events (
    shard        INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    merchant_id  TEXT NOT NULL REFERENCES merchants (id),
    livemode     BOOLEAN NOT NULL,
    sequence     BIGINT NOT NULL CHECK (sequence >= 1),
    id           TEXT NOT NULL,
    type         TEXT NOT NULL,
    resource_id  TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    body         TEXT NOT NULL,
    -- The request that caused it, and the trace which that request was part of; neither for what the service did by
    -- itself.
    request_id   TEXT,
    traceparent  TEXT,
    PRIMARY KEY (shard, merchant_id, livemode, sequence)
);
-- The operator's list of all events goes by it, and deliveries find their events. Unique, so that the planner prefers it
-- to the stream for an event of a merchant.
CREATE UNIQUE INDEX events_by_id ON events (shard, id);
CREATE INDEX events_by_type ON events (shard, merchant_id, livemode, type, sequence);
CREATE INDEX events_by_resource ON events (shard, merchant_id, livemode, resource_id, sequence);

-- T3: an event never changes after its commit, and goes only as the oldest of its stream (`removed_through`).
CREATE TRIGGER events_no_update BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are immutable'); END;
CREATE TRIGGER events_no_delete BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM streams WHERE shard = OLD.shard AND merchant_id = OLD.merchant_id
    AND livemode = OLD.livemode AND removed_through >= OLD.sequence)
BEGIN SELECT RAISE(ABORT, 'events are immutable'); END;

-- The platform's own endpoint, the sink, gets the events of all merchants and modes. It and its deliveries stand under
-- `operator`, as the operator's alerts do: ids of merchants begin with `mer_`, so it is nobody's and no tenant's query
-- finds it. Therefore these tables do not refer to merchants.
CREATE TABLE webhook_endpoints (
    shard                          INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    id                             TEXT NOT NULL,
    merchant_id                    TEXT NOT NULL,
    livemode                       BOOLEAN NOT NULL,
    url                            TEXT NOT NULL,
    description                    TEXT,
    enabled_events                 TEXT NOT NULL,
    status                         TEXT NOT NULL CHECK (status IN ('enabled', 'disabled')),
    disabled_reason                TEXT CHECK (disabled_reason IN ('merchant', 'gone', 'failing', 'operator')),
    disabled_at                    BIGINT,
    -- A deleted endpoint is kept for the operator's sake and hidden from its merchant; its place is free again.
    deleted_at                     BIGINT,
    api_version                    TEXT NOT NULL,
    secret_hint                    TEXT NOT NULL,
    previous_secret_expires_at     BIGINT,
    secret_rotated_at              BIGINT,
    -- By which headers its receiver can verify its deliveries (contract 15.12); the form of its secrets goes by it.
    signature_profile              TEXT NOT NULL DEFAULT 'service'
        CHECK (signature_profile IN ('service', 'standard-webhooks')),
    health_state                   TEXT NOT NULL CHECK (health_state IN ('unknown', 'healthy', 'degraded', 'failing')),
    consecutive_failures           BIGINT NOT NULL CHECK (consecutive_failures >= 0),
    last_success_at                BIGINT,
    last_failure_at                BIGINT,
    last_response_status           BIGINT,
    last_error                     TEXT,
    -- When the failures began that no success has ended, and the first few different events that failed since,
    -- separated by blanks.
    first_failure_at               BIGINT,
    failed_events                  TEXT NOT NULL DEFAULT '',
    -- No request begins before this time, and why; the receiver may have named it: then a success that was in flight
    -- before does not lift the hold.
    held_until                     BIGINT,
    held_reason                    TEXT CHECK (held_reason IN ('rate_limited', 'unavailable', 'timeout', 'unreachable')),
    hold_asked                     BOOLEAN NOT NULL DEFAULT FALSE,
    -- How often the hold has been lengthened since the last success; above 0 one request at a time.
    hold_step                      BIGINT NOT NULL DEFAULT 0 CHECK (hold_step >= 0),
    -- When it was last lengthened or lifted. What began before says nothing new.
    hold_since                     BIGINT,
    -- Successes since the last hold ended, 1 to 3: 2, 4 and 8 requests at a time. 0: as many as it may have.
    hold_regained                  BIGINT NOT NULL DEFAULT 0 CHECK (hold_regained BETWEEN 0 AND 3),
    -- Requests that may be in flight: what its merchant or the operator set; null is the default. The effective number
    -- is the endpoint's own, at most its merchant's, else its merchant's, else 128.
    max_in_flight                  BIGINT CHECK (max_in_flight BETWEEN 1 AND 256),
    -- The last sequence of its stream when it was made: what is older was never meant for it. And when its status or
    -- its filter was last changed: the audit (I12) tells by it which events the endpoint must have got.
    created_after                  BIGINT NOT NULL DEFAULT 0,
    subscribed_after               BIGINT NOT NULL DEFAULT 0,
    -- What deliveries carry beside the service's own headers: the names for people, and all of it sealed under the
    -- key-encryption key, bound to the endpoint (contract 4.10).
    header_names                   TEXT NOT NULL DEFAULT '[]',
    headers_sealed                 BLOB,
    -- How long an attempt may take; null is what the deployment has.
    timeout_ms                     BIGINT CHECK (timeout_ms BETWEEN 1000 AND 30000),
    -- When deliveries are tried again.
    retry_schedule                 TEXT NOT NULL DEFAULT 'standard'
        CHECK (retry_schedule IN ('standard', 'short', 'long')),
    -- The client certificate that deliveries show to a receiver that asks for one: its fingerprint and expiry for
    -- people, and the chain with its private key sealed likewise.
    client_certificate_sha256      TEXT,
    client_certificate_expires_at  BIGINT,
    client_certificate_sealed      BLOB,
    metadata                       TEXT NOT NULL,
    resource_version               BIGINT NOT NULL CHECK (resource_version >= 1),
    -- Endpoints have no event of their own; the list goes by a counter of the tenant (contract 8.5).
    created_sequence               BIGINT NOT NULL,
    created_at                     BIGINT NOT NULL,
    updated_at                     BIGINT NOT NULL,
    PRIMARY KEY (shard, id)
);
CREATE UNIQUE INDEX webhook_endpoints_by_creation
    ON webhook_endpoints (shard, merchant_id, livemode, created_sequence);
CREATE INDEX webhook_endpoints_kept ON webhook_endpoints (shard, merchant_id, livemode, created_sequence)
    WHERE deleted_at IS NULL;
CREATE INDEX webhook_endpoints_disabled ON webhook_endpoints (id) WHERE status = 'disabled';
-- Time alone makes an endpoint failing, and disables it.
CREATE INDEX webhook_endpoints_failing ON webhook_endpoints (first_failure_at)
    WHERE first_failure_at IS NOT NULL AND status = 'enabled';

-- Signing secrets, sealed under the key-encryption key; the newest version signs first.
CREATE TABLE endpoint_secrets (
    shard        INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    endpoint_id  TEXT NOT NULL,
    version      BIGINT NOT NULL CHECK (version >= 1),
    sealed       BLOB NOT NULL,
    expires_at   BIGINT,
    PRIMARY KEY (shard, endpoint_id, version),
    FOREIGN KEY (shard, endpoint_id) REFERENCES webhook_endpoints (shard, id)
);
-- Secrets whose overlap has ended are removed.
CREATE INDEX endpoint_secrets_by_expiry ON endpoint_secrets (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE endpoint_recoveries (
    shard           INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    id              TEXT NOT NULL,
    merchant_id     TEXT NOT NULL,
    livemode        BOOLEAN NOT NULL,
    endpoint_id     TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('running', 'completed', 'cancelled', 'endpoint_disabled',
                        'endpoint_deleted')),
    since           BIGINT NOT NULL,
    until           BIGINT,
    -- Event types and categories, a JSON list; null is all that the endpoint wants.
    types           TEXT,
    -- Of the stream: all sequences after the one and up to the other.
    after_sequence  BIGINT NOT NULL,
    last_sequence   BIGINT NOT NULL,
    -- How far the worker has counted, and how far it has made deliveries.
    counted_to      BIGINT NOT NULL,
    walked_to       BIGINT NOT NULL,
    matched         BIGINT NOT NULL CHECK (matched >= 0),
    enqueued        BIGINT NOT NULL CHECK (enqueued >= 0),
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    finished_at     BIGINT,
    CHECK ((status = 'running') = (finished_at IS NULL)),
    PRIMARY KEY (shard, id),
    FOREIGN KEY (shard, endpoint_id) REFERENCES webhook_endpoints (shard, id)
);
CREATE INDEX endpoint_recoveries_running ON endpoint_recoveries (shard, endpoint_id, id) WHERE status = 'running';
-- Of those that have ended alone, so that the planner does not prefer it for those that run.
CREATE INDEX endpoint_recoveries_ended ON endpoint_recoveries (shard, endpoint_id, id) WHERE status <> 'running';

-- A delivery has the shard of its endpoint. The platform's endpoint gets events of all shards, so the event's shard
-- stands beside the event's id; no foreign key crosses shards.
CREATE TABLE deliveries (
    shard                 INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    id                    TEXT NOT NULL,
    merchant_id           TEXT NOT NULL,
    livemode              BOOLEAN NOT NULL,
    event_shard           INTEGER NOT NULL DEFAULT 0 CHECK (event_shard = 0),
    event_id              TEXT NOT NULL,
    event_type            TEXT NOT NULL,
    sequence              BIGINT NOT NULL,
    endpoint_id           TEXT NOT NULL,
    triggered_by          TEXT NOT NULL CHECK (triggered_by IN ('event', 'test', 'replay', 'recovery')),
    status                TEXT NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed', 'cancelled')),
    attempt_count         BIGINT NOT NULL CHECK (attempt_count >= 0),
    -- Of these, attempts that a receiver put off with `Retry-After`: they do not use up the schedule.
    put_off_count         BIGINT NOT NULL DEFAULT 0 CHECK (put_off_count >= 0),
    next_attempt_at       BIGINT,
    lease_token           TEXT,
    lease_until           BIGINT,
    -- When a retry was asked for while an attempt was in flight: the next one follows at once if that one fails
    -- (contract 18.4-6). Set only while the delivery is leased.
    retry_asked_at        BIGINT,
    -- When its endpoint was disabled while an attempt was in flight: it is cancelled unless that one succeeds, also where
    -- the endpoint has been enabled since (contract 7.5). Counts only while the delivery is pending.
    cancel_asked_at       BIGINT,
    last_outcome          TEXT,
    last_response_status  BIGINT,
    failure_reason        TEXT CHECK (failure_reason IN ('attempts_exhausted', 'rejected', 'gone', 'endpoint_disabled',
                              'endpoint_deleted')),
    succeeded_at          BIGINT,
    failed_at             BIGINT,
    created_at            BIGINT NOT NULL,
    updated_at            BIGINT,
    -- An endpoint's deliveries are listed by a counter of their own: replays have the sequence of an old event.
    created_sequence      BIGINT,
    recovery_id           TEXT,
    CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL)),
    PRIMARY KEY (shard, id),
    FOREIGN KEY (shard, endpoint_id) REFERENCES webhook_endpoints (shard, id)
);
-- I12: exactly one delivery of trigger `event` per event and endpoint.
CREATE UNIQUE INDEX deliveries_once ON deliveries (shard, event_id, endpoint_id) WHERE triggered_by = 'event';
-- The work list: finished deliveries are not in it, so that it costs the same beside a million of them. With the time
-- of creation in it, what waits is counted without looking at a row.
CREATE INDEX deliveries_due ON deliveries (shard, endpoint_id, next_attempt_at, sequence, created_at)
    WHERE status = 'pending';
-- What is in flight: counts against the cap of its endpoint, its own instance's and that of others apart, and is never
-- more than the processes can send at a time.
CREATE INDEX deliveries_leased ON deliveries (shard, endpoint_id, lease_until, lease_token)
    WHERE lease_token IS NOT NULL;
CREATE UNIQUE INDEX deliveries_by_creation ON deliveries (shard, endpoint_id, created_sequence);
CREATE INDEX deliveries_by_event ON deliveries (shard, event_id, endpoint_id);
CREATE INDEX deliveries_failed ON deliveries (shard, endpoint_id, failed_at) WHERE status = 'failed';
-- Never two deliveries of one event to one endpoint by one recovery.
CREATE UNIQUE INDEX deliveries_recovered ON deliveries (shard, recovery_id, event_id, endpoint_id)
    WHERE recovery_id IS NOT NULL;
-- What recoveries have waiting for an endpoint: they make more only when little of it is left.
CREATE INDEX deliveries_recovering ON deliveries (shard, endpoint_id, next_attempt_at)
    WHERE recovery_id IS NOT NULL AND status = 'pending';

CREATE TABLE attempts (
    shard             INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    id                TEXT NOT NULL,
    delivery_id       TEXT NOT NULL,
    endpoint_id       TEXT,
    number            BIGINT NOT NULL CHECK (number >= 1),
    started_at        BIGINT NOT NULL,
    signed_timestamp  BIGINT NOT NULL,
    duration_ms       BIGINT NOT NULL CHECK (duration_ms >= 0),
    outcome           TEXT NOT NULL CHECK (outcome IN ('success', 'http_error', 'redirect', 'timeout', 'dns_error',
                          'connect_error', 'tls_error', 'blocked_address', 'protocol_error')),
    response_status   BIGINT,
    response_excerpt  TEXT,
    retry_at          BIGINT,
    PRIMARY KEY (shard, id),
    UNIQUE (shard, delivery_id, number),
    FOREIGN KEY (shard, delivery_id) REFERENCES deliveries (shard, id)
);
-- The last day of an endpoint's attempts.
CREATE INDEX attempts_by_endpoint ON attempts (shard, endpoint_id, started_at, outcome, duration_ms);

-- What was tried and given up, counted as it happens, per endpoint and five minutes. The rows `shard/…` and `events/…`
-- are for all endpoints and all events of a shard. However much is sent in a day, the figures of health read a few
-- hundred rows.
CREATE TABLE endpoint_figures (
    shard              INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    endpoint_id        TEXT NOT NULL,
    -- The beginning of the five minutes, Unix milliseconds.
    since              BIGINT NOT NULL,
    attempts           BIGINT NOT NULL,
    failed_attempts    BIGINT NOT NULL,
    failed_deliveries  BIGINT NOT NULL,
    PRIMARY KEY (shard, endpoint_id, since)
);
CREATE INDEX endpoint_figures_by_age ON endpoint_figures (since);

-- The answer to a request that committed, under the key the client gave (contract 2.15, 4.3). The operator's
-- stand under `operator:<merchant>` or, where they name no merchant, under `operator`.
CREATE TABLE idempotency (
    shard        INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    merchant_id  TEXT NOT NULL,
    livemode     BOOLEAN NOT NULL,
    key          TEXT NOT NULL,
    fingerprint  BLOB NOT NULL,
    operation    TEXT NOT NULL,
    answer       TEXT NOT NULL,
    request_id   TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    PRIMARY KEY (shard, merchant_id, livemode, key)
);
CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);

-- What the operator's side wrote: whose record, and from which version to which (`resource_version` is the one after).
-- What belongs to no merchant is in the operator's shard.
CREATE TABLE audit_log (
    shard             INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    id                TEXT NOT NULL,
    at                BIGINT NOT NULL,
    key_id            TEXT NOT NULL,
    request_id        TEXT NOT NULL,
    operation         TEXT NOT NULL,
    merchant_id       TEXT,
    livemode          BOOLEAN,
    resource_id       TEXT,
    version_before    BIGINT,
    resource_version  BIGINT,
    reason            TEXT,
    PRIMARY KEY (shard, id)
);
CREATE INDEX audit_log_by_key ON audit_log (key_id, id);
CREATE INDEX audit_log_by_resource ON audit_log (resource_id, id) WHERE resource_id IS NOT NULL;

-- One row per owner, code and subject while it is open. The operator's stand under `operator`.
CREATE TABLE alerts (
    shard          INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    id             TEXT NOT NULL,
    merchant_id    TEXT NOT NULL,
    livemode       BOOLEAN NOT NULL,
    code           TEXT NOT NULL,
    subject        TEXT NOT NULL,
    severity       TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
    message        TEXT NOT NULL,
    count          BIGINT NOT NULL CHECK (count >= 1),
    first_seen_at  BIGINT NOT NULL,
    last_seen_at   BIGINT NOT NULL,
    closed_at      BIGINT,
    PRIMARY KEY (shard, id)
);
CREATE UNIQUE INDEX alerts_open ON alerts (shard, merchant_id, livemode, code, subject) WHERE closed_at IS NULL;
CREATE INDEX alerts_by_subject ON alerts (subject, code) WHERE closed_at IS NULL;
CREATE INDEX alerts_of_owner ON alerts (shard, merchant_id, livemode, id);

-- How far a consumer has come in a feed. What it lags behind is computed from its stream when it is asked for.
CREATE TABLE checkpoints (
    shard             INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    id                TEXT NOT NULL,
    merchant_id       TEXT NOT NULL REFERENCES merchants (id),
    livemode          BOOLEAN NOT NULL,
    stream            TEXT NOT NULL CHECK (stream IN ('events', 'orders')),
    name              TEXT NOT NULL,
    cursor            TEXT NOT NULL,
    position          BIGINT NOT NULL CHECK (position >= 0),
    resource_version  BIGINT NOT NULL CHECK (resource_version >= 1),
    -- Checkpoints have no event of their own; the list goes by a counter of the tenant (contract 8.5).
    created_sequence  BIGINT NOT NULL CHECK (created_sequence >= 1),
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL,
    PRIMARY KEY (shard, id)
);
CREATE UNIQUE INDEX checkpoints_by_name ON checkpoints (shard, merchant_id, livemode, stream, name);
CREATE UNIQUE INDEX checkpoints_by_creation ON checkpoints (shard, merchant_id, livemode, created_sequence);

-- The time that developers let pass for the test records of their merchants, all at once.
CREATE TABLE sandbox_clock_advances (
    shard        INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    merchant_id  TEXT NOT NULL REFERENCES merchants (id),
    -- When it was asked for, in milliseconds; two in one millisecond are one row.
    advanced_at  BIGINT NOT NULL,
    seconds      BIGINT NOT NULL CHECK (seconds > 0),
    PRIMARY KEY (shard, merchant_id, advanced_at)
);

-- Partners (contract 2.14, 4.14): connections of two merchants, and the orders that are shared on them.
CREATE TABLE partner_connections (
    id                 TEXT PRIMARY KEY,
    livemode           BOOLEAN NOT NULL,
    -- That an invitation has run out is not kept: the clock says so.
    status             TEXT NOT NULL CHECK (status IN ('invited', 'accepted', 'revoked')),
    inviter_id         TEXT NOT NULL REFERENCES merchants (id),
    partner_id         TEXT REFERENCES merchants (id),
    -- SHA-256 of the code.
    invite_hash        BLOB NOT NULL UNIQUE,
    invite_expires_at  BIGINT NOT NULL,
    accepted_at        BIGINT,
    revoked_at         BIGINT,
    -- It was ended while orders were shared on it, and not all of these shares have their last events yet. What a
    -- partner may see does not wait for that: a share is active as long as its connection is.
    shares_to_end      BOOLEAN NOT NULL DEFAULT FALSE,
    resource_version   BIGINT NOT NULL CHECK (resource_version >= 1),
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL,
    CHECK (partner_id <> inviter_id),
    CHECK ((partner_id IS NULL) = (accepted_at IS NULL)),
    CHECK ((status = 'revoked') = (revoked_at IS NOT NULL)),
    CHECK (status <> 'invited' OR partner_id IS NULL),
    CHECK (status <> 'accepted' OR partner_id IS NOT NULL),
    CHECK (status = 'revoked' OR NOT shares_to_end)
);
-- Two merchants are connected once per mode, whoever of the two invited.
CREATE UNIQUE INDEX partner_connections_pair ON partner_connections (
    (CASE WHEN inviter_id < partner_id THEN inviter_id ELSE partner_id END), livemode,
    (CASE WHEN inviter_id < partner_id THEN partner_id ELSE inviter_id END)) WHERE status = 'accepted';
CREATE INDEX partner_connections_to_end ON partner_connections (id) WHERE shares_to_end;

-- A connection as one of its merchants has it: its label, and its place in that merchant's list.
CREATE TABLE partner_connection_sides (
    merchant_id    TEXT NOT NULL REFERENCES merchants (id),
    livemode       BOOLEAN NOT NULL,
    position       BIGINT NOT NULL CHECK (position >= 1),
    connection_id  TEXT NOT NULL REFERENCES partner_connections (id),
    label          TEXT,
    PRIMARY KEY (merchant_id, livemode, position),
    UNIQUE (merchant_id, livemode, connection_id)
);

-- A share has the shard of its owner, as the order has.
CREATE TABLE order_shares (
    shard             INTEGER NOT NULL DEFAULT 0 CHECK (shard = 0),
    id                TEXT NOT NULL,
    livemode          BOOLEAN NOT NULL,
    connection_id     TEXT NOT NULL REFERENCES partner_connections (id),
    owner_id          TEXT NOT NULL REFERENCES merchants (id),
    partner_id        TEXT NOT NULL REFERENCES merchants (id),
    order_number      TEXT NOT NULL,
    include_customer  BOOLEAN NOT NULL,
    include_amounts   BOOLEAN NOT NULL,
    status            TEXT NOT NULL CHECK (status IN ('active', 'revoked')),
    revoked_at        BIGINT,
    resource_version  BIGINT NOT NULL CHECK (resource_version >= 1),
    -- The places of its first event in the streams of the two, and with that in their lists.
    owner_sequence    BIGINT NOT NULL,
    partner_sequence  BIGINT NOT NULL,
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL,
    CHECK (partner_id <> owner_id),
    CHECK ((status = 'revoked') = (revoked_at IS NOT NULL)),
    PRIMARY KEY (shard, id),
    FOREIGN KEY (shard, owner_id, livemode, order_number)
        REFERENCES orders (shard, merchant_id, livemode, order_number)
);
-- An order is shared once on a connection; and whom a change of the order is to be told.
CREATE UNIQUE INDEX order_shares_once ON order_shares (shard, owner_id, livemode, order_number, connection_id)
    WHERE status = 'active';
CREATE UNIQUE INDEX order_shares_of_owner ON order_shares (shard, owner_id, livemode, owner_sequence);
CREATE INDEX order_shares_by_order ON order_shares (shard, owner_id, livemode, order_number, owner_sequence);
-- What others share with a partner, and what is shared on a connection, is in the shards of its owners.
CREATE INDEX order_shares_of_partner ON order_shares (partner_id, livemode, partner_sequence);
CREATE INDEX order_shares_on_connection ON order_shares (connection_id, id) WHERE status = 'active';

-- What the operator's search finds records by, over all merchants. On PostgreSQL `postgres/indexes.rs` has these and the
-- following.
CREATE INDEX orders_by_number ON orders (order_number);
CREATE INDEX orders_by_customer_reference ON orders (customer_reference) WHERE customer_reference IS NOT NULL;
CREATE INDEX subscriptions_by_customer_reference ON subscriptions (customer_reference)
    WHERE customer_reference IS NOT NULL;
CREATE INDEX external_references_by_id ON external_references (id);
CREATE INDEX shipments_by_tracking_number ON shipments (tracking_number) WHERE tracking_number IS NOT NULL;
CREATE INDEX payments_by_processor_reference ON payments (json_extract(body, '$.processor.reference'))
    WHERE json_extract(body, '$.processor.reference') IS NOT NULL;

-- Endpoints that the service or the operator disabled: the console's first page shows them.
CREATE INDEX webhook_endpoints_given_up ON webhook_endpoints (disabled_at)
    WHERE status = 'disabled' AND disabled_reason <> 'merchant' AND deleted_at IS NULL;
-- Deliveries that were given up, as the operator lists them: of all endpoints and of one. They are few; an index of all
-- states would be written with every delivery.
CREATE INDEX deliveries_given_up ON deliveries (status, id) WHERE status IN ('failed', 'cancelled');
CREATE INDEX deliveries_given_up_by_endpoint ON deliveries (endpoint_id, status, id)
    WHERE status IN ('failed', 'cancelled');

-- What the service looks for among all merchants, four times a second: open refunds of test mode, and whose move by
-- themselves. Written as what has not ended, the condition is not that of refunds_open, which SQLite would rather take.
CREATE INDEX refunds_open_in_test ON refunds (merchant_id, id)
    WHERE status NOT IN ('completed', 'failed') AND livemode = FALSE;
CREATE INDEX merchants_in_motion ON merchants (id) WHERE sandbox_auto_advance = TRUE;
-- And at each start: whether the key-encryption key opens what is sealed for endpoints.
CREATE INDEX webhook_endpoints_with_headers ON webhook_endpoints (id) WHERE headers_sealed IS NOT NULL;
CREATE INDEX webhook_endpoints_with_certificate ON webhook_endpoints (id)
    WHERE client_certificate_sealed IS NOT NULL;
