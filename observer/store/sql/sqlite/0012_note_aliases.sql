-- Other names by which links mean a note. Its file is read again for them.

CREATE TABLE note_alias (
    item      INTEGER NOT NULL,          -- as in `note_file`
    place     INTEGER NOT NULL,          -- its place among those of the note, from 0
    name      TEXT NOT NULL,             -- an alias, or the file's name where the title is another
    title_key TEXT NOT NULL,             -- as titles compare: model.title_key
    PRIMARY KEY (item, place)
) WITHOUT ROWID;

CREATE INDEX note_alias_title ON note_alias (title_key);

UPDATE note_file SET checksum = '' WHERE gone_ms IS NULL;
