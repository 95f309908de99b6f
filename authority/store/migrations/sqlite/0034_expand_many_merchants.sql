-- What the service looks for among all merchants, four times a second: open refunds of test mode, and whose move by
-- themselves. Written as what has not ended, the condition is not that of refunds_open, which SQLite would rather take.
CREATE INDEX refunds_open_in_test ON refunds (merchant_id, id)
    WHERE status NOT IN ('completed', 'failed') AND livemode = FALSE;
CREATE INDEX merchants_in_motion ON merchants (id) WHERE sandbox_auto_advance = TRUE;
