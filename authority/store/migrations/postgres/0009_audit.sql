-- Since which event an endpoint has been subscribed as it is now: the last sequence of its stream when its status or
-- its filter was last changed. Kept by the database itself, so that no statement can forget it; the audit (I12) can then
-- tell exactly which events an endpoint must have got.
ALTER TABLE webhook_endpoints ADD COLUMN subscribed_after BIGINT NOT NULL DEFAULT 0;
UPDATE webhook_endpoints SET subscribed_after = COALESCE((
    SELECT last_sequence FROM streams WHERE streams.merchant_id = webhook_endpoints.merchant_id
        AND streams.livemode = webhook_endpoints.livemode), 0);
CREATE FUNCTION webhook_endpoint_subscribes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.subscribed_after := COALESCE((
        SELECT last_sequence FROM streams WHERE merchant_id = NEW.merchant_id AND livemode = NEW.livemode), 0);
    RETURN NEW;
END $$;
CREATE TRIGGER webhook_endpoints_subscribe BEFORE INSERT ON webhook_endpoints
    FOR EACH ROW EXECUTE FUNCTION webhook_endpoint_subscribes();
CREATE TRIGGER webhook_endpoints_subscribe_anew BEFORE UPDATE OF status, enabled_events ON webhook_endpoints
    FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.enabled_events <> NEW.enabled_events)
    EXECUTE FUNCTION webhook_endpoint_subscribes();
