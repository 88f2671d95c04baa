-- What became of items that were shown to sessions. It is no part of the log and says nothing of
-- what happened, only of what helped: a rebuild keeps it, and deleting it all loses nothing else.

CREATE TABLE usage (
    item_id    INTEGER NOT NULL,         -- the item; ids follow from the log and outlive a rebuild
    session_id INTEGER NOT NULL,         -- seq of the session's first event, 0 if unknown
    sort       TEXT NOT NULL,            -- shown | fetched | cited | edited
    at_ms      INTEGER NOT NULL,         -- when, the last time
    PRIMARY KEY (item_id, session_id, sort)
) WITHOUT ROWID;

CREATE INDEX usage_session ON usage (session_id, sort);
