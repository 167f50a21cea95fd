-- expand, 0.1.0
-- Sends that wait for their time, and for a while what became of them. Times are of the database's clock, in milliseconds.
-- `revision` changes with the content, and `bytes` is what the row adds to the organization's stored bytes.
CREATE TABLE scheduled_send (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  state TEXT NOT NULL,
  send_at BIGINT NOT NULL,
  sender TEXT NOT NULL,
  request TEXT,
  bytes BIGINT NOT NULL,
  fingerprint TEXT NOT NULL,
  revision TEXT NOT NULL,
  key_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  ended_at BIGINT,
  server_mid TEXT,
  problem TEXT,
  try_id TEXT,
  PRIMARY KEY (org, id)
);

CREATE INDEX scheduled_send_by_state ON scheduled_send (org, state, send_at, id);

CREATE INDEX scheduled_send_by_time ON scheduled_send (org, send_at, id);

CREATE INDEX scheduled_send_of_sender ON scheduled_send (org, sender, id) WHERE state = 'waiting';

CREATE INDEX scheduled_send_ended ON scheduled_send (ended_at, org, id) WHERE ended_at IS NOT NULL;

ALTER TABLE scheduled_send ENABLE ROW LEVEL SECURITY;

ALTER TABLE scheduled_send FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON scheduled_send USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

-- The organizations that have sends waiting: how many, and when a node must look at them next. Nodes read it across
-- organizations, so it holds no content.
CREATE TABLE schedule (
  org TEXT PRIMARY KEY,
  next_at BIGINT NOT NULL,
  waiting BIGINT NOT NULL
);

CREATE INDEX schedule_by_time ON schedule (next_at, org);

CREATE POLICY organization ON schedule USING (
  NULLIF(NULLIF(current_setting('herald.orgs', true), '') IS NULL OR org IS NULL
    OR org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

ALTER TABLE schedule ENABLE ROW LEVEL SECURITY;

ALTER TABLE schedule FORCE ROW LEVEL SECURITY;
