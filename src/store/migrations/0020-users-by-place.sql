-- expand, 0.1.0
-- Who was a user of an organization at an offset of its log, without a row of the table: so that all users are counted in a moment.
CREATE INDEX CONCURRENTLY user_by_place ON "user" (org, log_start, deleted_at, log_end);
