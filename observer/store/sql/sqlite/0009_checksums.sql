-- Checksums of rows: a byte that changes on the disk is detected. checksum() is
-- observer.store.sqlite.rows'; from here on each page ends in a checksum too, see pages there.

ALTER TABLE event ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;   -- CRC-32 over the other columns
ALTER TABLE project ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0; -- CRC-32 likewise

UPDATE event SET checksum = checksum(
    seq, CAST(id AS BLOB), CAST(dedup AS BLOB), CAST(kind AS BLOB), CAST(client AS BLOB),
    project_id, session_id, CAST(root AS BLOB), CAST(branch AS BLOB), CAST(commit_hash AS BLOB),
    at_ms, CAST(data AS BLOB), stored_ms
);
UPDATE project SET checksum = checksum(
    id, uuid, name, roots, common_dirs, inodes, remotes, root_commit, earlier_names, created_ms
);
