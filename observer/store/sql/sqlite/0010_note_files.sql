-- Notes that are kept as Markdown files. The files are the truth: a scan fills these tables again,
-- but for the ids of the notes and their permalinks, which outlive a rebuild.

ALTER TABLE item ADD COLUMN file TEXT NOT NULL DEFAULT ''; -- path of the note's file, absolute; '' if none

CREATE TABLE note_file (
    item       INTEGER PRIMARY KEY,      -- id of the note; its seq is used by no event
    folder     TEXT NOT NULL,            -- the note folder, absolute
    path       TEXT NOT NULL,            -- of the file inside the folder, with forward slashes
    permalink  TEXT NOT NULL,            -- the note's name in the folder; it stays in a move
    title      TEXT NOT NULL,            -- as in its frontmatter, else the file's name
    type       TEXT NOT NULL,            -- as in its frontmatter, else note
    checksum   TEXT NOT NULL,            -- SHA-256 of the file's bytes, as hex
    size_bytes INTEGER NOT NULL,         -- of the file
    mtime_ns   INTEGER NOT NULL,         -- its time of modification; 0 if it may change unnoticed
    ctime_ns   INTEGER NOT NULL,         -- its time of change
    created_ms INTEGER NOT NULL,         -- as in its frontmatter, else when it was found
    updated_ms INTEGER NOT NULL,         -- as in its frontmatter, else the file's modification
    gone_ms    INTEGER,                  -- since when the file is missing, NULL while it is there
    title_key  TEXT NOT NULL             -- as titles compare: model.title_key
);

CREATE UNIQUE INDEX note_file_path ON note_file (folder, path) WHERE gone_ms IS NULL;
CREATE UNIQUE INDEX note_file_permalink ON note_file (folder, permalink) WHERE gone_ms IS NULL;
CREATE INDEX note_file_title ON note_file (title_key);
CREATE INDEX note_file_checksum ON note_file (folder, checksum);

-- Lines of a note that state one thing: `- [category] text #tag (context)`.
CREATE TABLE note_claim (
    item     INTEGER NOT NULL,           -- as in `note_file`
    place    INTEGER NOT NULL,           -- its place among those of the note, from 0
    category TEXT NOT NULL,              -- '' if it names none
    text     TEXT NOT NULL,              -- redacted
    tags     TEXT NOT NULL,              -- list
    context  TEXT NOT NULL,              -- '' if none
    PRIMARY KEY (item, place)
) WITHOUT ROWID;

-- Links of a note to others: `- kind [[Target]] (context)`.
CREATE TABLE note_relation (
    item       INTEGER NOT NULL,         -- as in `note_file`
    place      INTEGER NOT NULL,         -- its place among those of the note, from 0
    kind       TEXT NOT NULL,            -- links_to if the note does not say
    target     TEXT NOT NULL,            -- as written between the brackets, redacted
    context    TEXT NOT NULL,            -- '' if none
    target_key TEXT NOT NULL,            -- the target as titles compare, without alias and anchor
    PRIMARY KEY (item, place)
) WITHOUT ROWID;

CREATE INDEX note_relation_target ON note_relation (target_key);
