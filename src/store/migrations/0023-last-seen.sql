-- expand, 0.1.0
-- When the last connection of a user to a node ended, in milliseconds since the Unix epoch.
ALTER TABLE "user" ADD COLUMN seen_at BIGINT;
