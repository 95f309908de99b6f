-- Retention (contract 15.13) and the figures of the last day (2.12).

-- Up to which sequence the events of a stream were removed because of their age. What is older than the oldest event
-- that is kept is known to have been there, and the guard of events lets nothing else go: whoever wants to remove an
-- event has to say first, in the same transaction, that the stream begins behind it.
ALTER TABLE streams ADD COLUMN removed_through BIGINT NOT NULL DEFAULT 0 CHECK (removed_through >= 0);
DROP TRIGGER events_no_delete;
CREATE TRIGGER events_no_delete BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM streams WHERE merchant_id = OLD.merchant_id AND livemode = OLD.livemode
    AND removed_through >= OLD.sequence)
BEGIN SELECT RAISE(ABORT, 'events are immutable'); END;

-- What was tried and given up, counted as it happens, per endpoint and five minutes; the row of endpoint '' is
-- everybody's. However much is sent in a day, the figures of health read a few hundred rows.
CREATE TABLE endpoint_figures (
    endpoint_id         TEXT NOT NULL,
    -- The beginning of the five minutes, Unix milliseconds.
    since               BIGINT NOT NULL,
    attempts            BIGINT NOT NULL,
    failed_attempts     BIGINT NOT NULL,
    failed_deliveries   BIGINT NOT NULL,
    PRIMARY KEY (endpoint_id, since)
);
CREATE INDEX endpoint_figures_by_age ON endpoint_figures (since);
INSERT INTO endpoint_figures (endpoint_id, since, attempts, failed_attempts, failed_deliveries)
    SELECT endpoint_id, started_at - started_at % 300000, COUNT(*), COUNT(CASE WHEN outcome <> 'success' THEN 1 END), 0
    FROM attempts WHERE endpoint_id IS NOT NULL
        AND started_at > (SELECT MAX(started_at) FROM attempts) - 90000000 GROUP BY 1, 2;
INSERT INTO endpoint_figures (endpoint_id, since, attempts, failed_attempts, failed_deliveries)
    SELECT endpoint_id, failed_at - failed_at % 300000, 0, 0, COUNT(*) FROM deliveries
    WHERE status = 'failed' AND failed_at > (SELECT MAX(failed_at) FROM deliveries) - 90000000 GROUP BY 1, 2
    ON CONFLICT (endpoint_id, since) DO UPDATE SET failed_deliveries = excluded.failed_deliveries;
INSERT INTO endpoint_figures (endpoint_id, since, attempts, failed_attempts, failed_deliveries)
    SELECT '', since, SUM(attempts), SUM(failed_attempts), SUM(failed_deliveries) FROM endpoint_figures GROUP BY since;
