-- Whether an import may have brought what a hook reports late is known without reading a session,
-- and the newest of a type, however rare, without reading a project.

CREATE INDEX event_imported ON event (session_id, at_ms) WHERE id GLOB 'import-*';
CREATE INDEX item_type ON item (project_id, type, created_ms) WHERE deleted_ms IS NULL;
