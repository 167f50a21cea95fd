-- expand, 0.1.0
-- What receivers answered to posts about an event goes with its text.
CREATE INDEX CONCURRENTLY webhook_delivery_of_event ON webhook_delivery (org, event_id) WHERE event_id IS NOT NULL;

-- Users and conversations by the beginning of their name. Ids have an index, and forms of letters are folded outside of SQL.
CREATE INDEX CONCURRENTLY user_by_name ON "user" (org, name, id) WHERE name IS NOT NULL;

CREATE INDEX CONCURRENTLY conversation_by_name ON conversation (org, name, id) WHERE name IS NOT NULL;
