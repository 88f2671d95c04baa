"""What models read and wrote, as clients report it with each turn, summed by the engine."""

from __future__ import annotations

from typing import Literal

from observer.core.value import TokenUsage, Value
from observer.store.connection import Reads


class Spent(Value):
    """What some turns used together.

    `by` says which turns: those of a model (`name`, empty where the client does not name it) in a
    project, those of a day (`name`, in the machine's zone), or those of a session by a model;
    `place` is the id of the project or session. A session is the one that handed the work over.
    """

    by: Literal["model", "day", "session"]
    place: int | None
    name: str
    turns: int
    usage: TokenUsage


# A session that was forked or resumed repeats earlier turns, with their times and counts: they
# count for the one that was active last.
_SUMS = "count(*), sum(input), sum(output), sum(cache_read), sum(cache_write)"
_SPENT = f"""
WITH RECURSIVE above (id, root, client, parent, depth) AS (
    SELECT id, id, client, parent, 0 FROM session WHERE parent <> '' AND last_ms >= :since_ms
    UNION ALL
    SELECT above.id, up.id, up.client, up.parent, depth + 1 FROM above
        CROSS JOIN session AS up ON up.external = above.parent AND up.client = above.client
        WHERE depth < 20 AND up.id <> above.root
),
root (id, root) AS (SELECT id, root FROM (SELECT id, root, max(depth) FROM above GROUP BY id)),
turn AS MATERIALIZED (
    SELECT session_id, project_id, max(last_ms), at_ms, input, output, cache_read, cache_write,
        iif(model <> '', model, coalesce((
            SELECT model FROM spent AS named
            WHERE named.session_id = spent.session_id AND model <> '' ORDER BY at_ms LIMIT 1
        ), '')) AS model
    FROM spent CROSS JOIN session ON session.id = session_id
    WHERE input IS NOT NULL AND at_ms >= :since_ms
        AND (:project IS NULL OR project_id = :project)
    GROUP BY at_ms, client, input, output, cache_read, cache_write
),
ran AS MATERIALIZED (
    SELECT coalesce(root, session_id) AS id, turn.* FROM turn LEFT JOIN root ON root.id = session_id
)
SELECT 'model', project_id, model, {_SUMS} FROM turn GROUP BY project_id, model
UNION ALL
SELECT 'day', NULL, date(at_ms / 1000, 'unixepoch', 'localtime'), {_SUMS} FROM turn GROUP BY 3
UNION ALL
SELECT 'session', id, model, {_SUMS} FROM ran WHERE id IN (
        SELECT id FROM ran GROUP BY id
        ORDER BY sum(input + output + cache_read + cache_write) DESC LIMIT :sessions
    )
    GROUP BY id, model
"""


class SpentReads(Reads):
    """Reads of what turns used."""

    def spent(self, since_ms: int, *, project_id: int | None, sessions: int) -> list[Spent]:
        """Return what turns since a time used, each once; at most so many sessions, the dearest."""
        asked = {"since_ms": since_ms, "project": project_id, "sessions": sessions}
        return [
            Spent(by=by, place=place, name=name, turns=turns, usage=TokenUsage(*counts))
            for by, place, name, turns, *counts in self._connection.execute(_SPENT, asked)
        ]
