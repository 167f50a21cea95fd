-- expand, 0.1.0
-- Counts what is unread of a conversation, and finds its last message, without reading rows.
CREATE INDEX CONCURRENTLY event_of_conversation ON event (org, cid, "offset", kind, sender, recalled_at);

DROP INDEX event_by_conversation;
