-- Signals follow from the notes and are kept nowhere; what somebody made of them is.

CREATE TABLE triage (
    signal   INTEGER NOT NULL,           -- id of the signal: a digest of what it is about
    owner    TEXT NOT NULL,              -- who judged it
    status   TEXT NOT NULL,              -- new | snoozed | dismissed | minted
    type     TEXT NOT NULL,              -- which detector found it
    text     TEXT NOT NULL,              -- its text at that time
    evidence TEXT NOT NULL,              -- ids of the notes that it is about: a JSON list
    at_ms    INTEGER NOT NULL,           -- when it was judged
    PRIMARY KEY (signal, owner)
) WITHOUT ROWID;

-- Whether any note has changed, without a look at them.
CREATE INDEX item_note_change ON item (change) WHERE kind = 'note';
