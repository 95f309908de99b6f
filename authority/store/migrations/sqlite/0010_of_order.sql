-- The payments and refunds of an order, and the refunds of a payment, in the order they were made. Without the order in
-- the index SQLite rather walks through the whole list of the merchant, which has it.
DROP INDEX payments_by_order;
CREATE INDEX payments_by_order ON payments (merchant_id, livemode, order_number, created_sequence)
    WHERE order_number IS NOT NULL;
DROP INDEX refunds_by_order;
CREATE INDEX refunds_by_order ON refunds (merchant_id, livemode, order_number, created_sequence);
DROP INDEX refunds_by_payment;
CREATE INDEX refunds_by_payment ON refunds (merchant_id, livemode, payment_id, created_sequence);
