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
