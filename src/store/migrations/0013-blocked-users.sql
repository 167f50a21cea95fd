-- expand, 0.1.0
-- Since when a user is refused. It outlives the deletion of the user, whom the next token would else make anew.
ALTER TABLE "user" ADD COLUMN blocked_at BIGINT;
