-- Installed by the owner of the database behind withhold.sql; also into a share from before it.

-- Of what anybody deleted no member reads the content any more: its records go on as withheld ones.
CREATE FUNCTION observer.hash(one observer.record) RETURNS text LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp AS $$
    -- Of the record as JSON with sorted names, as the homes write it.
    SELECT encode(sha256(convert_to(format(
        '{"at_ms":%s,"author":%s,"body":%s,"kind":%s,"origin":%s,"previous":%s,"project":%s,"sequence":%s,"uuid":%s,"visibility":%s}',
        one.at_ms, to_json(one.author), to_json(one.body), to_json(one.kind), to_json(one.origin),
        to_json(one.previous), one.project, one.sequence, to_json(one.uuid),
        to_json(one.visibility)
    ), 'UTF8')), 'hex')
$$;
REVOKE ALL ON FUNCTION observer.hash(observer.record) FROM PUBLIC;
CREATE FUNCTION observer.empty(uuids text[]) RETURNS void LANGUAGE sql
    SET search_path = pg_catalog, pg_temp AS $$
    UPDATE observer.record r
        SET kind = 'withheld', project = '{"name":""}', author = '', at_ms = 0,
            body = coalesce((
                SELECT n.previous FROM observer.record n
                WHERE n.origin = r.origin AND n.sequence = r.sequence + 1
            ), observer.hash(r))
        WHERE r.uuid = ANY (uuids) AND r.kind = 'item'
            AND EXISTS (
                SELECT FROM observer.record t WHERE t.uuid = r.uuid AND t.kind = 'tombstone'
            )
$$;
REVOKE ALL ON FUNCTION observer.empty(text[]) FROM PUBLIC;
CREATE FUNCTION observer.forgotten() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- A version that comes after the deletion, too.
    PERFORM observer.empty(ARRAY(SELECT DISTINCT uuid FROM added));
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION observer.forgotten() FROM PUBLIC;
CREATE TRIGGER forgotten AFTER INSERT ON observer.record
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION observer.forgotten();
SELECT observer.empty(ARRAY(SELECT uuid FROM observer.record WHERE kind = 'tombstone'));
