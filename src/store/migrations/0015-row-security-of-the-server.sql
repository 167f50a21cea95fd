-- expand, 0.1.0
-- These are read before it is known whose they are, or across organizations: a statement that names none sees them all, as the
-- version before expects. One that names organizations sees their rows, and those of none.
CREATE POLICY organization ON api_key USING (
  NULLIF(NULLIF(current_setting('herald.orgs', true), '') IS NULL OR org IS NULL
    OR org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

ALTER TABLE api_key ENABLE ROW LEVEL SECURITY;

ALTER TABLE api_key FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON audit USING (
  NULLIF(NULLIF(current_setting('herald.orgs', true), '') IS NULL OR org IS NULL
    OR org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

ALTER TABLE audit ENABLE ROW LEVEL SECURITY;

ALTER TABLE audit FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON removal USING (
  NULLIF(NULLIF(current_setting('herald.orgs', true), '') IS NULL OR org IS NULL
    OR org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

ALTER TABLE removal ENABLE ROW LEVEL SECURITY;

ALTER TABLE removal FORCE ROW LEVEL SECURITY;
