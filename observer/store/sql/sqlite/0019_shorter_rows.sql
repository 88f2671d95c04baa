-- Indexes with as much of a long key as is its own; the rest is compared in the rows.

DROP INDEX event_dedup;
DROP INDEX anchor_set_base;
DROP INDEX anchor_path_item;

CREATE INDEX event_dedup ON event (substr(dedup, -16), project_id) WHERE dedup <> '';
CREATE INDEX anchor_set_base ON anchor_set (worktree, substr(base, 1, 8));

-- Long texts of items are packed: observer/store/rows.py.

UPDATE item SET narrative = packed_event(CAST(narrative AS BLOB))
    WHERE file = '' AND length(narrative) >= 500 AND substr(narrative, 1, 1) <> char(1);
UPDATE item SET facts = packed_event(CAST(facts AS BLOB))
    WHERE file = '' AND length(facts) >= 500 AND substr(facts, 1, 1) <> char(1);
UPDATE item SET summary = packed_event(CAST(summary AS BLOB))
    WHERE file = '' AND length(summary) >= 500 AND substr(summary, 1, 1) <> char(1);
