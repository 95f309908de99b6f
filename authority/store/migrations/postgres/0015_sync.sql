-- Consumers that keep a copy: the feed of changed orders, their checkpoints, and their own names for orders
-- (contract 4.11 to 4.13).

-- The feed goes by the sequence of the event that last changed each order. Unique, as sequences are: two orders at one
-- place could be torn apart by the end of a page, and one of them would never be read.
CREATE UNIQUE INDEX orders_by_change ON orders (merchant_id, livemode, last_sequence);

-- How far a consumer has come in a feed. What it lags behind is computed from its stream when it is asked for.
CREATE TABLE checkpoints (
    id                TEXT COLLATE "C" PRIMARY KEY,
    merchant_id       TEXT COLLATE "C" NOT NULL REFERENCES merchants (id),
    livemode          BOOLEAN NOT NULL,
    stream            TEXT COLLATE "C" NOT NULL CHECK (stream IN ('events', 'orders')),
    name              TEXT COLLATE "C" NOT NULL,
    cursor            TEXT COLLATE "C" NOT NULL,
    position          BIGINT NOT NULL CHECK (position >= 0),
    resource_version  BIGINT NOT NULL CHECK (resource_version >= 1),
    -- Checkpoints have no event of their own; the list goes by a counter of the tenant (contract 8.5).
    created_sequence  BIGINT NOT NULL CHECK (created_sequence >= 1),
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL
);
CREATE UNIQUE INDEX checkpoints_by_name ON checkpoints (merchant_id, livemode, stream, name);
CREATE UNIQUE INDEX checkpoints_by_creation ON checkpoints (merchant_id, livemode, created_sequence);

-- Which order a merchant's system means: at most one per name. The rest of an entry stands in the order's record.
CREATE TABLE external_references (
    merchant_id   TEXT COLLATE "C" NOT NULL,
    livemode      BOOLEAN NOT NULL,
    system        TEXT COLLATE "C" NOT NULL,
    id            TEXT COLLATE "C" NOT NULL,
    order_number  TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (merchant_id, livemode, system, id),
    FOREIGN KEY (merchant_id, livemode, order_number) REFERENCES orders (merchant_id, livemode, order_number)
);
CREATE UNIQUE INDEX external_references_by_order ON external_references (merchant_id, livemode, order_number, system);
