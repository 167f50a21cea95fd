-- Who takes part since which offset, and how many did when a message was stored.
ALTER TABLE participant ADD COLUMN log_start BIGINT NOT NULL DEFAULT 0;

ALTER TABLE conversation ADD COLUMN participants BIGINT NOT NULL DEFAULT 0;

ALTER TABLE event ADD COLUMN recipients BIGINT;

-- A user is one of the organization for the events after `log_start`, and once deleted for those up to `log_end`.
ALTER TABLE "user" ADD COLUMN log_start BIGINT NOT NULL DEFAULT 0;

ALTER TABLE "user" ADD COLUMN log_end BIGINT;

ALTER TABLE participant NO FORCE ROW LEVEL SECURITY;

ALTER TABLE conversation NO FORCE ROW LEVEL SECURITY;

-- Since when those took part who are there already was not written down: from now on, so that nothing is claimed of them.
UPDATE participant SET log_start = (SELECT head FROM organization WHERE organization.id = participant.org);

UPDATE conversation SET participants =
  (SELECT COUNT(*) FROM participant WHERE participant.org = conversation.org AND participant.cid = conversation.id);

ALTER TABLE participant FORCE ROW LEVEL SECURITY;

ALTER TABLE conversation FORCE ROW LEVEL SECURITY;

-- Events of a conversation (`cid` '': system messages) that went to the same users, or that they have acknowledged: from
-- `first_offset` to `offset`, which lie a bounded way apart.
CREATE TABLE delivery (
  org TEXT NOT NULL,
  cid TEXT NOT NULL,
  "offset" BIGINT NOT NULL,
  id TEXT NOT NULL,
  first_offset BIGINT NOT NULL,
  kind TEXT NOT NULL,
  connections BIGINT NOT NULL,
  audience TEXT,
  uids TEXT,
  plays TEXT NOT NULL,
  PRIMARY KEY (org, cid, kind, "offset", id)
);

CREATE UNIQUE INDEX delivery_by_id ON delivery (id);

ALTER TABLE delivery ENABLE ROW LEVEL SECURITY;

ALTER TABLE delivery FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON delivery USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

-- The users that a conversation was played to on a node: `added` and not `removed`, on top of those of `parent`.
CREATE TABLE audience (
  org TEXT NOT NULL,
  cid TEXT NOT NULL,
  "offset" BIGINT NOT NULL,
  id TEXT NOT NULL,
  parent TEXT,
  added TEXT NOT NULL,
  removed TEXT NOT NULL,
  PRIMARY KEY (org, cid, "offset", id)
);

CREATE UNIQUE INDEX audience_by_id ON audience (id);

ALTER TABLE audience ENABLE ROW LEVEL SECURITY;

ALTER TABLE audience FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON audience USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);
