-- Fulfilment updates and carriers' reports.

-- What the fulfilment update marked as shipped, beside what parcels hold: cancelling a parcel must not take it back
-- (contract 3.7). Not part of the order's record.
ALTER TABLE order_lines ADD COLUMN marked_shipped_quantity BIGINT NOT NULL DEFAULT 0
    CHECK (marked_shipped_quantity BETWEEN 0 AND shipped_quantity);

-- The parcels of an order are read in the order they were made.
DROP INDEX shipments_by_order;
CREATE INDEX shipments_by_order ON shipments (merchant_id, livemode, order_number, created_sequence);

-- Whose refunds move by themselves in the sandbox (contract 6.3).
ALTER TABLE merchants ADD COLUMN sandbox_auto_advance BOOLEAN
    GENERATED ALWAYS AS ((body::json #>> '{settings,sandbox_auto_advance}')::boolean) STORED;
