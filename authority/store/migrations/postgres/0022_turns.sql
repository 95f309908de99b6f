-- One row for each shard of merchants (0 to 63) and one for the operator's own tenant (64). A transaction that writes
-- locks the rows of its shards; nothing ever changes them.
CREATE TABLE turns (
    shard SMALLINT PRIMARY KEY CHECK (shard BETWEEN 0 AND 64)
);
INSERT INTO turns (shard) SELECT generate_series(0, 64);

-- The platform's endpoint gets deliveries from transactions of every shard, which do not see each other: they are
-- numbered by a sequence. The deliveries of any other endpoint are numbered by counting, inside their shard.
CREATE SEQUENCE operator_deliveries;
SELECT setval('operator_deliveries', GREATEST(1, (SELECT COALESCE(MAX(created_sequence), 0) + 1 FROM deliveries
    WHERE merchant_id = 'operator')), FALSE);
