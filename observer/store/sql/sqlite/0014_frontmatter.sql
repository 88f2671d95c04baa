-- Lists of notes, and filters of their frontmatter, are answered without the notes' text.

CREATE INDEX item_frontmatter ON item (id, tags, metadata) WHERE file <> '' AND deleted_ms IS NULL;
