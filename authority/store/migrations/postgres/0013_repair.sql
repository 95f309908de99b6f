-- What an endpoint missed, and its recovery (contract 15.1, 15.2).

-- The last sequence of its stream when an endpoint was made: what is older was never meant for it.
ALTER TABLE webhook_endpoints ADD COLUMN created_after BIGINT NOT NULL DEFAULT 0;
UPDATE webhook_endpoints SET created_after = COALESCE((
    SELECT sequence FROM events WHERE events.merchant_id = webhook_endpoints.merchant_id
        AND events.livemode = webhook_endpoints.livemode AND events.created_at < webhook_endpoints.created_at
    ORDER BY sequence DESC LIMIT 1), 0);
CREATE OR REPLACE FUNCTION webhook_endpoint_subscribes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.subscribed_after := COALESCE((
        SELECT last_sequence FROM streams WHERE merchant_id = NEW.merchant_id AND livemode = NEW.livemode), 0);
    IF TG_OP = 'INSERT' THEN
        NEW.created_after := NEW.subscribed_after;
    END IF;
    RETURN NEW;
END $$;

CREATE TABLE endpoint_recoveries (
    id              TEXT COLLATE "C" PRIMARY KEY,
    merchant_id     TEXT COLLATE "C" NOT NULL,
    livemode        BOOLEAN NOT NULL,
    endpoint_id     TEXT COLLATE "C" NOT NULL REFERENCES webhook_endpoints (id),
    status          TEXT COLLATE "C" NOT NULL CHECK (status IN ('running', 'completed', 'cancelled', 'endpoint_disabled',
                                                    'endpoint_deleted')),
    since           BIGINT NOT NULL,
    until           BIGINT,
    -- Event types and categories, a JSON list; null is all that the endpoint wants.
    types           TEXT COLLATE "C",
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
    CHECK ((status = 'running') = (finished_at IS NULL))
);
CREATE INDEX endpoint_recoveries_running ON endpoint_recoveries (endpoint_id, id) WHERE status = 'running';

-- A recovery ends with its endpoint, whoever switches that off: kept by the database itself, so that no statement can
-- forget it.
CREATE FUNCTION webhook_endpoint_ends_recoveries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE endpoint_recoveries SET
        status = CASE WHEN NEW.deleted_at IS NULL THEN 'endpoint_disabled' ELSE 'endpoint_deleted' END,
        finished_at = COALESCE(NEW.disabled_at, NEW.updated_at), updated_at = COALESCE(NEW.disabled_at, NEW.updated_at)
    WHERE endpoint_id = NEW.id AND status = 'running';
    RETURN NULL;
END $$;
CREATE TRIGGER webhook_endpoints_end_recoveries AFTER UPDATE OF status ON webhook_endpoints
    FOR EACH ROW WHEN (NEW.status = 'disabled' AND OLD.status <> 'disabled')
    EXECUTE FUNCTION webhook_endpoint_ends_recoveries();

ALTER TABLE deliveries ADD COLUMN recovery_id TEXT COLLATE "C";
-- Never two deliveries of one event to one endpoint by one recovery.
CREATE UNIQUE INDEX deliveries_recovered ON deliveries (recovery_id, event_id, endpoint_id)
    WHERE recovery_id IS NOT NULL;
-- What recoveries have waiting for an endpoint: they make more only when little of it is left.
CREATE INDEX deliveries_recovering ON deliveries (endpoint_id, next_attempt_at)
    WHERE recovery_id IS NOT NULL AND status = 'pending';
