-- expand, 0.1.0
-- Sessions of people who signed in to the console at the OpenID provider, until they end or are ended. `digest` is that of the secret in
-- the cookie, `roles` are those that the provider's claims gave, as JSON. Times are of a node's clock, in milliseconds.
CREATE TABLE person_session (
  id TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  subject TEXT NOT NULL,
  name TEXT NOT NULL,
  roles TEXT NOT NULL,
  address TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);

CREATE UNIQUE INDEX person_session_by_digest ON person_session (digest);

CREATE INDEX person_session_of_subject ON person_session (subject, id);

CREATE INDEX person_session_expiry ON person_session (expires_at, id);

-- What the person or workload is called that made the call; empty for a key.
ALTER TABLE audit ADD COLUMN person TEXT;
