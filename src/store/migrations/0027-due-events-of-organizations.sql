-- expand, 0.1.0
-- What is due of each organization: so that one with a million due events does not stand before the others.
CREATE INDEX CONCURRENTLY webhook_due_of_organization ON webhook_due (org, due_at, "offset", webhook);
