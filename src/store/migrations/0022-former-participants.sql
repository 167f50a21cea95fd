-- expand, 0.1.0
-- Who left a conversation, and which of its events were addressed to them: those after `log_start`, up to `log_end`. The ids tell
-- when they left, as none of these events is newer.
CREATE TABLE former_participant (
  org TEXT NOT NULL,
  cid TEXT NOT NULL,
  uid TEXT NOT NULL,
  log_start BIGINT NOT NULL,
  log_end BIGINT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (org, cid, uid, log_start)
);

CREATE UNIQUE INDEX former_participant_by_id ON former_participant (id);

ALTER TABLE former_participant ENABLE ROW LEVEL SECURITY;

ALTER TABLE former_participant FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON former_participant USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);
