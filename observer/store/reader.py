"""Reads of the store. Any failure of the engine is raised as `StoreUnavailable`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import apsw
from msgspec.structs import replace

from observer.core.errors import BadInput
from observer.core.filters import Filters
from observer.core.model import COLUMNS, UNASSIGNED, Item, ItemChange, Project, Session, item_id
from observer.core.value import TokenUsage, Value
from observer.store.items import (
    NO_PROJECT,
    VISIBLE,
    Condition,
    ItemReads,
    conditions,
    homes,
    is_notable,
)
from observer.store.log import LogReads
from observer.store.note_files import NoteFileReads
from observer.store.purging import PurgeReads
from observer.store.rows import (
    AMONG,
    ITEM_COLUMNS,
    KIND_TERM,
    PROJECT_FIELDS,
    PROJECT_TERM,
    SESSION_FIELDS,
    among,
    built,
    to_change,
    to_item,
    to_project,
    to_session,
)
from observer.store.shares import ShareReads


class Totals(Value):
    """Counts and sizes of the whole store; what belongs to no project counts as none."""

    events: int = 0
    items: int = 0
    sessions: int = 0
    active_sessions: int = 0
    projects: int = 0
    last_stored_ms: int | None = None
    """When the newest event was stored (its commit), not when it happened."""
    size_bytes: int = 0
    is_behind: bool = False
    """Whether items are what an older observer made of the log, until it is derived anew."""


class Spent(Value):
    """What some turns used together: those of a model, a day, or a session by a model.

    `name` is the model, "" where the client does not name it, or the day in the machine's zone;
    `place` the id of the project or session, of the one that handed the work over.
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

_SESSION = ", ".join(SESSION_FIELDS)
_PROJECT = ", ".join(PROJECT_FIELDS)
_TEXT_COLUMNS = "{" + " ".join(COLUMNS) + "}"
_UUID_PREFIX = 8
"""Fewest characters of a uuid that count as a handle."""
_INTEGER_DIGITS = 19
"""Longest decimal that may be an id; longer ones do not fit a 64-bit integer."""


class StoreReader(ItemReads, NoteFileReads, PurgeReads, LogReads, ShareReads):
    """All reads, over one connection inside a transaction."""

    def match(self, expression: str, filters: Filters, *, limit: int) -> list[int]:
        """Return the ids of items for which an FTS5 expression holds, highest first.

        Raises BadInput: the expression is not legal FTS5.
        """
        where, values = conditions(filters)
        inside = f"CROSS JOIN item ON item.id = item_words.rowid AND {where}"
        try:
            places = (f"place : ({' OR '.join(names)})" for names in _places(filters))
            return self._column(
                f"SELECT item_words.rowid FROM item_words {inside} WHERE item_words MATCH ?"
                " ORDER BY item_words.rowid DESC LIMIT ?",
                (*values, " AND ".join((f"{_TEXT_COLUMNS} : ({expression})", *places)), limit),
            )
        except apsw.SQLError as error:
            raise BadInput(
                f"not a legal query: {error}", hint="quote what is not a word"
            ) from error

    def terms_with_prefix(self, prefix: str, *, limit: int) -> list[str]:
        """Return indexed terms (folded, stemmed) that begin so, the most frequent first."""
        between = "term >= ? AND term < ? ORDER BY doc DESC LIMIT ?"
        values = (prefix, prefix + "\U0010ffff", limit)
        return self._column(f"SELECT term FROM item_vocabulary WHERE {between}", values)

    def epoch(self) -> str:
        """Return the name of the numbering of changes; a rebuild begins another one."""
        return self.meta("epoch")

    def newest_change(self) -> int:
        """Return the number of the last change; 0 without any."""
        return int(self._value("SELECT max(change) FROM item", default=0))

    def changes(self, *, after: int, model: str, limit: int) -> list[ItemChange]:
        """Return the next changes after a number, with vectors of a model: each item's last one."""
        rows = self._rows(
            f"SELECT change, vector, {ITEM_COLUMNS} FROM item"
            " LEFT JOIN item_vector ON item_id = item.id AND model = ?"
            " WHERE change > ? ORDER BY change LIMIT ?",
            (model, after, limit),
        )
        return [to_change(row) for row in rows]

    def without_vector(
        self, model: str, *, dimensions: int, after: int, limit: int
    ) -> list[ItemChange]:
        """Return the next changes after a number whose items have no vector of `dimensions`."""
        rows = self._rows(
            f"SELECT change, NULL, {ITEM_COLUMNS} FROM item"
            " WHERE change > ? AND deleted_ms IS NULL AND kind <> 'record' AND NOT EXISTS"
            " (SELECT 1 FROM item_vector"
            " WHERE item_id = item.id AND model = ? AND length(vector) >= ?)"
            " ORDER BY change LIMIT ?",
            (after, model, dimensions, limit),
        )
        return [to_change(row) for row in rows]

    def vectors(self) -> Mapping[str, int]:
        """Return how many items have a vector, by model."""
        return dict(self._rows("SELECT model, count(*) FROM item_vector GROUP BY model"))

    def recent(self, filters: Filters, *, limit: int) -> list[Item]:
        """Return items, newest first by (`created_ms`, `id`)."""
        return self.items(self.ids(filters, limit=limit))

    def ids(self, filters: Filters, *, limit: int) -> list[int]:
        """Return the ids of items, newest first."""
        places = self._each_home(filters)
        if filters.project_id is not None and not filters.kinds and len(filters.types) > 1:
            # Each type in the order of its index: else all that happened there would be read.
            each = [(place, at, name) for place, at in places for name in filters.types]
            places = [(f"{place} AND type = ?", [*at, name]) for place, at, name in each]
            filters = replace(filters, types=())
        where, values = conditions(filters)
        return self._newest(where, values, places, limit=limit)

    def _each_home(self, filters: Filters) -> list[Condition]:
        """Return the places that filters name, each with an index of what they let through."""
        has_index = filters.layer == "rule" or filters.scope == "personal"
        if filters.project_id is not None or has_index or not is_notable(filters):
            return homes(filters)
        projects = self._rows("SELECT id FROM project")
        return [NO_PROJECT, *(("project_id = ?", list(row)) for row in projects)]

    def around(self, anchor: Item, *, owner: str, before: int, after: int) -> list[Item]:
        """Return observations, summaries and notes of the anchor's project around it in time.

        Oldest first by (`created_ms`, `id`), the anchor included; personal ones of the owner only.
        """
        at = (anchor.project_id, owner, anchor.created_ms, anchor.id)
        same = f"project_id IS ? AND {VISIBLE} AND deleted_ms IS NULL AND kind <> 'inference' AND"
        earlier = self._items(
            f"{same} (created_ms, id) < (?, ?) ORDER BY created_ms DESC, id DESC LIMIT ?",
            (*at, before),
        )
        later = self._items(
            f"{same} (created_ms, id) > (?, ?) ORDER BY created_ms, id LIMIT ?", (*at, after)
        )
        return [*reversed(earlier), anchor, *later]

    def resolve(self, handle: str) -> list[int]:
        """Return the ids of items whose decimal id, uuid or uuid prefix (8+ characters) fits."""
        if handle.isascii() and handle.isdigit() and len(handle) < _INTEGER_DIGITS:
            found = self.items([int(handle)])
            if found:
                return [found[0].id]
        if len(handle) < _UUID_PREFIX:
            return []
        low = handle.lower()
        return self._column(
            "SELECT id FROM item WHERE uuid >= ? AND uuid < ? AND deleted_ms IS NULL"
            " ORDER BY id LIMIT 10",
            (low, low + "\uffff"),
        )

    def keyed(self, key: str, filters: Filters) -> Item | None:
        """Return the note stored under a key in exactly this project (or none) and owner."""
        return self._note("key = ? AND key <> ''", key, filters)

    def same_content(self, content_hash: str, filters: Filters) -> Item | None:
        """Return a living note with this hash in exactly this project (or none) and owner."""
        return self._note("content_hash = ?", content_hash, filters)

    def _note(self, condition: str, value: str, filters: Filters) -> Item | None:
        found = self._items(
            f"{condition} AND kind = 'note' AND project_id IS ? AND owner = ?"
            " AND deleted_ms IS NULL ORDER BY id LIMIT 1",
            (value, filters.project_id, filters.owner),
        )
        return found[0] if found else None

    def projects(self) -> list[Project]:
        """Return all projects, by id."""
        return list(map(to_project, self._rows(f"SELECT {_PROJECT} FROM project ORDER BY id")))

    def project_names(self) -> dict[int | None, str]:
        """Return the names of all projects by id; without the rest, which takes five times."""
        return dict(self._rows("SELECT id, name FROM project"))

    def session(self, session_id: int) -> Session | None:
        """Return one session."""
        return next(iter(self._sessions("id = ?", (session_id,))), None)

    def _sessions(self, where: str, values: Sequence[object]) -> list[Session]:
        rows = self._rows(f"SELECT {_SESSION} FROM session WHERE {where}", values)
        return list(map(to_session, rows))

    def session_names(self, ids: Sequence[int]) -> dict[int, str]:
        """Return the clients' own ids of sessions, by ours; unknown ones are left out."""
        rows = self._rows(f"SELECT id, external FROM session WHERE id {AMONG}", (among(ids),))
        return dict(rows)

    def sessions_of(self, client: str) -> frozenset[int]:
        """Return the ids of all sessions of a client."""
        # The index of clients' own ids has all that is asked for, so no session is read.
        named = "SELECT id FROM session INDEXED BY session_external WHERE client = ?"
        return frozenset(self._column(named, (client,)))

    def runs(self, client: str, external: str) -> dict[int, int]:
        """Return the newest session under a client's own id in each project, by that project."""
        rows = self._rows(
            "SELECT project_id, max(id) FROM session WHERE external = ? AND client = ? GROUP BY 1",
            (external, client),
        )
        return dict(rows)

    def session_called(self, external: str) -> Session | None:
        """Return the newest session under a client's own id, in whatever client and project."""
        found = self._sessions("external = ? ORDER BY id DESC LIMIT 1", (external,))
        return next(iter(found), None)

    def sessions(
        self,
        *,
        project_id: int | None = None,
        active: bool = False,
        since_ms: int | None = None,
        limit: int = 20,
    ) -> list[Session]:
        """Return sessions, last active first: `active` ones, and those active since a time."""
        # Each condition only where it is asked for: else no index serves.
        conditions = [
            *(["project_id = ?1"] if project_id is not None else []),
            *(["status = 'active'"] if active else []),
            *(["last_ms >= ?2"] if since_ms is not None else []),
        ]
        return self._sessions(
            f"{' AND '.join(conditions) or '1'} ORDER BY last_ms DESC, id DESC LIMIT ?3",
            (project_id, since_ms, limit),
        )

    def has_others(self, session: Session) -> bool:
        """Return True if another branch, folder or person may have changed its project since."""
        rows = self._rows(
            "SELECT 1 FROM session WHERE project_id = ? AND last_ms >= ?"
            " AND (branch <> ? OR cwd <> ?) LIMIT 1",
            (session.project_id, session.started_ms, session.branch, session.cwd),
        ) or self._rows(
            f"SELECT 1 FROM item WHERE person {AMONG} AND person <> '' AND deleted_ms IS NULL"
            " AND project_id = ? AND id > ? LIMIT 1",
            (among(self.people()), session.project_id, item_id(session.id)),
        )
        return bool(rows)

    def children(self, session: Session, *, limit: int) -> list[Session]:
        """Return the newest sessions that a session of their client and project started, by id."""
        found = self._sessions(
            "project_id = ? AND last_ms >= ?"
            " AND parent = ? AND client = ? AND external <> parent ORDER BY id DESC LIMIT ?",
            (session.project_id, session.started_ms, session.external, session.client, limit),
        )
        return found[::-1]

    def idle_sessions(self, *, before_ms: int) -> list[Session]:
        """Return active sessions whose last event is older than `before_ms`, oldest first."""
        silent = "status = 'active' AND last_ms < ? ORDER BY last_ms, id"
        return self._sessions(silent, (before_ms,))

    def chosen(self, kind: str) -> dict[int, str]:
        """Return what a person chose, by id: "hide" or "pin" of `given`, own names of `title`."""
        return dict(self._rows("SELECT id, value FROM chosen WHERE kind = ?", (kind,)))

    def all_items(self) -> Iterator[Item]:
        """Yield every living item by id."""
        sql = f"SELECT {ITEM_COLUMNS} FROM item WHERE deleted_ms IS NULL ORDER BY id"
        for row in self._connection.execute(sql):
            yield to_item(row)

    def totals(self) -> Totals:
        """Return counts and sizes; cheap enough to ask every second."""
        (row,) = self._rows(
            "SELECT (SELECT count(*) FROM event),"
            " (SELECT count(*) FROM item WHERE deleted_ms IS NULL),"
            " (SELECT count(*) FROM session),"
            " (SELECT count(*) FROM session WHERE status = 'active'),"
            f" (SELECT count(*) FROM project WHERE id <> {UNASSIGNED}),"
            " (SELECT stored_ms FROM event ORDER BY seq DESC LIMIT 1),"
            " (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size),"
            " EXISTS (SELECT 1 FROM meta WHERE key = 'behind')"
        )
        return built(Totals, row)

    def spent(self, since_ms: int, *, project_id: int | None, sessions: int) -> list[Spent]:
        """Return what turns since a time used, each once; at most so many sessions, the dearest."""
        asked = {"since_ms": since_ms, "project": project_id, "sessions": sessions}
        return [
            Spent(by=by, place=place, name=name, turns=turns, usage=TokenUsage(*counts))
            for by, place, name, turns, *counts in self._connection.execute(_SPENT, asked)
        ]

    def integrity(self) -> str:
        """Return ``"ok"``, or the first complaint of SQLite's own check."""
        return str(self._value("PRAGMA quick_check(1)"))


def _places(filters: Filters) -> Iterator[list[str]]:
    if filters.project_id is not None:
        projects = [filters.project_id, *([None] if filters.with_global else [])]
        yield [PROJECT_TERM.format(project or 0) for project in projects]
    # Nearly every item is an observation: as a term that would cost a scan, as a condition nothing.
    if is_notable(filters):
        yield list(map(KIND_TERM.format, filters.kinds))
