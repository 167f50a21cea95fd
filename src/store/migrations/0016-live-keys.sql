-- expand, 0.1.0
-- The keys of an organization that are not revoked: who made and revoked a million has none of those read again for each that is left.
CREATE INDEX CONCURRENTLY api_key_live ON api_key (org, id) WHERE revoked_at IS NULL;
