-- Titles are found whatever their case and encoding; SQLite itself folds only ASCII.
-- title_key() is observer.core.model.title_key.

DROP INDEX item_titled;
DROP INDEX link_titled;

ALTER TABLE item ADD COLUMN title_key TEXT NOT NULL DEFAULT ''; -- of a note: what titles compare by
ALTER TABLE link ADD COLUMN title_key TEXT NOT NULL DEFAULT ''; -- the same of the title it names

UPDATE item SET title_key = title_key(title) WHERE kind = 'note';
UPDATE link SET title_key = title_key(title) WHERE title <> '';

CREATE INDEX item_titled ON item (title_key) WHERE kind = 'note' AND deleted_ms IS NULL;
CREATE INDEX link_titled ON link (title_key) WHERE title_key <> '';
