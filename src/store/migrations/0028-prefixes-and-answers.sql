-- expand, 0.1.0
-- What receivers answered to posts about an event goes with its text.
CREATE INDEX CONCURRENTLY webhook_delivery_of_event ON webhook_delivery (org, event_id) WHERE event_id IS NOT NULL;

-- Users and conversations by the beginning of their id or name. Both engines fold A to Z alone.
CREATE INDEX CONCURRENTLY user_by_folded_id ON "user" (org, lower(id), id);

CREATE INDEX CONCURRENTLY user_by_folded_name ON "user" (org, lower(name), id) WHERE name IS NOT NULL;

CREATE INDEX CONCURRENTLY conversation_by_folded_id ON conversation (org, lower(id), id);

CREATE INDEX CONCURRENTLY conversation_by_folded_name ON conversation (org, lower(name), id) WHERE name IS NOT NULL;
