-- Shares with other homes: what left, what came, and what waits. See observer/sync.

ALTER TABLE item ADD COLUMN person TEXT NOT NULL DEFAULT ''; -- whose words they are, '' for ours

CREATE TABLE share (
    name      TEXT PRIMARY KEY,          -- what it is called in this home
    url       TEXT NOT NULL,             -- where its records lie
    key       TEXT NOT NULL,             -- random; what came by it has this in the event's id
    origin    TEXT NOT NULL,             -- uuid by which others know this home there
    projects  TEXT NOT NULL,             -- list of ids; all projects if it is empty
    turns     INTEGER NOT NULL,          -- 1 if prompts and replies leave too
    added_ms  INTEGER NOT NULL,          -- since when
    sequence  INTEGER NOT NULL,          -- of the newest record made here
    hash      TEXT NOT NULL,             -- of that record
    epoch     TEXT NOT NULL,             -- the numbering of `change`
    change    INTEGER NOT NULL,          -- the last change of an item that was looked at
    pushed_ms INTEGER,                   -- when nothing waited any more
    pulled_ms INTEGER,                   -- when all that was there had come
    fault     TEXT NOT NULL              -- why the last try failed, '' if it did not
) WITHOUT ROWID;

CREATE TABLE share_item (
    share    TEXT NOT NULL,              -- its name
    uuid     TEXT NOT NULL,              -- an item that left
    digest   TEXT NOT NULL,              -- of what left; 'gone' once it is deleted
    event_id TEXT NOT NULL,              -- the item's first event, by which a purge knows it
    PRIMARY KEY (share, uuid)
) WITHOUT ROWID;

CREATE TABLE share_waiting (
    share    TEXT NOT NULL,              -- its name
    sequence INTEGER NOT NULL,           -- of a record that was made and not yet carried away
    record   TEXT NOT NULL,              -- it, as JSON
    PRIMARY KEY (share, sequence)
) WITHOUT ROWID;

CREATE TABLE share_origin (
    share    TEXT NOT NULL,              -- its name
    origin   TEXT NOT NULL,              -- another home
    sequence INTEGER NOT NULL,           -- of its newest record that was taken in
    hash     TEXT NOT NULL,              -- of that record
    PRIMARY KEY (share, origin)
) WITHOUT ROWID;

CREATE TABLE share_refusal (
    share    TEXT NOT NULL,              -- its name
    origin   TEXT NOT NULL,              -- the home of a record that was not taken in
    sequence INTEGER NOT NULL,           -- its number
    why      TEXT NOT NULL,              -- what is wrong with it
    at_ms    INTEGER NOT NULL,           -- when that was found
    PRIMARY KEY (share, origin, sequence)
) WITHOUT ROWID;
