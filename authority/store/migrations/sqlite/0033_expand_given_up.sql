-- Deliveries that were given up, as the operator lists them: of all endpoints and of one. They are few; an index of all
-- states would be written with every delivery.
CREATE INDEX deliveries_given_up ON deliveries (status, id) WHERE status IN ('failed', 'cancelled');
CREATE INDEX deliveries_given_up_by_endpoint ON deliveries (endpoint_id, status, id)
    WHERE status IN ('failed', 'cancelled');
