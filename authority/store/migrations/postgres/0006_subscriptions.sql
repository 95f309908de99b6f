-- Subscriptions that are bought in a checkout, and the moment from which their periods are counted.

-- What a checkout of mode `subscription` agrees on; no member of its record (contract 2.7).
ALTER TABLE checkouts ADD COLUMN subscription_terms TEXT COLLATE "C";

ALTER TABLE subscriptions ADD COLUMN period_anchor BIGINT;
CREATE INDEX subscriptions_by_status ON subscriptions (merchant_id, livemode, status, created_sequence);
