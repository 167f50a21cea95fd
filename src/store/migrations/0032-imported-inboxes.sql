-- expand, 0.1.0
-- Of what is imported, inboxes hold what lies after these offsets, as of what is sent they hold what lies after `log_start`. NULL: all.
-- From here on, rows of `former_participant` with offsets below zero are about what was imported, and those with an empty `cid` about
-- what was addressed to everyone.
ALTER TABLE "user" ADD COLUMN past_start BIGINT;

ALTER TABLE participant ADD COLUMN past_start BIGINT;
