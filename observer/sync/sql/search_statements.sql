-- What a member's program asks of a share that is searchable as a whole, by name.
-- {vector} is the schema of pgvector, {dimensions} those of the asking model.

-- name: pgvector
SELECT quote_ident(n.nspname), e.extversion FROM pg_extension e
JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector';

-- name: create_pgvector
CREATE EXTENSION IF NOT EXISTS vector;

-- name: may_use
SELECT has_schema_privilege(%s, %s, 'USAGE');

-- name: is_there
SELECT to_regclass('observer.part') IS NOT NULL;

-- name: version
SELECT version FROM observer.part WHERE name = 'search';

-- name: has_index
SELECT to_regclass('observer.entry_embedding_{dimensions}') IS NOT NULL;

-- name: create_index
CREATE INDEX entry_embedding_{dimensions} ON observer.entry
    USING hnsw ((embedding::{vector}.halfvec({dimensions})) {vector}.halfvec_cosine_ops)
    WHERE dimensions = {dimensions};

-- name: dimensions
SELECT DISTINCT dimensions FROM observer.entry WHERE dimensions > 0;

-- name: put
INSERT INTO observer.entry AS e
    (origin, uuid, project, kind, type, created_ms, words, model, dimensions, embedding)
SELECT %(origin)s, %(uuid)s, %(project)s, %(kind)s, %(type)s, %(created_ms)s,
    %(words)s::tsvector, %(model)s, %(dimensions)s, %(embedding)s::{vector}.halfvec
WHERE EXISTS (SELECT FROM observer.record r WHERE r.uuid = %(uuid)s AND r.role = current_user)
    AND NOT EXISTS (SELECT FROM observer.record r WHERE r.uuid = %(uuid)s AND r.kind = 'tombstone')
ON CONFLICT (origin, uuid) DO UPDATE SET
    project = excluded.project, kind = excluded.kind, type = excluded.type,
    created_ms = excluded.created_ms, words = excluded.words, model = excluded.model,
    dimensions = excluded.dimensions, embedding = excluded.embedding
WHERE (e.words, e.model, e.project, e.type, e.created_ms)
    IS DISTINCT FROM (excluded.words, excluded.model, excluded.project, excluded.type,
        excluded.created_ms)
    OR e.embedding::text IS DISTINCT FROM excluded.embedding::text;

-- name: sweep
DELETE FROM observer.entry e USING observer.record r
WHERE e.origin = %s AND r.uuid = e.uuid AND r.kind = 'tombstone';

-- name: settings
SELECT set_config('hnsw.iterative_scan', 'strict_order', true),
    set_config('hnsw.ef_search', '100', true),
    set_config('statement_timeout', %s, true);

-- name: counts
SELECT (
    SELECT count(*) FROM (
        SELECT FROM observer.entry e WHERE e.words @@ code::tsquery LIMIT %(most)s
    ) looked_at
)
FROM unnest(%(codes)s::text[]) WITH ORDINALITY AS each (code, place) ORDER BY place;

-- name: size
SELECT greatest(c.reltuples::bigint, (
    SELECT count(*) FROM (SELECT FROM observer.entry LIMIT %s) looked_at
))
FROM pg_class c WHERE c.oid = 'observer.entry'::regclass;

-- name: by_words
-- As the local index ranks (BM25): that a word is held counts most, so that an item which holds all
-- words of a query comes before one that has a single word in its title.
SELECT e.uuid
FROM (
    SELECT e.uuid, e.words, length(e.words) / avg(length(e.words)) OVER () AS longer
    FROM observer.entry e
    WHERE e.words @@ %(gate)s::tsquery
        AND (%(project)s::text IS NULL OR e.project = %(project)s)
        AND (%(kinds)s::text[] IS NULL OR e.kind = ANY (%(kinds)s))
        AND (%(types)s::text[] IS NULL OR e.type = ANY (%(types)s))
        AND (%(since)s::bigint IS NULL OR e.created_ms >= %(since)s)
        AND (%(until)s::bigint IS NULL OR e.created_ms < %(until)s)
) e
CROSS JOIN LATERAL (
    SELECT sum(rarity * held / (held + 0.3 * (0.3 + 0.9 * e.longer))) AS score
    FROM unnest(%(codes)s::text[], %(rarities)s::float8[]) AS each (code, rarity)
    CROSS JOIN ts_rank('{0.5, 0.5, 0.6, 1}', e.words, code::tsquery) AS held
) s
ORDER BY s.score DESC
LIMIT %(limit)s;

-- name: by_meaning
SELECT e.uuid
FROM observer.entry e
WHERE e.dimensions = {dimensions} AND e.model = %(model)s
    AND (%(project)s::text IS NULL OR e.project = %(project)s)
    AND (%(kinds)s::text[] IS NULL OR e.kind = ANY (%(kinds)s))
    AND (%(types)s::text[] IS NULL OR e.type = ANY (%(types)s))
    AND (%(since)s::bigint IS NULL OR e.created_ms >= %(since)s)
    AND (%(until)s::bigint IS NULL OR e.created_ms < %(until)s)
ORDER BY e.embedding::{vector}.halfvec({dimensions})
    OPERATOR({vector}.<=>) %(asked)s::{vector}.halfvec({dimensions})
LIMIT %(limit)s;

-- name: fetch
SELECT DISTINCT ON (r.uuid) r.uuid, coalesce(m.person, ''), r.body,
    {vector}.halfvec_send(e.embedding)
FROM observer.record r
LEFT JOIN observer.member m USING (role)
LEFT JOIN observer.entry e ON e.uuid = r.uuid AND e.origin = r.origin AND e.model = %(model)s
WHERE r.uuid = ANY (%(uuids)s::text[]) AND r.kind = 'item'
    AND NOT EXISTS (SELECT FROM observer.record t WHERE t.uuid = r.uuid AND t.kind = 'tombstone')
ORDER BY r.uuid, r.at_ms DESC, r.sequence DESC;

-- name: named
SELECT DISTINCT r.uuid FROM observer.record r
WHERE r.uuid LIKE %s || '%%' AND r.kind = 'item' LIMIT 2;
