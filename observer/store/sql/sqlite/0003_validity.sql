-- Which items still hold in the code as it is now. Derived from git.

-- The git worktrees that are followed, and how far each was.
CREATE TABLE worktree (
    id         INTEGER PRIMARY KEY,      -- 0: any worktree
    root       TEXT NOT NULL UNIQUE,     -- folder of the worktree, absolute
    project_id INTEGER NOT NULL REFERENCES project (id), -- whose
    head       TEXT NOT NULL,            -- commit up to which it was followed
    branch     TEXT NOT NULL,            -- its branch then, '' if none
    change     INTEGER NOT NULL          -- number of the last change of an item that was anchored
);

-- What items are about in the code, seen from a worktree.
CREATE TABLE anchor_set (
    worktree   INTEGER NOT NULL REFERENCES worktree (id), -- seen from which
    item_id    INTEGER NOT NULL,         -- whose
    base       TEXT NOT NULL,            -- commit at which it held
    branch     TEXT NOT NULL,            -- branch at that time, '' if none
    at_ms      INTEGER NOT NULL,         -- when it held
    updated_ms INTEGER NOT NULL,         -- the item's, when it was anchored
    is_here    INTEGER NOT NULL,         -- whether the worktree's history has the base
    is_pending INTEGER NOT NULL,         -- whether some of it is not committed yet
    reverted   TEXT NOT NULL,            -- commit that took it back, '' if none
    reverted_ms INTEGER NOT NULL,        -- when that was, 0 if never
    anchors    TEXT NOT NULL,            -- list of {origin, path, symbol, blob, fingerprint, …}
    PRIMARY KEY (worktree, item_id)
) WITHOUT ROWID;

CREATE INDEX anchor_set_base ON anchor_set (worktree, base);
CREATE INDEX anchor_set_unsettled ON anchor_set (worktree) WHERE is_here = 0 OR is_pending = 1;
CREATE INDEX anchor_set_reverted ON anchor_set (worktree, reverted) WHERE reverted <> '';

CREATE TABLE anchor_path (
    worktree INTEGER NOT NULL,           -- as in `anchor_set`
    path     TEXT NOT NULL,              -- where an anchor's file is, or was before its deletion
    item_id  INTEGER NOT NULL,           -- as in `anchor_set`
    PRIMARY KEY (worktree, path, item_id)
) WITHOUT ROWID;

CREATE INDEX anchor_path_item ON anchor_path (worktree, item_id);

-- Why an item may not hold any more, or what superseded it. Most items have no row.
CREATE TABLE validity (
    item_id     INTEGER NOT NULL,        -- whose
    worktree    INTEGER NOT NULL,        -- seen from which worktree; 0: from any
    reason      TEXT NOT NULL,           -- changed | renamed | deleted | reverted | elsewhere | …
    subject     TEXT NOT NULL,           -- symbol or path that it is about, '' if the item itself
    path        TEXT NOT NULL,           -- where a file is now, '' if where it was
    commit_hash TEXT NOT NULL,           -- commit that did it, '' if not known
    branch      TEXT NOT NULL,           -- branch where it holds, '' if here
    target      INTEGER NOT NULL,        -- item that takes its place, 0 if none
    share       REAL NOT NULL,           -- part of what the item touched, 0 to 1
    since_ms    INTEGER NOT NULL,        -- since when
    PRIMARY KEY (item_id, worktree, reason, subject)
) WITHOUT ROWID;

CREATE INDEX validity_path ON validity (path) WHERE path <> '';
CREATE INDEX validity_worktree ON validity (worktree);
