ALTER TABLE organization ADD COLUMN tokens_valid_after BIGINT NOT NULL DEFAULT 0;

UPDATE organization SET tokens_valid_after = deleted_at WHERE deleted_at IS NOT NULL;
