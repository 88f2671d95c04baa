-- What memories say of entities, and whose items are others'. Files, symbols, errors and titles have
-- indexes of their own: `relation` has what an agent passed, under the names that it gave.

CREATE TABLE relation (
    item       INTEGER NOT NULL,         -- the memory that says it
    place      INTEGER NOT NULL,         -- its place among those of the memory, from 0
    source     TEXT NOT NULL,            -- an entity, as the agent named it
    kind       TEXT NOT NULL,            -- what it has to do with the target: works_at, uses …
    target     TEXT NOT NULL,            -- another entity
    source_key TEXT NOT NULL,            -- as spellings of a name compare: model.spelling_key
    target_key TEXT NOT NULL,            -- the same of the target
    PRIMARY KEY (item, place)
) WITHOUT ROWID;

CREATE INDEX relation_source ON relation (source_key);
CREATE INDEX relation_target ON relation (target_key);
CREATE INDEX item_person ON item (person, project_id)
    WHERE person <> '' AND deleted_ms IS NULL;
