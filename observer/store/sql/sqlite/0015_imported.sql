-- Whether an import may have brought what a hook reports late is known without reading a session.

CREATE INDEX event_imported ON event (session_id, at_ms) WHERE id GLOB 'import-*';
