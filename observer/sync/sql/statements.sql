-- What a member's program asks of the server, by name.

-- name: role
SELECT rolsuper, rolbypassrls, pg_has_role(c.relowner, 'MEMBER')
FROM pg_roles r
LEFT JOIN pg_namespace n ON n.nspname = 'observer'
LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = 'record'
WHERE r.rolname = current_user;

-- name: has_room
SELECT 2 * (SELECT count(*) FROM pg_stat_activity) < current_setting('max_connections')::int;

-- name: is_there
SELECT to_regclass('observer.record') IS NOT NULL;

-- name: has_withhold
SELECT to_regprocedure('observer.withhold(text, bigint, text)') IS NOT NULL;

-- name: has_forgotten
SELECT to_regprocedure('observer.forgotten()') IS NOT NULL;

-- name: has_apart
SELECT EXISTS (
    SELECT FROM pg_database d, aclexplode(d.datacl) a JOIN pg_roles r ON r.oid = a.grantee
    WHERE d.datname = current_database() AND a.privilege_type = 'CONNECT'
        AND r.rolname LIKE 'observer\_members\_%'
);

-- name: format
SELECT version FROM observer.format;

-- name: listen
LISTEN observer;

-- name: backend
SELECT pg_backend_pid();

-- name: newest
SELECT o.origin, r.sequence FROM observer.origin o
CROSS JOIN LATERAL (
    SELECT sequence FROM observer.record WHERE origin = o.origin ORDER BY sequence DESC LIMIT 1
) r
WHERE o.origin <> %s;

-- name: claim
INSERT INTO observer.origin (origin) VALUES (%s) ON CONFLICT DO NOTHING;

-- name: is_own
SELECT role = current_user FROM observer.origin WHERE origin = %s;

-- name: last
SELECT coalesce(max(sequence), 0) FROM observer.record WHERE origin = %s;

-- name: prepare
CREATE TEMPORARY TABLE arriving (
    origin text, sequence bigint, previous text, kind text, uuid text, project text, author text,
    visibility text, at_ms bigint, body text
) ON COMMIT DROP;

-- name: copy
COPY pg_temp.arriving FROM STDIN;

-- name: append
INSERT INTO observer.record
    (origin, sequence, previous, kind, uuid, project, author, visibility, at_ms, body)
SELECT origin, sequence, previous, kind, uuid, project, author, visibility, at_ms, body
FROM pg_temp.arriving ORDER BY sequence
ON CONFLICT DO NOTHING;

-- name: pull
SELECT r.origin, r.sequence, r.previous, r.kind, r.uuid, r.project, r.author, r.visibility,
    r.at_ms, r.body
FROM observer.origin o
LEFT JOIN unnest(%(origins)s::text[], %(sequences)s::bigint[]) AS known (origin, sequence)
    USING (origin)
CROSS JOIN LATERAL (
    SELECT * FROM observer.record one
    -- Bounded and in order for each origin: else all records may be read to find that none is new.
    WHERE one.origin = o.origin AND one.sequence > coalesce(known.sequence, 0)
        AND one.sequence <= coalesce(known.sequence, 0) + %(limit)s
    ORDER BY one.origin, one.sequence LIMIT %(limit)s
) r
ORDER BY o.origin, r.sequence
LIMIT %(limit)s;

-- name: people
SELECT o.origin, m.person FROM observer.origin o JOIN observer.member m USING (role)
WHERE o.origin = ANY(%s);

-- name: me
SELECT person FROM observer.member WHERE role = current_user;

-- name: mine
SELECT origin, sequence, previous, kind, uuid, project, author, visibility, at_ms, body
FROM observer.record WHERE role = current_user AND kind = 'item' AND uuid = ANY(%s);

-- name: withhold
SELECT observer.withhold(%s, %s, %s);

-- name: members
SELECT role, person FROM observer.member WHERE removed_at IS NULL ORDER BY person, role;

-- name: invite
SELECT observer.invite(%s, %s, %s);

-- name: remove
SELECT observer.remove(%s);
