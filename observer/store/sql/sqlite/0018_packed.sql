-- Events as JSON and anchors are packed: observer/store/rows.py. A damaged event stays as it is.

UPDATE event SET
    data = packed_event(
        CAST(data AS BLOB), CAST(id AS BLOB), CAST(dedup AS BLOB), CAST(client AS BLOB),
        CAST(root AS BLOB), CAST(branch AS BLOB), CAST(commit_hash AS BLOB)
    ),
    checksum = checksum(
        seq, CAST(id AS BLOB), CAST(dedup AS BLOB), CAST(kind AS BLOB), CAST(client AS BLOB),
        project_id, session_id, CAST(root AS BLOB), CAST(branch AS BLOB),
        CAST(commit_hash AS BLOB), at_ms,
        packed_event(
            CAST(data AS BLOB), CAST(id AS BLOB), CAST(dedup AS BLOB), CAST(client AS BLOB),
            CAST(root AS BLOB), CAST(branch AS BLOB), CAST(commit_hash AS BLOB)
        ),
        stored_ms
    )
WHERE checksum = checksum(
    seq, CAST(id AS BLOB), CAST(dedup AS BLOB), CAST(kind AS BLOB), CAST(client AS BLOB),
    project_id, session_id, CAST(root AS BLOB), CAST(branch AS BLOB), CAST(commit_hash AS BLOB),
    at_ms, CAST(data AS BLOB), stored_ms
);
UPDATE anchor_set SET anchors = packed_event(CAST(anchors AS BLOB));
