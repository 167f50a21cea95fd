-- expand, 0.1.0
-- The system messages that were addressed to a user by name, or to everyone: `place` as in `inbox`. Written some time after the
-- commit, so that sends do not wait. `created_at` is that of the event, in milliseconds since the Unix epoch.
CREATE TABLE addressee (
  org TEXT NOT NULL,
  place TEXT NOT NULL,
  "offset" BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (org, place, "offset")
);

CREATE INDEX addressee_by_time ON addressee (created_at, org, place, "offset");

ALTER TABLE addressee ENABLE ROW LEVEL SECURITY;

ALTER TABLE addressee FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON addressee USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

-- Up to which offset these rows are written, and how many users of the next system message have theirs.
CREATE TABLE addressees (
  org TEXT PRIMARY KEY,
  up_to BIGINT NOT NULL,
  users BIGINT NOT NULL
);

ALTER TABLE addressees ENABLE ROW LEVEL SECURITY;

ALTER TABLE addressees FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON addressees USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

-- What these rows are written from.
CREATE INDEX CONCURRENTLY event_addressed ON event (org, "offset") WHERE kind = 'system' AND cid IS NULL;

-- When a participant's `read_to` was last moved, in milliseconds since the Unix epoch, and to where: a Herald that does not know
-- these columns moves `read_to` alone.
ALTER TABLE participant ADD COLUMN read_at BIGINT;

ALTER TABLE participant ADD COLUMN read_at_offset BIGINT;
