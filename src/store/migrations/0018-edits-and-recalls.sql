-- expand, 0.1.0
-- When a message was last edited, and where the log tells so. The event before that one is blank: nobody needs it.
ALTER TABLE event ADD COLUMN edited_at BIGINT;

ALTER TABLE event ADD COLUMN edit_offset BIGINT;

-- When a message was taken back. Its row stays, with an empty payload, and so does that of its last edit.
ALTER TABLE event ADD COLUMN recalled_at BIGINT;
