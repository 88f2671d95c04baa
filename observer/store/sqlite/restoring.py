"""Restoring rows into a database: salvaged ones after damage, rederived ones after a purge.

`RestoreWrites` fills a new database with the log, the projects and the tables that are not derived
from events. `AdoptWrites` removes events from a live database and adopts what was derived without
them in another one, named `anew`: equal rows keep their vectors, and the rest is replaced in one
short transaction.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import apsw
from msgspec.structs import replace

from observer.core.model import Item, Project
from observer.core.value import decode_json
from observer.store.maintenance import SalvagedRow, Stored
from observer.store.sqlite.connection import NumberedConnection, reading
from observer.store.sqlite.purging import PurgeWrites
from observer.store.sqlite.rows import (
    EVENT_COLUMNS,
    ITEM_COLUMNS,
    PROJECT_FIELDS,
    SESSION_FIELDS,
    Row,
    as_blobs,
    checksum,
    marks,
    project_row,
    put,
    to_item,
)
from observer.store.sqlite.validity import AMONG, among

PUT_PROJECT = put("project", f"{', '.join(PROJECT_FIELDS)}, checksum")
APPEND = (
    f"INSERT INTO event ({', '.join(EVENT_COLUMNS)}, checksum)"
    f" VALUES ({marks(len(EVENT_COLUMNS) + 1)}) ON CONFLICT DO NOTHING"
)
_UNDERIVED = ("llm_spending", "note_file", "note_claim", "note_relation", "note_alias")
"""Tables that are not derived from the log, beside the projects."""


class MissingEvents(NamedTuple):
    """Events that are missing in a row: their first and last `seq`, and when they happened."""

    first: int
    last: int
    from_ms: int | None
    until_ms: int | None


class RestoreWrites(PurgeWrites):
    """Rows of other databases, as they were."""

    def restore_rows(self, rows: Iterable[SalvagedRow], *, newer: bool) -> int:
        """Add rows that are not there; return how many events that were.

        Projects that are there are replaced if the rows are `newer`.
        """
        added = 0
        known = {row[0] for row in self._rows("SELECT id FROM project")}
        for row in rows:
            values = _as_text(row.values)
            if row.table == "event":
                self._connection.execute(APPEND, (*values, checksum(*values)))
                added += self._connection.changes()
            elif newer or row.key not in known:
                self._connection.execute(PUT_PROJECT, (*values, checksum(*values)))
        self.grown += added
        return added

    def name_unknown_projects(self) -> int:
        """Make projects anew of which only events are left; return how many."""
        rows = list(
            self._rows(
                "SELECT project_id, json_group_array(DISTINCT root) FROM event WHERE project_id"
                " NOT IN (SELECT id FROM project) GROUP BY project_id"
            )
        )
        for project_id, roots in rows:
            found = tuple(filter(None, decode_json(roots, tuple[str, ...])))
            name = Path(found[-1]).name if found else f"project-{project_id}"
            uuid = f"00000000-0000-7000-8000-{project_id:012x}"
            project = Project(id=project_id, uuid=uuid, name=name, roots=found, created_ms=0)
            self._connection.execute(PUT_PROJECT, project_row(project))
        return len(rows)

    def restore_underived(self, database: Path) -> bool:
        """Copy the tables that are not derived from another database; False if it is unreadable."""
        try:
            tables = dict(_tables(database))
        except (apsw.Error, OSError):
            return False
        for table, (columns, rows) in tables.items():
            own = {row[0] for row in self._rows("SELECT name FROM pragma_table_info(?)", (table,))}
            if own.issuperset(columns):  # else it is of another schema
                into = f"{table} ({', '.join(columns)})"
                self._connection.executemany(
                    f"INSERT OR IGNORE INTO {into} VALUES ({marks(len(columns))})", rows
                )
        return True

    def continue_after(self, seq: int) -> None:
        """Give no event a `seq` that was used before."""
        (newest,) = self._row("SELECT coalesce(max(seq), 0) FROM event") or (0,)
        self._connection.execute("DELETE FROM sqlite_sequence WHERE name = 'event'")
        self._connection.execute(
            "INSERT INTO sqlite_sequence (name, seq) VALUES ('event', ?)", (max(newest, seq),)
        )

    def gaps(self, newest: int) -> list[MissingEvents]:
        """Return what is missing of the events up to one; purged ones are missing too."""
        rows = self._rows(
            "SELECT seq, at_ms FROM event UNION ALL"
            " SELECT item / 4, created_ms FROM note_file ORDER BY seq"
        )
        found, last, at_ms = [], 0, None
        for seq, this_ms in rows:
            if seq > last + 1:
                found.append(MissingEvents(last + 1, seq - 1, at_ms, this_ms))
            last, at_ms = seq, this_ms
        if newest > last:
            found.append(MissingEvents(last + 1, newest, at_ms, None))
        return found


def _tables(database: Path) -> Iterator[tuple[str, tuple[list[str], list[Row]]]]:
    """Yield tables that are not derived, with the names of their columns."""
    with closing(reading(database)) as connection:
        for table in filter(partial(connection.table_exists, "main"), _UNDERIVED):
            named = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
            columns = [str(row[0]) for row in named]
            yield table, (columns, connection.execute(f"SELECT * FROM {table}").fetchall())


def stored_rows(database: Path) -> Iterator[SalvagedRow]:
    """Yield the projects and the events of a database of any schema.

    Raises:
        apsw.Error: it is damaged.
    """
    with closing(reading(database)) as connection:
        projects = f"SELECT {', '.join(PROJECT_FIELDS)} FROM project"
        events = f"SELECT {as_blobs(EVENT_COLUMNS)} FROM event ORDER BY seq"
        for table, query in (("project", projects), ("event", events)):
            row: Row
            for row in connection.execute(query):
                yield SalvagedRow(table, row[0], row)


def facts(database: Path) -> dict[str, str]:
    """Return what was noted of a database of any schema, by name."""
    with closing(reading(database)) as connection:
        return dict(connection.execute("SELECT key, value FROM meta").fetchall())  # type: ignore[arg-type]  # texts


def _as_text(values: tuple[Stored, ...]) -> tuple[Stored, ...]:
    return tuple(_text(value) if isinstance(value, bytes) else value for value in values)


def _text(value: bytes) -> Stored:
    with suppress(UnicodeDecodeError):
        return value.decode()
    return value


_SESSIONS = ", ".join(SESSION_FIELDS)
_GONE = (
    f"FROM item WHERE project_id {AMONG} AND id NOT IN (SELECT id FROM anew.item)"
    " AND id NOT IN (SELECT item FROM note_file)"
)
_CHANGED = (
    f"SELECT {ITEM_COLUMNS} FROM anew.item WHERE id IN (SELECT id FROM (SELECT {ITEM_COLUMNS}"
    f" FROM anew.item WHERE project_id {AMONG} EXCEPT SELECT {ITEM_COLUMNS} FROM main.item))"
)
_OF_ITEMS = (
    ("item_words", "rowid"),
    ("item_vector", "item_id"),
    ("link", "source"),
    ("anchor_set", "item_id"),
    ("anchor_path", "item_id"),
    ("validity", "item_id"),
    ("validity", "target"),
    ("item", "id"),
)
_NOTED = "(SELECT item FROM note_file)"
_REACHED = f"""
CREATE TEMP TABLE reached AS
    WITH own AS (SELECT seq, session_id FROM event WHERE project_id {AMONG})
    SELECT id FROM item
    WHERE id NOT IN {_NOTED}
        AND (file <> '' OR id / 4 IN (SELECT seq FROM own)
            OR session_id IN (SELECT session_id FROM own))
"""
_JUDGED = """
INSERT INTO reached SELECT DISTINCT item_id FROM validity
    WHERE target IN (SELECT id FROM reached) AND item_id NOT IN (SELECT id FROM reached)
"""
"""Notes of files that others have superseded: they are read again, and judged anew."""
_VIEWS = f"(SELECT id FROM worktree WHERE project_id {AMONG})"
_CLEAR = (
    # A work tree that is not known is followed anew, without waiting for an event there.
    f"DELETE FROM anchor_path WHERE worktree IN {_VIEWS}",
    f"DELETE FROM anchor_set WHERE worktree IN {_VIEWS}",
    f"DELETE FROM validity WHERE worktree IN {_VIEWS}",
    f"DELETE FROM worktree WHERE project_id {AMONG}",
    f"DELETE FROM session WHERE id IN (SELECT session_id FROM event WHERE project_id {AMONG})",
    f"DELETE FROM project_state WHERE project_id {AMONG}",
    f"DELETE FROM forgotten WHERE item_id / 4 IN (SELECT seq FROM event WHERE project_id {AMONG})",
    f"DELETE FROM note_event WHERE seq IN (SELECT seq FROM event WHERE project_id {AMONG})",
)
_NEW_EPOCH = "UPDATE meta SET value = lower(hex(randomblob(8))) WHERE key = 'epoch'"
"""The index has the words in files of its own, and makes these anew."""
_WITHOUT_DELETED_WORDS = "INSERT INTO item_words (item_words) VALUES ('optimize')"
"""Until then the words of what went stand in the segments of the full-text index."""
_FOLDED = (("session", _SESSIONS), ("project_state", "project_id, state"))
_OF_NOTES = ("forgotten", "note_event", "triage")
"""What is done to notes and items is in `anew` of all projects."""


class AdoptWrites(RestoreWrites):
    """What `SqliteStore.adopt` does inside its transaction; the other database is `anew`."""

    def take_out(self, seqs: Collection[int], projects: Collection[int]) -> int:
        """Take events out of the log, and items that `anew` has not; return how many events.

        No byte of these is left.
        """
        removed = self.delete_events(seqs)
        self._delete_rows([row[0] for row in self._rows(f"SELECT id {_GONE}", (among(projects),))])
        self._connection.execute(f"{_NEW_EPOCH}; {_WITHOUT_DELETED_WORDS}")
        return removed

    def delete_items(self, items: Collection[int]) -> None:
        """See `PurgeWriter.delete_items`."""
        self._delete_rows(items)
        self._connection.execute(f"DELETE FROM note_event WHERE item_id {AMONG}", (among(items),))
        self._connection.execute(f"DELETE FROM triage; {_NEW_EPOCH}; {_WITHOUT_DELETED_WORDS}")

    def _delete_rows(self, items: Collection[int]) -> None:
        for table, column in _OF_ITEMS:
            self._connection.execute(f"DELETE FROM {table} WHERE {column} {AMONG}", (among(items),))

    def clear_projects(self, projects: Collection[int]) -> None:
        """See `PurgeWriter.clear_projects`."""
        chosen = (among(projects),)
        self._connection.execute(_REACHED, chosen)
        self._connection.execute(_JUDGED)
        for table, column in _OF_ITEMS:
            self._connection.execute(
                f"DELETE FROM {table} WHERE {column} IN (SELECT id FROM reached)"
            )
        for table in ("note_claim", "note_relation", "note_alias"):
            self._connection.execute(f"DELETE FROM {table} WHERE item NOT IN {_NOTED}")
        for statement in _CLEAR:
            self._connection.execute(statement, chosen)
        self._connection.execute(
            f"DROP TABLE reached; DELETE FROM triage; {_NEW_EPOCH}; {_WITHOUT_DELETED_WORDS}"
        )

    def derived_anew(self, projects: Collection[int]) -> list[Item]:
        """Return the items of projects that `anew` has otherwise; those it has not as deleted."""
        chosen = (among(projects),)
        gone = map(to_item, self._rows(f"SELECT {ITEM_COLUMNS} {_GONE}", chosen))
        changed = map(to_item, self._rows(_CHANGED, chosen))
        return [*(replace(one, deleted_ms=one.updated_ms) for one in gone), *changed]

    def take_over(self, projects: Collection[int]) -> None:
        """Take over what else `anew` derived of projects, and drop those without events."""
        chosen = among(projects)
        for table, columns in _FOLDED:
            self._connection.execute(
                f"DELETE FROM {table} WHERE project_id {AMONG}; INSERT INTO {table} ({columns})"
                f" SELECT {columns} FROM anew.{table} WHERE project_id {AMONG}",
                (chosen, chosen),
            )
        for table in _OF_NOTES:
            self._connection.execute(
                f"DELETE FROM {table}; INSERT INTO {table} SELECT * FROM anew.{table}"
            )
        self.drop_unused_projects()


@contextmanager
def attached(
    alone: Callable[[], AbstractContextManager[NumberedConnection]], anew: Path
) -> Iterator[None]:
    """Attach a database to the writer as `anew` for a while; no transaction may be open."""
    with alone() as writer:
        writer.execute("ATTACH ? AS anew", (os.fspath(anew),))
    try:
        yield
    finally:
        with alone() as writer:
            writer.execute("DETACH anew")
