-- Installed by the owner of the database behind schema.sql; also into a share from before it.

-- What a member purged: he takes the content out of his own records, whose chain goes on.
CREATE POLICY owner_read ON observer.record FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_withhold ON observer.record FOR UPDATE TO CURRENT_USER
    USING (true) WITH CHECK (kind = 'withheld');
CREATE FUNCTION observer.withhold(whose text, number bigint, hash text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE observer.record
        SET kind = 'withheld', project = '{"name":""}', author = '', at_ms = 0, body = hash
        WHERE origin = whose AND sequence = number AND kind = 'item' AND role = session_user;
    IF FOUND THEN
        INSERT INTO observer.audit (role, what, detail)
            VALUES (session_user, 'withhold', format('%s: %s', whose, number));
    END IF;
END $$;
REVOKE ALL ON FUNCTION observer.withhold(text, bigint, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION observer.withhold(text, bigint, text) TO {members};
