-- What became of items that were shown to sessions: on recorded sessions it changed no answer for the
-- better, and is asked no more.

DROP TABLE IF EXISTS usage;
DELETE FROM meta WHERE key = 'usage_seq';
