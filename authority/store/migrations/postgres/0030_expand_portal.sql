-- Links to the merchant portal, and the sessions that they become, by the hash of what the link and then the cookie
-- holds. Ended ones are removed.
CREATE TABLE portal_sessions (
    id           TEXT COLLATE "C" PRIMARY KEY,
    hash         BYTEA NOT NULL UNIQUE,
    merchant_id  TEXT COLLATE "C" NOT NULL REFERENCES merchants (id),
    livemode     BOOLEAN NOT NULL,
    scopes       TEXT COLLATE "C" NOT NULL,
    key_id       TEXT COLLATE "C" NOT NULL REFERENCES operator_keys (id),
    return_url   TEXT COLLATE "C",
    created_at   BIGINT NOT NULL,
    opened_at    BIGINT,
    expires_at   BIGINT NOT NULL
);
CREATE INDEX portal_sessions_by_end ON portal_sessions (expires_at);
