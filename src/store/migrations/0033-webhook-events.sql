-- expand, 0.1.0
-- What a delivery tells that is not in the log, as JSON: its type and its data. NULL for what tells of an event of the log, and for a
-- test.
ALTER TABLE webhook_delivery ADD COLUMN notice TEXT;

-- The webhooks that are told who comes and goes. One node at a time, until `held_until`, compares who is online with what was told up
-- to `seq`. Nodes read it across organizations, so it holds no content. Times in milliseconds.
CREATE TABLE webhook_presence (
  org TEXT NOT NULL,
  webhook TEXT NOT NULL,
  seq BIGINT NOT NULL,
  holder TEXT NOT NULL,
  held_until BIGINT NOT NULL,
  PRIMARY KEY (org, webhook)
);

CREATE POLICY organization ON webhook_presence USING (
  NULLIF(NULLIF(current_setting('herald.orgs', true), '') IS NULL OR org IS NULL
    OR org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

ALTER TABLE webhook_presence ENABLE ROW LEVEL SECURITY;

ALTER TABLE webhook_presence FORCE ROW LEVEL SECURITY;

-- Who is online by what a webhook was told: all parts up to `seq`, folded.
CREATE TABLE webhook_online (
  org TEXT NOT NULL,
  webhook TEXT NOT NULL,
  uid TEXT NOT NULL,
  PRIMARY KEY (org, webhook, uid)
);

ALTER TABLE webhook_online ENABLE ROW LEVEL SECURITY;

ALTER TABLE webhook_online FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON webhook_online USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);
