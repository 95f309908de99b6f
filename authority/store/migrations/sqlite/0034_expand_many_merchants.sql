-- What the service looks for among all merchants, four times a second: open refunds of test mode, and whose move by
-- themselves. Written as what has not ended, the condition is not that of refunds_open, which SQLite would rather take.
CREATE INDEX refunds_open_in_test ON refunds (merchant_id, id)
    WHERE status NOT IN ('completed', 'failed') AND livemode = FALSE;
CREATE INDEX merchants_in_motion ON merchants (id) WHERE sandbox_auto_advance = TRUE;

-- And at each start: whether the key-encryption key opens what is sealed for endpoints.
CREATE INDEX webhook_endpoints_with_headers ON webhook_endpoints (id) WHERE headers_sealed IS NOT NULL;
CREATE INDEX webhook_endpoints_with_certificate ON webhook_endpoints (id)
    WHERE client_certificate_sealed IS NOT NULL;
