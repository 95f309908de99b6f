-- Money that comes late, reports that disagree, and keys that are remembered with what they were used for (contract 18.3,
-- 18.1).

-- Money that came after its checkout or its order had ended.
ALTER TABLE payments ADD COLUMN late BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX payments_late ON payments (merchant_id, livemode, created_sequence) WHERE late;
CREATE INDEX payments_late_of_all ON payments (id) WHERE late;

-- Such money may belong to no order, and its refund neither. A constraint's end changes no row; see 0008.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'order_number      TEXT NOT NULL', 'order_number      TEXT')
    WHERE type = 'table' AND name = 'refunds';
PRAGMA writable_schema = RESET;

-- What a key was used for, beyond the idempotency record. What was made before has none: its order is compared.
ALTER TABLE refunds ADD COLUMN idempotency_fingerprint BLOB;
ALTER TABLE shipments ADD COLUMN idempotency_fingerprint BLOB;

-- What the fulfilment update set as fulfilled, beside what parcels brought. Of what was fulfilled before this nobody knows
-- which it was: nothing of it is taken back.
ALTER TABLE order_lines ADD COLUMN marked_fulfilled_quantity BIGINT NOT NULL DEFAULT 0
    CHECK (marked_fulfilled_quantity BETWEEN 0 AND quantity);
UPDATE order_lines SET marked_fulfilled_quantity = fulfilled_quantity WHERE fulfilled_quantity > 0;

-- Whether the operator confirmed the order, whatever its payments say.
ALTER TABLE orders ADD COLUMN confirmed_by_operator BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE orders SET confirmed_by_operator = TRUE WHERE status IN ('confirmed', 'completed') AND EXISTS (
    SELECT 1 FROM audit_log a WHERE a.resource_id = orders.order_number AND a.operation = 'orders.confirm'
        AND a.merchant_id = orders.merchant_id AND a.livemode = orders.livemode);

-- A processor's events are told apart by merchant and mode, its name in lower case without outer blanks. `said` is what
-- a message said of status and amounts; of older ones it is not known.
CREATE TABLE processor_messages (
    merchant_id         TEXT NOT NULL REFERENCES merchants (id),
    livemode            BOOLEAN NOT NULL,
    processor           TEXT NOT NULL,
    message             TEXT NOT NULL CHECK (message IN ('start', 'report', 'refund_report')),
    processor_event_id  TEXT NOT NULL,
    resource_id         TEXT NOT NULL,
    said                TEXT,
    received_at         BIGINT NOT NULL,
    PRIMARY KEY (merchant_id, livemode, processor, message, processor_event_id)
);
INSERT INTO processor_messages (merchant_id, livemode, processor, message, processor_event_id, resource_id, received_at)
    SELECT o.merchant_id, o.livemode, lower(trim(r.processor)), r.message, r.processor_event_id, r.resource_id,
        r.received_at
    FROM processor_reports r JOIN (
        SELECT id, merchant_id, livemode FROM payments UNION ALL SELECT id, merchant_id, livemode FROM refunds
    ) o ON o.id = r.resource_id
    WHERE TRUE ORDER BY r.received_at
    ON CONFLICT DO NOTHING;
DROP TABLE processor_reports;
ALTER TABLE processor_messages RENAME TO processor_reports;
