-- expand, 0.1.0
-- Since when the tries of a webhook fail, and how the last one did, as JSON; NULL while the last try succeeded, or before the first.
ALTER TABLE webhook ADD COLUMN failing TEXT;
