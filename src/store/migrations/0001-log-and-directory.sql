CREATE TABLE organization (
  id TEXT PRIMARY KEY,
  name TEXT,
  head BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  deleted_at BIGINT
);

CREATE TABLE "user" (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT,
  created_at BIGINT NOT NULL,
  tokens_valid_after BIGINT NOT NULL DEFAULT 0,
  deleted_at BIGINT,
  PRIMARY KEY (org, id)
);

CREATE TABLE conversation (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT,
  log_start BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);

CREATE TABLE participant (
  org TEXT NOT NULL,
  cid TEXT NOT NULL,
  uid TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (org, cid, uid)
);

CREATE INDEX participant_by_user ON participant (org, uid, cid);

CREATE TABLE event (
  org TEXT NOT NULL,
  "offset" BIGINT NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  cid TEXT,
  sender TEXT,
  mid TEXT,
  fingerprint TEXT,
  uids TEXT,
  payload TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (org, "offset")
);

CREATE UNIQUE INDEX event_by_id ON event (id);

CREATE UNIQUE INDEX event_by_mid ON event (mid, sender, org, kind);

CREATE INDEX event_by_conversation ON event (org, cid, "offset");
