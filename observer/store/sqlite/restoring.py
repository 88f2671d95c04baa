"""Fills a new database with what was salvaged of others: log, projects, what no event tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

import apsw
import msgspec

from observer.model import Project
from observer.store.purging import Salvaged, Stored
from observer.store.sqlite.pages import VFS
from observer.store.sqlite.purging import PurgeWrites
from observer.store.sqlite.rows import PROJECT_FIELDS, marks, project_row, put
from observer.store.sqlite.sums import EVENT_COLUMNS, checksum

PUT_PROJECT = put("project", f"{', '.join(PROJECT_FIELDS)}, checksum")
APPEND = (
    f"INSERT INTO event ({', '.join(EVENT_COLUMNS)}, checksum)"
    f" VALUES ({marks(len(EVENT_COLUMNS) + 1)}) ON CONFLICT DO NOTHING"
)
_UNTOLD = ("usage", "llm_spending")
"""Tables that are not derived from the log, beside the projects."""


class Gap(NamedTuple):
    """Events that are missing in a row: their first and last `seq`, and when they happened."""

    first: int
    last: int
    from_ms: int | None
    until_ms: int | None


class RestoreWrites(PurgeWrites):
    """Rows of other databases, as they were."""

    def restore_rows(self, rows: Iterable[Salvaged], *, newer: bool) -> int:
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
            found = tuple(filter(None, msgspec.json.decode(roots, type=tuple[str, ...])))
            name = Path(found[-1]).name if found else f"project-{project_id}"
            uuid = f"00000000-0000-7000-8000-{project_id:012x}"
            project = Project(id=project_id, uuid=uuid, name=name, roots=found, created_ms=0)
            self._connection.execute(PUT_PROJECT, project_row(project))
        return len(rows)

    def restore_untold(self, database: Path) -> bool:
        """Add what another database holds that no event tells; False if it cannot be read."""
        try:
            tables = dict(_tables(database))
        except (apsw.Error, OSError):
            return False
        for table, rows in tables.items():
            many = self._connection.executemany
            if rows:
                many(f"INSERT OR IGNORE INTO {table} VALUES ({marks(len(rows[0]))})", rows)
        return True

    def continue_after(self, seq: int) -> None:
        """Give no event a `seq` that was used before."""
        (newest,) = self._row("SELECT coalesce(max(seq), 0) FROM event") or (0,)
        self._connection.execute("DELETE FROM sqlite_sequence WHERE name = 'event'")
        self._connection.execute(
            "INSERT INTO sqlite_sequence (name, seq) VALUES ('event', ?)", (max(newest, seq),)
        )

    def gaps(self, newest: int) -> list[Gap]:
        """Return what is missing of the events up to one; purged ones are missing too."""
        rows = self._rows("SELECT seq, at_ms FROM event ORDER BY seq")
        found, last, at_ms = [], 0, None
        for seq, this_ms in rows:
            if seq > last + 1:
                found.append(Gap(last + 1, seq - 1, at_ms, this_ms))
            last, at_ms = seq, this_ms
        if newest > last:
            found.append(Gap(last + 1, newest, at_ms, None))
        return found


def _tables(database: Path) -> Iterator[tuple[str, list[tuple[object, ...]]]]:
    address = f"{database.absolute().as_uri()}?mode=ro"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with closing(apsw.Connection(address, flags=flags, vfs=VFS)) as connection:
        for table in _UNTOLD:
            yield table, connection.execute(f"SELECT * FROM {table}").fetchall()


def _as_text(values: tuple[Stored, ...]) -> tuple[Stored, ...]:
    return tuple(_text(value) if isinstance(value, bytes) else value for value in values)


def _text(value: bytes) -> Stored:
    with suppress(UnicodeDecodeError):
        return value.decode()
    return value
