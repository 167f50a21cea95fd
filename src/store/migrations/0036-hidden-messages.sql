-- expand, 0.1.0
-- What users have hidden from their own lists: the message `id`, which is at `offset` of its conversation.
CREATE TABLE hidden_message (
  org TEXT NOT NULL,
  uid TEXT NOT NULL,
  cid TEXT NOT NULL,
  "offset" BIGINT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (org, uid, cid, "offset")
);

-- By age, like their messages.
CREATE INDEX hidden_message_by_id ON hidden_message (id, uid);

CREATE INDEX hidden_message_in_conversation ON hidden_message (org, cid, "offset", uid);

ALTER TABLE hidden_message ENABLE ROW LEVEL SECURITY;

ALTER TABLE hidden_message FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON hidden_message USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);
