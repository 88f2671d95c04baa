-- What makes a share searchable as a whole: of each shared item its words and its meaning, as the
-- home that sent it knows them. Derived from the records: rows go with what they are of.
-- Installed by the owner of the database behind schema.sql, needs pgvector 0.8 in schema {vector}.

CREATE TABLE observer.part (
    name    text PRIMARY KEY,                      -- what was added to schema.sql since
    version integer NOT NULL
);
INSERT INTO observer.part VALUES ('search', 1);
GRANT SELECT ON observer.part TO {members};
GRANT USAGE ON SCHEMA {vector} TO {members};

CREATE TABLE observer.entry (
    origin     text NOT NULL,                      -- of the home that knows this of it
    uuid       text NOT NULL,
    project    text NOT NULL,                      -- its name
    kind       text NOT NULL,
    type       text NOT NULL,
    created_ms bigint NOT NULL,
    words      tsvector NOT NULL,                  -- codes of stems, as the local index has them
    model      text NOT NULL,                      -- '' without a vector
    dimensions integer NOT NULL CHECK (dimensions BETWEEN 0 AND 4000),
    embedding  {vector}.halfvec,
    role       name NOT NULL DEFAULT current_user,
    PRIMARY KEY (origin, uuid),
    CHECK (dimensions = coalesce({vector}.vector_dims(embedding), 0))
);
GRANT SELECT, DELETE,
    INSERT (origin, uuid, project, kind, type, created_ms, words, model, dimensions, embedding),
    UPDATE (project, kind, type, created_ms, words, model, dimensions, embedding)
    ON observer.entry TO {members};
CREATE INDEX entry_words ON observer.entry USING gin (words);
CREATE INDEX entry_uuid ON observer.entry (uuid text_pattern_ops);
CREATE INDEX record_uuid ON observer.record (uuid text_pattern_ops);

ALTER TABLE observer.part ENABLE ROW LEVEL SECURITY;
ALTER TABLE observer.part FORCE ROW LEVEL SECURITY;
ALTER TABLE observer.entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE observer.entry FORCE ROW LEVEL SECURITY;

CREATE POLICY members_read ON observer.part FOR SELECT TO {members} USING (true);
CREATE POLICY members_read ON observer.entry FOR SELECT TO {members} USING (true);
CREATE POLICY own_insert ON observer.entry FOR INSERT TO {members}
    WITH CHECK (
        role = current_user
        AND EXISTS (
            SELECT FROM observer.origin o
            WHERE o.origin = entry.origin AND o.role = current_user
        )
    );
CREATE POLICY own_update ON observer.entry FOR UPDATE TO {members}
    USING (role = current_user) WITH CHECK (role = current_user);
CREATE POLICY own_delete ON observer.entry FOR DELETE TO {members} USING (role = current_user);
CREATE POLICY owner_reads_tombstones ON observer.record FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_read ON observer.entry FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_delete ON observer.entry FOR DELETE TO CURRENT_USER USING (true);

CREATE FUNCTION observer.gone() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM observer.entry e USING added a WHERE a.kind = 'tombstone' AND e.uuid = a.uuid;
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION observer.gone() FROM PUBLIC;
CREATE TRIGGER gone AFTER INSERT ON observer.record
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION observer.gone();

CREATE FUNCTION observer.expelled() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM observer.entry WHERE role = NEW.role AND NEW.removed_at IS NOT NULL;
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION observer.expelled() FROM PUBLIC;
CREATE TRIGGER expelled AFTER UPDATE ON observer.member
    FOR EACH ROW EXECUTE FUNCTION observer.expelled();
