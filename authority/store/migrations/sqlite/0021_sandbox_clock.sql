-- The time that developers let pass for the test records of their merchants, all at once.
CREATE TABLE sandbox_clock_advances (
    merchant_id  TEXT NOT NULL REFERENCES merchants (id),
    -- When it was asked for, in milliseconds; two in one millisecond are one row.
    advanced_at  BIGINT NOT NULL,
    seconds      BIGINT NOT NULL CHECK (seconds > 0),
    PRIMARY KEY (merchant_id, advanced_at)
);
