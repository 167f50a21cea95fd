-- expand, 0.1.0
-- System messages that stay in inboxes until `kept_until` (milliseconds since the Unix epoch). `place` says whose: one row for each
-- user that a message lists, or one for a conversation or for everyone, however many those are. `sender_key` is the same for those
-- that replace each other: the newest counts, also once it is not kept any more or taken back, and then it has no `mid`. The recall
-- of such a message has rows in the same places, without `mid`, too. `expires_at` is that of the message.
CREATE TABLE inbox (
  org TEXT NOT NULL,
  place TEXT NOT NULL,
  "offset" BIGINT NOT NULL,
  mid TEXT,
  sender_key TEXT,
  silent BIGINT NOT NULL,
  kept_until BIGINT NOT NULL,
  expires_at BIGINT,
  PRIMARY KEY (org, place, "offset")
);

CREATE INDEX inbox_of_key ON inbox (org, place, sender_key) WHERE sender_key IS NOT NULL;

CREATE INDEX inbox_expiry ON inbox (kept_until, org, place, "offset") WHERE sender_key IS NULL;

CREATE INDEX inbox_expiry_of_keys ON inbox (kept_until, org, place, "offset") WHERE sender_key IS NOT NULL;

ALTER TABLE inbox ENABLE ROW LEVEL SECURITY;

ALTER TABLE inbox FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON inbox USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

-- What a user has seen and read, as JSON: ranges of offsets, and when.
CREATE TABLE inbox_mark (
  org TEXT NOT NULL,
  uid TEXT NOT NULL,
  marks TEXT NOT NULL,
  PRIMARY KEY (org, uid)
);

ALTER TABLE inbox_mark ENABLE ROW LEVEL SECURITY;

ALTER TABLE inbox_mark FORCE ROW LEVEL SECURITY;

CREATE POLICY organization ON inbox_mark USING (
  NULLIF(org IN (SELECT json_array_elements_text(CAST(NULLIF(current_setting('herald.orgs', true), '') AS json))), false) IS NOT NULL
);

-- Who left a conversation keeps what was addressed to them.
CREATE INDEX CONCURRENTLY former_participant_of_user ON former_participant (org, uid, cid);

-- What tells a user's other connections of it is removed after a day, like reads of messages.
CREATE INDEX CONCURRENTLY event_system_read ON event (id) WHERE kind = 'system_read';
