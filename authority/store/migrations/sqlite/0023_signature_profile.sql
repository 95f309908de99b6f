-- By which headers an endpoint's receiver can verify its deliveries (contract 15.12); the form of its secrets goes by it.
ALTER TABLE webhook_endpoints ADD COLUMN signature_profile TEXT NOT NULL DEFAULT 'service'
    CHECK (signature_profile IN ('service', 'standard-webhooks'));
