-- When a retry was asked for while an attempt was in flight: the next one follows at once if that one fails (contract
-- 18.4-6). Set only while the delivery is leased.
ALTER TABLE deliveries ADD COLUMN retry_asked_at BIGINT;
