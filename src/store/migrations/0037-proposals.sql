-- expand, 0.1.0
-- Sends that were proposed, and for a while what became of them. Times are of the database's clock, in milliseconds. `request` and
-- `bytes`, what the row adds to the organization's stored bytes, are empty once it is decided; `key_id` has proposed it.
CREATE TABLE proposal (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  state TEXT NOT NULL,
  kind TEXT NOT NULL,
  sender TEXT NOT NULL,
  request TEXT,
  bytes BIGINT NOT NULL,
  fingerprint TEXT NOT NULL,
  reason TEXT,
  key_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  decided_by TEXT,
  decision_reason TEXT,
  ended_at BIGINT,
  server_mid TEXT,
  problem TEXT,
  try_id TEXT,
  PRIMARY KEY (org, id)
);

CREATE INDEX proposal_by_state ON proposal (org, state, expires_at, id);

CREATE INDEX proposal_by_time ON proposal (org, expires_at, id);

CREATE INDEX proposal_of_key ON proposal (org, key_id, expires_at, id);

CREATE INDEX proposal_of_sender ON proposal (org, sender, id);

CREATE INDEX proposal_waiting ON proposal (expires_at, org, id) WHERE state = 'waiting';

CREATE INDEX proposal_ended ON proposal (ended_at, org, id) WHERE ended_at IS NOT NULL;

ALTER TABLE proposal ENABLE ROW LEVEL SECURITY;

ALTER TABLE proposal FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON proposal USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

-- The key that created a key; empty for one that an earlier version created.
ALTER TABLE api_key ADD COLUMN created_by TEXT;
