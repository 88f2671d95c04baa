-- Knowledge: what notes have beyond observations, and the events that made each of them.

ALTER TABLE item ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';     -- list, lower case
ALTER TABLE item ADD COLUMN expires_ms INTEGER;                  -- from when it no longer holds
ALTER TABLE item ADD COLUMN approval TEXT NOT NULL DEFAULT '';   -- provisional | approved | ''
ALTER TABLE item ADD COLUMN suspicion TEXT NOT NULL DEFAULT '';  -- why it may be an injection
ALTER TABLE item ADD COLUMN metadata TEXT NOT NULL DEFAULT '';   -- the author's own JSON object

CREATE INDEX item_titled ON item (title COLLATE NOCASE) WHERE kind = 'note' AND deleted_ms IS NULL;
CREATE INDEX item_owner ON item (owner, created_ms) WHERE owner <> '' AND deleted_ms IS NULL;
CREATE INDEX item_rule ON item (created_ms) WHERE layer = 'rule' AND deleted_ms IS NULL;
CREATE INDEX link_titled ON link (title COLLATE NOCASE) WHERE title <> '';

-- Which events made and changed a note: its history is their fold.
CREATE TABLE note_event (
    item_id INTEGER NOT NULL,            -- the note
    seq     INTEGER NOT NULL REFERENCES event (seq), -- what happened to it
    PRIMARY KEY (item_id, seq)
) WITHOUT ROWID;
