-- The second wall between organizations: a statement touches the rows of those that its transaction names, and no others.
-- The planner takes `IS NOT NULL` for true nearly always, and a bare `IN` for true half of the time: then it would expect
-- fewer rows than there are, and choose other plans than without the wall.

ALTER TABLE "user" ENABLE ROW LEVEL SECURITY;

ALTER TABLE "user" FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON "user" USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

ALTER TABLE conversation ENABLE ROW LEVEL SECURITY;

ALTER TABLE conversation FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON conversation USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

ALTER TABLE participant ENABLE ROW LEVEL SECURITY;

ALTER TABLE participant FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON participant USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

ALTER TABLE event ENABLE ROW LEVEL SECURITY;

ALTER TABLE event FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON event USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);
