-- expand, 0.1.0
-- A message that grows or has grown by pieces, which are events of kind `append` without a conversation of their own. `length` is in
-- Unicode code points; the first `folded` of them are in the row of the message `id`, at `offset`. `last_offset` is that of the last piece.
CREATE TABLE growth (
  id TEXT NOT NULL PRIMARY KEY,
  org TEXT NOT NULL,
  cid TEXT NOT NULL,
  "offset" BIGINT NOT NULL,
  sender TEXT NOT NULL,
  silent SMALLINT,
  length BIGINT NOT NULL,
  folded BIGINT NOT NULL,
  last_offset BIGINT NOT NULL,
  -- When the last piece came, in milliseconds since the Unix epoch; empty once the message is complete.
  open_since BIGINT
);

CREATE INDEX growth_of_conversation ON growth (org, cid, last_offset, id);

CREATE INDEX growth_open ON growth (open_since, org, id) WHERE open_since IS NOT NULL;

ALTER TABLE growth ENABLE ROW LEVEL SECURITY;

ALTER TABLE growth FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON growth USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);
