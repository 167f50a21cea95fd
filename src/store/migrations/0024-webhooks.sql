-- expand, 0.1.0
-- What the webhooks of an organization wait for, as JSON; NULL if none is switched on. It is in the row that every commit of
-- events locks, so that a commit knows it exactly and pays nothing for an organization without webhooks.
ALTER TABLE organization ADD COLUMN webhooks TEXT;

-- `ref` is another one for each webhook, also for one that has the id of a deleted one. Times in milliseconds.
CREATE TABLE webhook (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  ref TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  wait_ms BIGINT NOT NULL,
  until TEXT NOT NULL,
  secrets TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  disabled_at BIGINT,
  PRIMARY KEY (org, id)
);

CREATE UNIQUE INDEX webhook_by_ref ON webhook (ref);

ALTER TABLE webhook ENABLE ROW LEVEL SECURITY;

ALTER TABLE webhook FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON webhook USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

-- The events that a webhook asks about, and when: written in the commit of the event. Nodes read it across organizations, so
-- it holds no content.
CREATE TABLE webhook_due (
  org TEXT NOT NULL,
  "offset" BIGINT NOT NULL,
  webhook TEXT NOT NULL,
  event_id TEXT NOT NULL,
  due_at BIGINT NOT NULL,
  PRIMARY KEY (org, "offset", webhook)
);

CREATE INDEX webhook_due_by_time ON webhook_due (due_at, org, "offset", webhook);

CREATE POLICY organization ON webhook_due USING (
  NULLIF(NULLIF(current_setting('herald.orgs', true), '') IS NULL OR org IS NULL
    OR org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

ALTER TABLE webhook_due ENABLE ROW LEVEL SECURITY;

ALTER TABLE webhook_due FORCE ROW LEVEL SECURITY;

-- What is posted to a webhook: `unreached` are the users of this part, as JSON. The message is in the log alone, so that a
-- recall takes it back here, too. `next_try_at` is the time of the next try, or while a node tries, when its claim ends.
CREATE TABLE webhook_delivery (
  org TEXT NOT NULL,
  webhook TEXT NOT NULL,
  id TEXT NOT NULL,
  state TEXT NOT NULL,
  event_id TEXT,
  part BIGINT NOT NULL,
  parts BIGINT NOT NULL,
  unreached TEXT NOT NULL,
  waited_ms BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  tries BIGINT NOT NULL,
  next_try_at BIGINT,
  last_try TEXT,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (org, webhook, id)
);

CREATE INDEX webhook_delivery_by_state ON webhook_delivery (org, webhook, state, id);

CREATE INDEX webhook_delivery_next ON webhook_delivery (org, webhook, next_try_at, id) WHERE state = 'waiting';

CREATE INDEX webhook_delivery_expiry ON webhook_delivery (expires_at, org, webhook, id);

ALTER TABLE webhook_delivery ENABLE ROW LEVEL SECURITY;

ALTER TABLE webhook_delivery FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON webhook_delivery USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

-- The webhooks that have deliveries waiting, and when a node must look at them next. Nodes read it across organizations, too.
CREATE TABLE webhook_queue (
  org TEXT NOT NULL,
  webhook TEXT NOT NULL,
  next_at BIGINT NOT NULL,
  PRIMARY KEY (org, webhook)
);

CREATE INDEX webhook_queue_by_time ON webhook_queue (next_at, org, webhook);

CREATE POLICY organization ON webhook_queue USING (
  NULLIF(NULLIF(current_setting('herald.orgs', true), '') IS NULL OR org IS NULL
    OR org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

ALTER TABLE webhook_queue ENABLE ROW LEVEL SECURITY;

ALTER TABLE webhook_queue FORCE ROW LEVEL SECURITY;
