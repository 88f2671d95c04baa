-- Links between items, the error that an item is about, and the state of each project.

ALTER TABLE item ADD COLUMN links TEXT NOT NULL DEFAULT '[]';   -- list of {kind, target, title}
ALTER TABLE item ADD COLUMN signature TEXT NOT NULL DEFAULT ''; -- normalised error, '' if none

CREATE INDEX item_signature ON item (signature, created_ms)
    WHERE signature <> '' AND deleted_ms IS NULL;

-- The links of living items once more, for the way back.
CREATE TABLE link (
    source INTEGER NOT NULL,             -- the item that holds the link
    place  INTEGER NOT NULL,             -- its place among the links of that item, from 0
    kind   TEXT NOT NULL,                -- fixes | evidence | reverts | replaces | supersedes | …
    target INTEGER NOT NULL,             -- the item it leads to, 0 where only its title is known
    title  TEXT NOT NULL,                -- what the target is called, '' if its id says it
    PRIMARY KEY (source, place)
) WITHOUT ROWID;

CREATE INDEX link_target ON link (target) WHERE target <> 0;

CREATE TABLE project_state (
    project_id INTEGER PRIMARY KEY REFERENCES project (id), -- the project
    state      BLOB NOT NULL             -- the interpreter's memory of it across sessions, JSON
);
