-- expand, 0.1.0
-- How many users have reacted to a message in which way, as JSON; empty while nobody has. It changes with the rows of `message_reaction`.
ALTER TABLE event ADD COLUMN reactions TEXT;

-- Who has reacted to the message `id`, which is at `offset` of its conversation.
CREATE TABLE message_reaction (
  org TEXT NOT NULL,
  cid TEXT NOT NULL,
  "offset" BIGINT NOT NULL,
  uid TEXT NOT NULL,
  reaction TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (org, cid, "offset", uid, reaction)
);

-- By age, like their messages.
CREATE INDEX message_reaction_by_id ON message_reaction (id, uid, reaction);

CREATE INDEX message_reaction_of_user ON message_reaction (org, uid, cid, "offset", reaction);

ALTER TABLE message_reaction ENABLE ROW LEVEL SECURITY;

ALTER TABLE message_reaction FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON message_reaction USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);
