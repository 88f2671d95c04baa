-- What a person chose for items and sessions by hand. It is not derived from the log.

CREATE TABLE chosen (
    kind  TEXT NOT NULL,                 -- 'given': of an item; 'title': of a session
    id    INTEGER NOT NULL,              -- its id
    value TEXT NOT NULL,                 -- 'hide' or 'pin'; the session's own title
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;
