-- The client certificate that deliveries show to a receiver that asks for one: its fingerprint and expiry for people,
-- and the chain with its private key sealed under the key-encryption key, bound to the endpoint (contract 4.10).
ALTER TABLE webhook_endpoints ADD COLUMN client_certificate_sha256 TEXT;
ALTER TABLE webhook_endpoints ADD COLUMN client_certificate_expires_at BIGINT;
ALTER TABLE webhook_endpoints ADD COLUMN client_certificate_sealed BLOB;
