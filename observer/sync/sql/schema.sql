-- A share on a PostgreSQL server: 15 or later. Installed once, by the owner of the database.
-- {members} is the role that all members of this share belong to, and nobody logs in as.
--
-- What a role may do follows from its membership in {members} and from current_user: from nothing
-- that a client can set. Tables are only appended to; no member may update, delete or truncate,
-- but for the content of his own records: see withhold.

CREATE SCHEMA observer;
REVOKE ALL ON SCHEMA observer FROM PUBLIC;
CREATE ROLE {members} NOLOGIN;
GRANT USAGE ON SCHEMA observer TO {members};

CREATE TABLE observer.format (
    version integer NOT NULL -- a program that knows a lower one leaves the share alone
);
INSERT INTO observer.format VALUES (1);
GRANT SELECT ON observer.format TO {members};

CREATE TABLE observer.member (
    role       name PRIMARY KEY,                   -- one login a person
    person     text NOT NULL,                      -- the name shown
    added_at   timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz                         -- NULL while a member
);
GRANT SELECT (role, person, removed_at) ON observer.member TO {members};

CREATE TABLE observer.origin (
    origin text PRIMARY KEY,                       -- uuid of a home
    role   name NOT NULL DEFAULT current_user      -- whose home it is: who appends to its chain
);
GRANT SELECT, INSERT (origin) ON observer.origin TO {members};

CREATE TABLE observer.record (
    origin     text   NOT NULL,
    sequence   bigint NOT NULL CHECK (sequence > 0),
    previous   text   NOT NULL,                    -- hash of the record before, '' of the first
    kind       text   NOT NULL,
    uuid       text   NOT NULL,
    project    text   NOT NULL,                    -- JSON
    author     text   NOT NULL,
    visibility text   NOT NULL CHECK (visibility IN ('project', 'team')),
    at_ms      bigint NOT NULL,
    body       text   NOT NULL,                    -- JSON, '' of a tombstone
    role       name   NOT NULL DEFAULT current_user,
    PRIMARY KEY (origin, sequence)
);
GRANT SELECT,
    INSERT (origin, sequence, previous, kind, uuid, project, author, visibility, at_ms, body)
    ON observer.record TO {members};

CREATE TABLE observer.audit (
    at     timestamptz NOT NULL DEFAULT now(),
    role   name NOT NULL,                          -- who logged in
    what   text NOT NULL,
    detail text NOT NULL
);
GRANT SELECT ON observer.audit TO {members};

ALTER TABLE observer.format ENABLE ROW LEVEL SECURITY;
ALTER TABLE observer.format FORCE ROW LEVEL SECURITY;
ALTER TABLE observer.member ENABLE ROW LEVEL SECURITY;
ALTER TABLE observer.member FORCE ROW LEVEL SECURITY;
ALTER TABLE observer.origin ENABLE ROW LEVEL SECURITY;
ALTER TABLE observer.origin FORCE ROW LEVEL SECURITY;
ALTER TABLE observer.record ENABLE ROW LEVEL SECURITY;
ALTER TABLE observer.record FORCE ROW LEVEL SECURITY;
ALTER TABLE observer.audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE observer.audit FORCE ROW LEVEL SECURITY;

CREATE POLICY members_read ON observer.format FOR SELECT TO {members} USING (true);
CREATE POLICY owner_all ON observer.member TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY members_read ON observer.member FOR SELECT TO {members} USING (true);
CREATE POLICY members_read ON observer.origin FOR SELECT TO {members} USING (true);
-- Not as {members} itself, which PostgreSQL 15 lets its members become: that would be nobody's.
CREATE POLICY own_insert ON observer.origin FOR INSERT TO {members}
    WITH CHECK (role = current_user AND current_user = session_user);
CREATE POLICY members_read ON observer.record FOR SELECT TO {members} USING (true);
CREATE POLICY own_insert ON observer.record FOR INSERT TO {members}
    WITH CHECK (
        role = current_user
        AND EXISTS (
            SELECT FROM observer.origin o
            WHERE o.origin = record.origin AND o.role = current_user
        )
    );
CREATE POLICY owner_insert ON observer.audit FOR INSERT TO CURRENT_USER WITH CHECK (true);
CREATE POLICY owner_read ON observer.audit FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY own_read ON observer.audit FOR SELECT TO {members} USING (role = current_user);

CREATE FUNCTION observer.appended() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO observer.audit (role, what, detail)
        SELECT session_user, 'push', format('%s: %s to %s', origin, min(sequence), max(sequence))
        FROM added GROUP BY origin;
    IF FOUND THEN
        PERFORM pg_notify('observer', '');
    END IF;
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION observer.appended() FROM PUBLIC;
CREATE TRIGGER appended AFTER INSERT ON observer.record
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION observer.appended();

CREATE FUNCTION observer.unchangeable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what happened is not changed';
END $$;
REVOKE ALL ON FUNCTION observer.unchangeable() FROM PUBLIC;
CREATE TRIGGER unchangeable BEFORE UPDATE OR DELETE OR TRUNCATE ON observer.audit
    FOR EACH STATEMENT EXECUTE FUNCTION observer.unchangeable();

-- For the owner: it runs with the rights of who calls it.
CREATE FUNCTION observer.invite(login name, verifier text, who text) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('CREATE ROLE %I LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD %L', login, verifier);
    EXECUTE format('GRANT {members} TO %I', login);
    INSERT INTO observer.member (role, person) VALUES (login, who);
    INSERT INTO observer.audit (role, what, detail) VALUES (session_user, 'invite', login);
END $$;
REVOKE ALL ON FUNCTION observer.invite(name, text, text) FROM PUBLIC;

CREATE FUNCTION observer.remove(login name) RETURNS boolean
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE observer.member SET removed_at = now() WHERE role = login AND removed_at IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    EXECUTE format('REVOKE {members} FROM %I', login);
    EXECUTE format('ALTER ROLE %I NOLOGIN PASSWORD NULL', login);
    INSERT INTO observer.audit (role, what, detail) VALUES (session_user, 'remove', login);
    -- An open connection has no right any more, but would still be woken.
    PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = login;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION observer.remove(name) FROM PUBLIC;
