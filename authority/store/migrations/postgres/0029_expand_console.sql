-- Sessions of the operator's console, by the hash of what the cookie holds. Ended ones are removed.
CREATE TABLE console_sessions (
    hash        BYTEA PRIMARY KEY,
    key_id      TEXT COLLATE "C" NOT NULL REFERENCES operator_keys (id),
    created_at  BIGINT NOT NULL,
    used_at     BIGINT NOT NULL
);
CREATE INDEX console_sessions_by_use ON console_sessions (used_at);
