-- expand, 0.1.0
-- Imported messages lie before the log: at offsets below zero, in the order of their import. `past_head` is the last one given.
ALTER TABLE organization ADD COLUMN past_head BIGINT NOT NULL DEFAULT -9007199254740991;

-- The imported messages of a conversation lie after this offset. NULL: there are none; those of one that was deleted do not count.
ALTER TABLE conversation ADD COLUMN past_start BIGINT;
