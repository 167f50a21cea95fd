-- expand, 0.1.0
-- What an organization may use; NULL: what the settings say.
ALTER TABLE organization ADD COLUMN limit_requests BIGINT;

ALTER TABLE organization ADD COLUMN limit_messages BIGINT;

ALTER TABLE organization ADD COLUMN limit_connections BIGINT;

ALTER TABLE organization ADD COLUMN limit_bytes BIGINT;

-- The bytes of the stored events up to `counted_to`: a Herald that does not know these columns moves `head` alone, and then they are
-- counted later.
ALTER TABLE organization ADD COLUMN stored_bytes BIGINT NOT NULL DEFAULT 0;

ALTER TABLE organization ADD COLUMN counted_to BIGINT NOT NULL DEFAULT 0;

-- The lease of those who count what they remove; for all others `held_until` lies a day ahead.
ALTER TABLE retention ADD COLUMN leased_until BIGINT NOT NULL DEFAULT 0;
