-- expand, 0.1.0
-- 1 for a message or system message that counts as unread nowhere; empty for all others.
ALTER TABLE event ADD COLUMN silent SMALLINT;

-- When a message, a system message or an edit ends, in milliseconds since the Unix epoch; empty for all others, and for what was
-- recalled before.
ALTER TABLE event ADD COLUMN expires_at BIGINT;

-- Counts what is unread of a conversation without its silent and expired messages, and finds its last message, without reading rows.
CREATE INDEX CONCURRENTLY event_in_conversation ON event (org, cid, "offset", kind, sender, recalled_at, silent, expires_at);

DROP INDEX event_of_conversation;

-- What ends next, until its text is removed.
CREATE INDEX CONCURRENTLY event_expiry ON event (expires_at, org, "offset")
  WHERE expires_at IS NOT NULL AND recalled_at IS NULL AND kind <> 'edit';
