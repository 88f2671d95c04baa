-- The spine: an append-only log of events, and the items derived from it.
-- Times are integer UTC milliseconds. Lists are JSON arrays of strings.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,              -- name of a fact about this database
    value TEXT NOT NULL                  -- its value as text
) WITHOUT ROWID;

CREATE TABLE project (
    id            INTEGER PRIMARY KEY,   -- 1 is `unassigned`
    uuid          TEXT NOT NULL UNIQUE,  -- version 7, never changes
    name          TEXT NOT NULL,         -- base name of the newest root; not unique
    roots         TEXT NOT NULL,         -- absolute folders, newest last
    common_dirs   TEXT NOT NULL,         -- git common directories, absolute
    inodes        TEXT NOT NULL,         -- `device:inode` of those directories
    remotes       TEXT NOT NULL,         -- normalised `host/owner/name`
    root_commit   TEXT NOT NULL,         -- hash of the oldest commit, '' without git
    earlier_names TEXT NOT NULL,         -- names before renames
    created_ms    INTEGER NOT NULL       -- when it was first seen
);

-- Names the numbering of changes: what was derived from another one is of no use.
INSERT INTO meta VALUES ('epoch', lower(hex(randomblob(8))));

INSERT INTO project VALUES
    (1, '00000000-0000-7000-8000-000000000001', 'unassigned',
     '[]', '[]', '[]', '[]', '', '[]', 0);

CREATE TABLE event (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT, -- place in the log; never reused
    id          TEXT NOT NULL UNIQUE,    -- name of the spool entry; makes a replay a no-op
    dedup       TEXT NOT NULL,           -- equal for two reports of one occurrence, '' if unknown
    kind        TEXT NOT NULL,           -- tag of the body
    client      TEXT NOT NULL,           -- who reported it
    project_id  INTEGER NOT NULL REFERENCES project (id), -- where it happened
    session_id  INTEGER,                 -- seq of the session's first event
    root        TEXT NOT NULL,           -- folder of the project at that time
    branch      TEXT NOT NULL,           -- git branch at that time, '' if none
    commit_hash TEXT NOT NULL,           -- HEAD at that time, '' if none
    at_ms       INTEGER NOT NULL,        -- when it happened
    stored_ms   INTEGER NOT NULL,        -- when it was stored
    data        TEXT NOT NULL            -- the event as JSON, redacted
);

CREATE UNIQUE INDEX event_dedup ON event (project_id, dedup) WHERE dedup <> '';
CREATE INDEX event_session ON event (session_id, at_ms) WHERE session_id IS NOT NULL;

CREATE TABLE session (
    id           INTEGER PRIMARY KEY,    -- seq of its first event
    external     TEXT NOT NULL,          -- the client's own id
    client       TEXT NOT NULL,          -- e.g. claude-code
    project_id   INTEGER NOT NULL REFERENCES project (id), -- where it ran
    status       TEXT NOT NULL,          -- active | ended | idle
    cwd          TEXT NOT NULL,          -- folder it started in
    branch       TEXT NOT NULL,          -- git branch of its last event
    started_ms   INTEGER NOT NULL,       -- time of its first event
    last_ms      INTEGER NOT NULL,       -- time of its last event
    ended_ms     INTEGER,                -- time of its end, NULL while active
    prompts      INTEGER NOT NULL,       -- count of prompts
    events       INTEGER NOT NULL,       -- count of events
    first_prompt TEXT NOT NULL,          -- shortened
    parent       TEXT NOT NULL,          -- external id of the session that started it
    state        BLOB NOT NULL           -- the interpreter's memory of it, JSON
);

CREATE INDEX session_external ON session (external, client, project_id);
CREATE INDEX session_last ON session (status, last_ms);
CREATE INDEX session_project ON session (project_id, last_ms);

CREATE TABLE item (
    id               INTEGER PRIMARY KEY, -- follows from the event's seq: see model.item_id
    uuid             TEXT NOT NULL UNIQUE, -- version 7
    kind             TEXT NOT NULL,      -- observation | summary | note | inference
    type             TEXT NOT NULL,      -- file-write, command, decision …
    title            TEXT NOT NULL,      -- one line
    subtitle         TEXT NOT NULL,      -- one line of detail, '' if none
    narrative        TEXT NOT NULL,      -- the body
    facts            TEXT NOT NULL,      -- list
    concepts         TEXT NOT NULL,      -- list
    files_read       TEXT NOT NULL,      -- list, relative to the project's root
    files_modified   TEXT NOT NULL,      -- list, relative to the project's root
    summary          TEXT,               -- the six fields of a summary as a JSON object
    project_id       INTEGER REFERENCES project (id), -- NULL: belongs to no project
    session_id       INTEGER,            -- seq of the session's first event
    author           TEXT NOT NULL,      -- person | agent | system
    owner            TEXT NOT NULL,      -- whose personal note it is, '' otherwise
    scope            TEXT NOT NULL,      -- personal | project | team
    layer            TEXT NOT NULL,      -- past | state | rule
    key              TEXT NOT NULL,      -- upsert key of a note, '' if none
    category         TEXT NOT NULL,      -- the author's own grouping, '' if none
    confidence       REAL,               -- 0 to 1
    status           TEXT NOT NULL,      -- active | candidate | confirmed | stale | …
    branch           TEXT NOT NULL,      -- git branch at that time, '' if none
    commit_hash      TEXT NOT NULL,      -- HEAD at that time, '' if none
    content_hash     TEXT NOT NULL,      -- digest of the normalised content
    discovery_tokens INTEGER NOT NULL,   -- characters of the original / 4
    folded           INTEGER NOT NULL,   -- count of events folded into it
    created_ms       INTEGER NOT NULL,   -- when it happened
    updated_ms       INTEGER NOT NULL,   -- when it last grew or changed
    stale_ms         INTEGER,            -- since when it no longer holds
    deleted_ms       INTEGER,            -- when it was forgotten
    change           INTEGER NOT NULL    -- number of the last change of this row; ever higher
);

CREATE INDEX item_project ON item (project_id, created_ms) WHERE deleted_ms IS NULL;
CREATE INDEX item_time ON item (created_ms) WHERE deleted_ms IS NULL;
CREATE INDEX item_notable ON item (project_id, created_ms)
    WHERE deleted_ms IS NULL AND kind <> 'observation';
CREATE INDEX item_key ON item (key) WHERE key <> '';
CREATE INDEX item_content ON item (content_hash) WHERE kind = 'note';

CREATE UNIQUE INDEX item_change ON item (change);

-- What items mean, by models. An item whose text changed has the vector of its new text or none.
CREATE TABLE item_vector (
    item_id INTEGER NOT NULL REFERENCES item (id), -- whose meaning
    model   TEXT NOT NULL,               -- id of the model that made it
    vector  BLOB NOT NULL,               -- one signed byte a dimension; only its direction counts
    PRIMARY KEY (item_id, model)
) WITHOUT ROWID;

CREATE TABLE forgotten (
    item_id INTEGER PRIMARY KEY,         -- an item that was deleted on purpose
    at_ms   INTEGER NOT NULL             -- when; what is derived later under this id stays deleted
);

-- Words of each item. Contentless: the text stands in `item`. `place` holds the terms of
-- index_terms(): project and kind, so that a filter is one more term and not a join.
CREATE VIRTUAL TABLE item_words USING fts5 (
    title, subtitle, narrative, facts, concepts, files, place,
    content='', contentless_delete=1,
    tokenize='porter unicode61 remove_diacritics 2'
);

CREATE VIRTUAL TABLE item_vocabulary USING fts5vocab (item_words, 'row');
