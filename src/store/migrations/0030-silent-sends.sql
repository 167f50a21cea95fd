-- expand, 0.1.0
-- 1 for a message or system message that counts as unread nowhere; empty for all others.
ALTER TABLE event ADD COLUMN silent SMALLINT;

-- Counts what is unread of a conversation without its silent messages, and finds its last message, without reading rows.
CREATE INDEX CONCURRENTLY event_in_conversation ON event (org, cid, "offset", kind, sender, recalled_at, silent);

DROP INDEX event_of_conversation;
