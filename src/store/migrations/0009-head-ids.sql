-- expand, 0.1.0
-- The id of the event at the head, and the head that it was written for: a Herald that does not know these columns moves `head` alone.
ALTER TABLE organization ADD COLUMN head_id TEXT;

ALTER TABLE organization ADD COLUMN head_id_offset BIGINT;
