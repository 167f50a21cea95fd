-- expand, 0.1.0
-- The offset up to which a participant has read the conversation. NULL: nothing since joining.
ALTER TABLE participant ADD COLUMN read_to BIGINT;

-- What tells authors that they were read is removed after a day.
CREATE INDEX CONCURRENTLY event_read ON event (id) WHERE kind = 'read';
