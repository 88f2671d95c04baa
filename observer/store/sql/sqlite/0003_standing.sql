-- Truth over time: what of an item still holds in the code as it stands. Derived from git.

-- The work trees from which the memory is looked at, and how far each was followed.
CREATE TABLE vantage (
    id         INTEGER PRIMARY KEY,      -- 0 is nobody's
    root       TEXT NOT NULL UNIQUE,     -- folder of the work tree, absolute
    project_id INTEGER NOT NULL REFERENCES project (id), -- whose
    head       TEXT NOT NULL,            -- commit up to which it was followed
    branch     TEXT NOT NULL,            -- its branch then, '' if none
    change     INTEGER NOT NULL          -- number of the last change of an item that was taken up
);

-- What items are about in the code, seen from a work tree.
CREATE TABLE mooring (
    vantage    INTEGER NOT NULL REFERENCES vantage (id), -- seen from where
    item_id    INTEGER NOT NULL,         -- whose
    base       TEXT NOT NULL,            -- commit at which it held
    branch     TEXT NOT NULL,            -- branch at that time, '' if none
    at_ms      INTEGER NOT NULL,         -- when it held
    updated_ms INTEGER NOT NULL,         -- the item's, as it was taken up
    is_here    INTEGER NOT NULL,         -- whether the work tree's history has the base
    is_pending INTEGER NOT NULL,         -- whether some of it is not committed yet
    reverted   TEXT NOT NULL,            -- commit that took it back, '' if none
    reverted_ms INTEGER NOT NULL,        -- when that was, 0 if never
    anchors    TEXT NOT NULL,            -- list of {origin, path, symbol, blob, print, …}
    PRIMARY KEY (vantage, item_id)
) WITHOUT ROWID;

CREATE INDEX mooring_base ON mooring (vantage, base);
CREATE INDEX mooring_unsettled ON mooring (vantage) WHERE is_here = 0 OR is_pending = 1;
CREATE INDEX mooring_reverted ON mooring (vantage, reverted) WHERE reverted <> '';

CREATE TABLE anchored (
    vantage INTEGER NOT NULL,            -- as in `mooring`
    path    TEXT NOT NULL,               -- where an anchor's file is now, or was before it went
    item_id INTEGER NOT NULL,            -- as in `mooring`
    PRIMARY KEY (vantage, path, item_id)
) WITHOUT ROWID;

CREATE INDEX anchored_item ON anchored (vantage, item_id);

-- What must be said of an item beside what it says. Most items have no row.
CREATE TABLE standing (
    item_id     INTEGER NOT NULL,        -- whose
    vantage     INTEGER NOT NULL,        -- seen from which work tree; 0: from anywhere
    reason      TEXT NOT NULL,           -- changed | renamed | deleted | reverted | elsewhere | …
    subject     TEXT NOT NULL,           -- symbol or path that it is about, '' if the item itself
    path        TEXT NOT NULL,           -- where a file is now, '' if where it was
    commit_hash TEXT NOT NULL,           -- commit that did it, '' if not known
    branch      TEXT NOT NULL,           -- branch where it holds, '' if here
    target      INTEGER NOT NULL,        -- item that takes its place, 0 if none
    share       REAL NOT NULL,           -- part of what the item touched, 0 to 1
    since_ms    INTEGER NOT NULL,        -- since when
    PRIMARY KEY (item_id, vantage, reason, subject)
) WITHOUT ROWID;

CREATE INDEX standing_path ON standing (path) WHERE path <> '';
CREATE INDEX standing_vantage ON standing (vantage);
