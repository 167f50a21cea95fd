-- expand, 0.1.0
-- How far an event with very many recipients is told, as JSON: the last delivery, whose users tell where to go on, so that no user is
-- named here. Meanwhile `due_at` is when the node that is at it must have gone on.
ALTER TABLE webhook_due ADD COLUMN told TEXT;
