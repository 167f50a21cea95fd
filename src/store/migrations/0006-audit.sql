CREATE TABLE audit (
  id TEXT PRIMARY KEY,
  request_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  org TEXT,
  key_id TEXT,
  address TEXT,
  target TEXT NOT NULL,
  status BIGINT NOT NULL,
  code TEXT,
  omitted BIGINT NOT NULL
);

CREATE INDEX audit_by_organization ON audit (org, id);

CREATE INDEX audit_by_key ON audit (key_id, id);
