CREATE TABLE api_key (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scopes TEXT NOT NULL,
  org TEXT,
  senders TEXT,
  networks TEXT,
  pepper TEXT NOT NULL,
  secrets TEXT NOT NULL,
  expires_at BIGINT,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT,
  revoked_at BIGINT,
  version BIGINT NOT NULL
);

CREATE INDEX api_key_by_version ON api_key (version);

CREATE INDEX api_key_by_organization ON api_key (org, id);

CREATE TABLE api_key_version (
  version BIGINT NOT NULL
);

INSERT INTO api_key_version (version) VALUES (0);

ALTER TABLE event ADD COLUMN key_id TEXT;
