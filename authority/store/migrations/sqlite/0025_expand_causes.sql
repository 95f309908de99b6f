-- The request that caused an event, and the trace which that request was part of; neither for what the service did by
-- itself.
ALTER TABLE events ADD COLUMN request_id TEXT;
ALTER TABLE events ADD COLUMN traceparent TEXT;
