-- Which file has a name is looked up for each note that is read, among files that are gone too.

CREATE INDEX note_file_at ON note_file (path, folder);
CREATE INDEX note_file_named ON note_file (permalink, folder);
