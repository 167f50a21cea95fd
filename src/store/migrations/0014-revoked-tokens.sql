-- expand, 0.1.0
-- Tokens that were revoked one by one, until none of them can be valid any more. The ids tell when.
CREATE TABLE revoked_token (
  org TEXT NOT NULL,
  uid TEXT NOT NULL,
  jti TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (org, uid, jti)
);

CREATE UNIQUE INDEX revoked_token_by_id ON revoked_token (id);

ALTER TABLE revoked_token ENABLE ROW LEVEL SECURITY;

ALTER TABLE revoked_token FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON revoked_token USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);
