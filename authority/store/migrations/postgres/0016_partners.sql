-- Partners (contract 2.14, 4.14): connections of two merchants, and the orders that are shared on them.

CREATE TABLE partner_connections (
    id                 TEXT COLLATE "C" PRIMARY KEY,
    livemode           BOOLEAN NOT NULL,
    -- That an invitation has run out is not kept: the clock says so.
    status             TEXT COLLATE "C" NOT NULL CHECK (status IN ('invited', 'accepted', 'revoked')),
    inviter_id         TEXT COLLATE "C" NOT NULL REFERENCES merchants (id),
    partner_id         TEXT COLLATE "C" REFERENCES merchants (id),
    -- SHA-256 of the code.
    invite_hash        BYTEA NOT NULL UNIQUE,
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
    merchant_id    TEXT COLLATE "C" NOT NULL REFERENCES merchants (id),
    livemode       BOOLEAN NOT NULL,
    position       BIGINT NOT NULL CHECK (position >= 1),
    connection_id  TEXT COLLATE "C" NOT NULL REFERENCES partner_connections (id),
    label          TEXT COLLATE "C",
    PRIMARY KEY (merchant_id, livemode, position),
    UNIQUE (merchant_id, livemode, connection_id)
);

CREATE TABLE order_shares (
    id                TEXT COLLATE "C" PRIMARY KEY,
    livemode          BOOLEAN NOT NULL,
    connection_id     TEXT COLLATE "C" NOT NULL REFERENCES partner_connections (id),
    owner_id          TEXT COLLATE "C" NOT NULL REFERENCES merchants (id),
    partner_id        TEXT COLLATE "C" NOT NULL REFERENCES merchants (id),
    order_number      TEXT COLLATE "C" NOT NULL,
    include_customer  BOOLEAN NOT NULL,
    include_amounts   BOOLEAN NOT NULL,
    status            TEXT COLLATE "C" NOT NULL CHECK (status IN ('active', 'revoked')),
    revoked_at        BIGINT,
    resource_version  BIGINT NOT NULL CHECK (resource_version >= 1),
    -- The places of its first event in the streams of the two, and with that in their lists.
    owner_sequence    BIGINT NOT NULL,
    partner_sequence  BIGINT NOT NULL,
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL,
    CHECK (partner_id <> owner_id),
    CHECK ((status = 'revoked') = (revoked_at IS NOT NULL)),
    FOREIGN KEY (owner_id, livemode, order_number) REFERENCES orders (merchant_id, livemode, order_number)
);
-- An order is shared once on a connection; and whom a change of the order is to be told.
CREATE UNIQUE INDEX order_shares_once ON order_shares (owner_id, livemode, order_number, connection_id)
    WHERE status = 'active';
CREATE UNIQUE INDEX order_shares_of_owner ON order_shares (owner_id, livemode, owner_sequence);
CREATE UNIQUE INDEX order_shares_of_partner ON order_shares (partner_id, livemode, partner_sequence);
CREATE INDEX order_shares_by_order ON order_shares (owner_id, livemode, order_number, owner_sequence);
CREATE INDEX order_shares_on_connection ON order_shares (connection_id, id) WHERE status = 'active';

-- How many active shares the owner of a stream has. It is read with the stream, so that merchants who share nothing pay
-- no statement for it; the database itself counts, so that no statement can forget it.
ALTER TABLE streams ADD COLUMN active_shares BIGINT NOT NULL DEFAULT 0 CHECK (active_shares >= 0);
CREATE FUNCTION order_shares_count() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE streams SET active_shares = active_shares + CASE WHEN NEW.status = 'active' THEN 1 ELSE -1 END
    WHERE merchant_id = NEW.owner_id AND livemode = NEW.livemode;
    RETURN NULL;
END $$;
CREATE TRIGGER order_shares_count_new AFTER INSERT ON order_shares
    FOR EACH ROW WHEN (NEW.status = 'active') EXECUTE FUNCTION order_shares_count();
CREATE TRIGGER order_shares_count_ended AFTER UPDATE OF status ON order_shares
    FOR EACH ROW WHEN (OLD.status = 'active' AND NEW.status = 'revoked') EXECUTE FUNCTION order_shares_count();

-- A counterpart of the sandbox, for the merchant that it belongs to: whoever develops against the API has somebody to
-- share test orders with.
ALTER TABLE merchants ADD COLUMN counterpart_of TEXT COLLATE "C" REFERENCES merchants (id);
CREATE UNIQUE INDEX merchants_counterpart ON merchants (counterpart_of) WHERE counterpart_of IS NOT NULL;
