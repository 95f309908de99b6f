-- The row that readiness writes, to see whether the database takes writes; and the operator's list of alerts, newest
-- first, closed ones too.

CREATE TABLE write_probe (
    id         BIGINT PRIMARY KEY CHECK (id = 1),
    written_at BIGINT NOT NULL,
    -- As large as what a busy service writes at once: a disk with room for a line is full all the same.
    filler     TEXT NOT NULL
);

CREATE INDEX alerts_of_owner ON alerts (merchant_id, livemode, id);
