-- What turns used, as replies report it: packed events cannot be summed. It follows the log by itself.

CREATE TABLE spent (
    seq         INTEGER PRIMARY KEY,     -- the reply; or what began a session, for its model
    session_id  INTEGER,                 -- seq of the session's first event
    at_ms       INTEGER NOT NULL,        -- when it happened
    model       TEXT NOT NULL,           -- as the client names it, '' if it does not
    input       INTEGER,                 -- tokens read; NULL of what began a session
    output      INTEGER,                 -- tokens written
    cache_read  INTEGER,                 -- tokens read from the provider's cache
    cache_write INTEGER                  -- tokens written to it
);

CREATE INDEX spent_at ON spent (at_ms) WHERE input IS NOT NULL;
CREATE INDEX spent_model ON spent (session_id, at_ms) WHERE model <> '';
CREATE INDEX session_child ON session (last_ms) WHERE parent <> '';
CREATE INDEX session_time ON session (last_ms);

-- Damaged data is no JSON.
CREATE VIEW spent_in_log AS
    SELECT seq, session_id, at_ms,
        coalesce(text ->> iif(kind = 'reply', '$.model', '$.body.model'), '') AS model,
        iif(uses, coalesce(text ->> '$.body.usage.input', 0), NULL) AS input,
        iif(uses, coalesce(text ->> '$.body.usage.output', 0), NULL) AS output,
        iif(uses, coalesce(text ->> '$.body.usage.cache_read', 0), NULL) AS cache_read,
        iif(uses, coalesce(text ->> '$.body.usage.cache_write', 0), NULL) AS cache_write
    FROM (
        SELECT seq, session_id, at_ms, kind, text, text ->> '$.body.usage' IS NOT NULL AS uses
        FROM (
            SELECT *, CAST(event_json(
                CAST(data AS BLOB), CAST(id AS BLOB), CAST(dedup AS BLOB), CAST(client AS BLOB),
                CAST(root AS BLOB), CAST(branch AS BLOB), CAST(commit_hash AS BLOB)
            ) AS TEXT) AS text
            FROM event WHERE kind IN ('reply', 'session-start')
        ) WHERE json_valid(text)
    ) WHERE uses OR (kind = 'session-start' AND text ->> '$.body.model' <> '');

INSERT INTO spent SELECT * FROM spent_in_log;

CREATE TRIGGER spent_appended AFTER INSERT ON event
    WHEN new.kind IN ('reply', 'session-start')
BEGIN
    INSERT INTO spent SELECT * FROM spent_in_log WHERE seq = new.seq;
END;

CREATE TRIGGER spent_rewritten AFTER UPDATE OF data ON event
    WHEN new.kind IN ('reply', 'session-start')
BEGIN
    DELETE FROM spent WHERE seq = new.seq;
    INSERT INTO spent SELECT * FROM spent_in_log WHERE seq = new.seq;
END;

CREATE TRIGGER spent_taken_out AFTER DELETE ON event
BEGIN
    DELETE FROM spent WHERE seq = old.seq;
END;
