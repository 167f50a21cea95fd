-- expand, 0.1.0
-- What is known of files. `bytes_id` names the stored bytes; a file that a send announced has none until they are put.
-- `keep_until` is set while no message names the file, in milliseconds since the Unix epoch.
CREATE TABLE file (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  content_type TEXT NOT NULL,
  size BIGINT NOT NULL,
  sha256 TEXT,
  bytes_id TEXT,
  created_at BIGINT NOT NULL,
  keep_until BIGINT,
  PRIMARY KEY (org, id)
);

CREATE INDEX file_by_id ON file (id);

CREATE INDEX file_by_content ON file (org, sha256) WHERE sha256 IS NOT NULL;

CREATE INDEX file_unnamed ON file (keep_until, org, id) WHERE keep_until IS NOT NULL;

ALTER TABLE file ENABLE ROW LEVEL SECURITY;

ALTER TABLE file FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON file USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

-- The messages that name a file: `event_id` is the message's `_id`.
CREATE TABLE attachment (
  org TEXT NOT NULL,
  file_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  PRIMARY KEY (org, file_id, event_id)
);

CREATE INDEX attachment_by_event ON attachment (event_id, org, file_id);

ALTER TABLE attachment ENABLE ROW LEVEL SECURITY;

ALTER TABLE attachment FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON attachment USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

-- Bytes on the disk or in the bucket, which the files of an organization with the same content share: `arriving` while they are uploaded, `kept` while a file has them, `unwanted` until they
-- are removed. Nodes read it across organizations, so it holds no content.
CREATE TABLE file_bytes (
  id TEXT PRIMARY KEY,
  org TEXT NOT NULL,
  state TEXT NOT NULL,
  changed_at BIGINT NOT NULL
);

CREATE INDEX file_bytes_to_remove ON file_bytes (state, changed_at, id) WHERE state <> 'kept';

CREATE INDEX file_bytes_of_organization ON file_bytes (org, id);

CREATE POLICY organization ON file_bytes USING (
  NULLIF(NULLIF(current_setting('herald.orgs', true), '') IS NULL OR org IS NULL
    OR org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

ALTER TABLE file_bytes ENABLE ROW LEVEL SECURITY;

ALTER TABLE file_bytes FORCE ROW LEVEL SECURITY;
