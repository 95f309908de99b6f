-- Refunds: what is reserved of a payment, and whose key a refund remembers.

-- The sum of the payment's open refunds, computed from their rows with each of them (I2): together with what went back it
-- never exceeds what was captured.
ALTER TABLE payments ADD COLUMN amount_refund_pending BIGINT NOT NULL DEFAULT 0
    CHECK (amount_refund_pending >= 0 AND amount_refunded + amount_refund_pending <= amount_captured);

-- A merchant's key and an operator's are different keys, even where they read the same.
ALTER TABLE refunds ADD COLUMN requester TEXT NOT NULL DEFAULT 'api_key'
    CHECK (requester IN ('api_key', 'operator', 'system'));
DROP INDEX refunds_by_key;
CREATE UNIQUE INDEX refunds_by_key ON refunds (merchant_id, livemode, requester, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
