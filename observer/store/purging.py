"""Taking events out of the log for good, and putting rows back: after a purge, and after damage.

Whoever deletes events derives everything anew in the same transaction, and has the file rewritten
after it; or adopts what was derived in another database, named `anew`: equal rows keep their
vectors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import apsw
from msgspec.structs import replace

from observer.core.model import UNASSIGNED, Item, Project
from observer.core.routes import SAID
from observer.core.value import decode_json
from observer.store.connection import Reads, reading
from observer.store.rows import (
    AMONG,
    AROUND,
    EVENT_COLUMNS,
    EVENT_JSON,
    ITEM_COLUMNS,
    LONG_TEXTS,
    PROJECT_FIELDS,
    SAME,
    SESSION_FIELDS,
    Row,
    SalvagedRow,
    Stored,
    among,
    as_blobs,
    as_stored,
    checksum,
    event_json,
    marks,
    project_row,
    put,
    to_item,
)
from observer.store.shares import CHOSEN_OF_NOTHING, UNDERIVED

ALL_MS = 1 << 62
"""A time after all events."""


class StoredEvent(NamedTuple):
    """One row of the log, maybe damaged: `held` is all in it, `data` the event as JSON."""

    seq: int
    id: str
    dedup: str
    kind: str
    client: str
    project_id: int
    session_id: int | None
    at_ms: int
    data: bytes
    held: bytes


class StoredText(NamedTuple):
    """The texts of one row of the log, `data` as JSON; `is_whole` if it fits its checksum."""

    seq: int
    dedup: str
    client: str
    root: str
    branch: str
    commit: str
    data: bytes
    is_whole: bool


class AgedEvent(NamedTuple):
    """Age and place of an event, what an intent is `of`, the `tool` of it or an outcome.

    `bytes` is what the event takes, packed.
    """

    seq: int
    kind: str
    of: str
    tool: str
    project_id: int
    session_id: int | None
    at_ms: int
    bytes: int


class DerivedItem(NamedTuple):
    """What was derived from an event, deleted items included."""

    id: int
    kind: str
    type: str
    title: str
    session_id: int | None


# As blobs, as in `rows.RECORDED_COLUMNS`.
_STORED = (
    "SELECT seq, id, dedup, kind, client, project_id, session_id, at_ms,"
    f" {EVENT_JSON}, CAST({' || char(10) || '.join(AROUND)} AS BLOB) FROM event ORDER BY seq"
)

_TEXTS = (
    f"SELECT dedup, client, root, branch, commit_hash, {EVENT_JSON}, checksum,"
    f" {as_blobs(EVENT_COLUMNS)} FROM event WHERE seq > ? ORDER BY seq LIMIT ?"
)
_NOTED = " UNION ALL ".join(
    f"SELECT {item}, CAST({' || char(10) || '.join(columns)} AS BLOB) FROM {table}"
    for item, columns, table in (
        ("item", ("path", "permalink", "title", "type"), "note_file"),
        ("item", ("category", "text", "tags", "context"), "note_claim"),
        ("item", ("kind", "target", "context"), "note_relation"),
        ("item", ("name",), "note_alias"),
        ("id", ("title", "narrative", "tags", "concepts", "metadata"), "item WHERE file <> ''"),
    )
)
_PUT_TEXTS = (
    "UPDATE event SET dedup = ?1, client = ?2, root = ?3, branch = ?4, commit_hash = ?5,"
    " data = packed_event(?6, CAST(id AS BLOB), ?1, ?2, ?3, ?4, ?5) WHERE seq = ?7"
)
_SPACES = {
    table: use
    for use, tables in {
        "events": "event spent",
        "items": "item link relation note_file note_claim note_relation note_alias chosen",
        "sessions": "session project_state",
        "words": "item_words",
        "vectors": "item_vector",
        "validity": "anchor_set anchor_path validity",
    }.items()
    for table in tables.split()
}
"""What the pages of a table and its indexes are for."""
_ON_NOTES = ", ".join(f"'{kind}'" for kind in sorted(SAID))
_KEPT = (
    f"SELECT checksum, {as_blobs(EVENT_COLUMNS)} FROM event"
    f" WHERE seq > ? AND (project_id {AMONG} OR kind IN ({_ON_NOTES})) ORDER BY seq"
)
_PROJECTS = f"SELECT {', '.join(PROJECT_FIELDS)} FROM project"
_SEAL = f"UPDATE event SET checksum = checksum({as_blobs(EVENT_COLUMNS)}) WHERE seq = ?"

_TEXT = f"CAST({EVENT_JSON} AS TEXT)"
# No import, no commit that was read from a history, and nothing that we stored or saw ourselves.
_LAST_REPORTS = f"""
SELECT client, max(at_ms) FROM (
    SELECT client, last_ms AS at_ms, project_id FROM session WHERE NOT coalesce((SELECT id FROM
    event WHERE session_id = session.id ORDER BY at_ms DESC, seq DESC LIMIT 1) GLOB 'import-*', 0)
    UNION ALL
    SELECT client, at_ms, project_id FROM (SELECT * FROM event ORDER BY seq DESC LIMIT 20000)
    WHERE id NOT GLOB 'import-*' AND (client <> 'git'
        OR json_valid({_TEXT}) AND json_extract({_TEXT}, '$.route') GLOB 'git/*')
) WHERE client NOT IN ('', 'observer', 'watch') AND coalesce(project_id = ?, TRUE) GROUP BY client
"""

# Damaged data is no JSON; what it was of is unknown.
_AGED = f"""
SELECT seq, kind,
    CASE WHEN kind = 'intent' AND json_valid({_TEXT})
        THEN coalesce(json_extract({_TEXT}, '$.body.of.kind'), '') ELSE '' END,
    CASE WHEN kind IN ('intent', 'outcome') AND json_valid({_TEXT})
        THEN coalesce(json_extract({_TEXT}, '$.body.tool'), '') ELSE '' END,
    project_id, session_id, at_ms, octet_length(data)
FROM event WHERE at_ms < ? ORDER BY seq
"""


class MissingEvents(NamedTuple):
    """Events that are missing in a row: their first and last `seq`, and when they happened."""

    first: int
    last: int
    from_ms: int | None
    until_ms: int | None


_SESSIONS = ", ".join(SESSION_FIELDS)
_GONE = (
    f"FROM item WHERE project_id {AMONG} AND id NOT IN (SELECT id FROM anew.item)"
    " AND id NOT IN (SELECT item FROM note_file)"
)
_GONE_FROM_NOWHERE = (
    f"SELECT id FROM item WHERE project_id IS NULL AND id / 4 {AMONG}"
    " AND id NOT IN (SELECT id FROM anew.item)"
)
"""Notes that belong to no project, though an event of one made them."""
_CHANGED = (
    f"SELECT {ITEM_COLUMNS} FROM anew.item WHERE id IN (SELECT id FROM (SELECT {ITEM_COLUMNS}"
    f" FROM anew.item WHERE project_id {AMONG} EXCEPT SELECT {ITEM_COLUMNS} FROM main.item))"
)
_OF_ITEMS = (
    ("item_words", "rowid"),
    ("item_vector", "item_id"),
    ("link", "source"),
    ("relation", "item"),
    ("anchor_set", "item_id"),
    ("anchor_path", "item_id"),
    ("validity", "item_id"),
    ("validity", "target"),
    ("item", "id"),
)
_IN_FILES = "(SELECT item FROM note_file)"
_REACHED = f"""
CREATE TEMP TABLE reached AS
    WITH own AS (SELECT seq, session_id FROM event WHERE project_id {AMONG})
    SELECT id FROM item
    WHERE id NOT IN {_IN_FILES}
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
NEW_EPOCH = "UPDATE meta SET value = lower(hex(randomblob(8))) WHERE key = 'epoch'"
"""The index has the words in files of its own, and makes these anew."""
_OF_NOTES = ("forgotten", "note_event", "triage")
"""What is done to notes and items is in `anew` of all projects."""
PUT_PROJECT = put("project", f"{', '.join(PROJECT_FIELDS)}, checksum")
_IS_NEW = "NOT EXISTS (SELECT 1 FROM event WHERE project_id = ?6 AND " + SAME.format("?3") + ")"
APPEND = (
    f"INSERT INTO event ({', '.join(EVENT_COLUMNS)}, checksum)"
    f" SELECT {marks(len(EVENT_COLUMNS) + 1)} WHERE {_IS_NEW} ON CONFLICT DO NOTHING"
)
"""Adds an event, unless its id, or its `dedup` in its project, is known."""


class PurgeReads(Reads):
    """What a purge has to know."""

    def stored_events(self) -> Iterator[StoredEvent]:
        """Yield every row of the log, by `seq`."""
        row: Row
        for row in self._connection.execute(_STORED):
            *known, data, around = row
            yield StoredEvent._make((*known, data, data + b"\n" + around))

    def stored_texts(self, *, after_seq: int, limit: int) -> list[StoredText]:
        """Return the texts of the next rows of the log, by `seq`."""
        found = []
        for row in self._rows(_TEXTS, (after_seq, limit)):
            texts, (known, *values) = row[:6], row[6:]
            found.append(StoredText._make((values[0], *texts, known == checksum(*values))))
        return found

    def noted_texts(self) -> Iterator[tuple[int, bytes]]:
        """Yield texts that were read from files of note folders, with the ids of their notes."""
        yield from self._connection.execute(_NOTED)

    def aged_events(self, *, before_ms: int = ALL_MS) -> Iterator[AgedEvent]:
        """Yield the rows of the log that happened before a time, by `seq`."""
        yield from map(AgedEvent._make, self._connection.execute(_AGED, (before_ms,)))

    def remaining_rows(
        self, projects: Collection[int], *, but: Collection[int], after_seq: int = 0
    ) -> Iterator[SalvagedRow]:
        """Yield all projects, and whole events of some, with acts on notes of all, but for some."""
        for values in self._rows(_PROJECTS):
            yield SalvagedRow("project", values[0], values)
        for known, *values in self._connection.execute(_KEPT, (after_seq, among(projects))):
            if values[0] not in but and known == checksum(*values):
                yield SalvagedRow("event", values[0], tuple(values))

    def last_reports(self, project_id: int | None = None) -> Mapping[str, int]:
        """Return when each client last reported something, by its name; in one project, or any.

        Without a session only what is among the newest 20,000 events.
        """
        return dict(self._rows(_LAST_REPORTS, (project_id,)))

    def space(self) -> Mapping[str, int]:
        """Return the bytes of the database file by what takes them; reads all of it."""
        found = dict.fromkeys((*_SPACES.values(), "other", "free pages"), 0)
        tables: dict[str, str] = dict(self._rows("SELECT name, tbl_name FROM sqlite_schema"))
        taken = "SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE"
        for name, size_bytes in self._rows(taken):
            table = str(tables.get(name) or name)
            words = "item_words" if table.startswith("item_words") else table
            found[_SPACES.get(words, "other")] += size_bytes
        free = self._value("PRAGMA freelist_count") * self._value("PRAGMA page_size")
        return found | {"free pages": free}

    def items_from(self, seqs: Collection[int]) -> list[DerivedItem]:
        """Return the items whose first event is one of these, by id."""
        columns, begun = ", ".join(DerivedItem._fields), f"id / 4 {AMONG} ORDER BY id"
        rows = self._rows(f"SELECT {columns} FROM item WHERE {begun}", (among(seqs),))
        return list(map(DerivedItem._make, rows))

    def sessions_named(self, name: str) -> list[int]:
        """Return the ids of sessions with this id: ours, or the client's own."""
        either = "external = ?1 OR CAST(id AS TEXT) = ?1"
        return self._column(f"SELECT id FROM session WHERE {either} ORDER BY id", (name,))

    def meta(self, name: str) -> str:
        """Return what was noted of this database under a name; empty if nothing was."""
        return str(self._value("SELECT value FROM meta WHERE key = ?", (name,), ""))


class PurgeWrites(PurgeReads):
    """Changes of the log itself; `grown` is by how many events it has grown, or shrunk."""

    grown = 0

    def delete_events(self, seqs: Collection[int]) -> int:
        """Take events out of the log, and what was chosen for items of them; return how many."""
        self._connection.execute(f"DELETE FROM event WHERE seq {AMONG}", (among(seqs),))
        gone = self._connection.changes()
        self._connection.execute(CHOSEN_OF_NOTHING)
        self.grown -= gone
        return gone

    def drop_note_files(self, items: Collection[int]) -> None:
        """Forget files of note folders by their notes; what was read stays until a rebuild."""
        self._connection.execute(f"DELETE FROM note_file WHERE item {AMONG}", (among(items),))

    def put_texts(self, text: StoredText) -> None:
        """Replace the texts of a row; its checksum fits again, unless it did not before."""
        values = (text.dedup, text.client, text.root, text.branch, text.commit, text.data)
        self._connection.execute(_PUT_TEXTS, (*values, text.seq))
        if text.is_whole:
            self._connection.execute(_SEAL, (text.seq,))

    def drop_unused_projects(self) -> int:
        """Delete projects of which the log holds no event any more; return how many."""
        self._connection.execute(
            "DELETE FROM project WHERE id <> ? AND id NOT IN (SELECT project_id FROM event)"
            " AND id NOT IN (SELECT project_id FROM item WHERE file <> '' AND project_id NOT NULL)",
            (UNASSIGNED,),
        )
        return self._connection.changes()

    def put_meta(self, name: str, value: str) -> None:
        """Note something of this database; a rebuild keeps it."""
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def restore_rows(self, rows: Iterable[SalvagedRow], *, newer: bool) -> int:
        """Add rows that are not there, and `newer` projects; return how many events that were."""
        added = 0
        known = set(self._column("SELECT id FROM project"))
        for row in rows:
            values = tuple(map(_as_text, row.values))
            if row.table == "event":
                values = as_stored(values)
                self._connection.execute(APPEND, (*values, checksum(*values)))
                added += self._connection.changes()
            elif newer or row.key not in known:
                self._connection.execute(PUT_PROJECT, (*values, checksum(*values)))
        self.grown += added
        return added

    def name_unknown_projects(self) -> int:
        """Make projects anew of which only events are left; return how many."""
        rows = self._rows(
            "SELECT project_id, json_group_array(DISTINCT root) FROM event WHERE project_id"
            " NOT IN (SELECT id FROM project) GROUP BY project_id"
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
        tables: list[tuple[str, list[str], list[Row]]] = []
        try:
            with closing(reading(database)) as other:
                for table in filter(partial(other.table_exists, "main"), UNDERIVED):
                    named = other.execute("SELECT name FROM pragma_table_info(?)", (table,))
                    columns = [str(row[0]) for row in named]
                    tables.append((table, columns, [*other.execute(f"SELECT * FROM {table}")]))
        except (apsw.Error, OSError):
            return False
        for table, columns, rows in tables:
            own = self._column("SELECT name FROM pragma_table_info(?)", (table,))
            if set(own).issuperset(columns):  # else it is of another schema
                into = f"{table} ({', '.join(columns)})"
                self._connection.executemany(
                    f"INSERT OR IGNORE INTO {into} VALUES ({marks(len(columns))})", rows
                )
        return True

    def continue_after(self, seq: int) -> None:
        """Give no event a `seq` that was used before."""
        newest = self._value("SELECT max(seq) FROM event", default=0)
        self._connection.execute(
            "DELETE FROM sqlite_sequence WHERE name = 'event';"
            " INSERT INTO sqlite_sequence (name, seq) VALUES ('event', ?)",
            (max(newest, seq),),
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

    def take_out(self, seqs: Collection[int], projects: Collection[int]) -> int:
        """Take events out of the log, and items that `anew` has not; return how many events."""
        removed = self.delete_events(seqs)
        gone = self._column(f"SELECT id {_GONE}", (among(projects),))
        self._delete_rows([*gone, *self._column(_GONE_FROM_NOWHERE, (among(seqs),))])
        self._connection.execute(NEW_EPOCH)
        return removed

    def delete_items(self, items: Collection[int]) -> None:
        """Take out items from which nothing else follows, and all that was decided on signals."""
        self._delete_rows(items)
        self._connection.execute(f"DELETE FROM note_event WHERE item_id {AMONG}", (among(items),))
        self._connection.execute(f"DELETE FROM triage; {NEW_EPOCH}")

    def _delete_rows(self, items: Collection[int]) -> None:
        for table, column in _OF_ITEMS:
            self._connection.execute(f"DELETE FROM {table} WHERE {column} {AMONG}", (among(items),))

    def clear_projects(self, projects: Collection[int]) -> None:
        """Delete what was derived from the events of some projects, and what belongs to none.

        Those events are still there, with all of their sessions. Notes of files that were not
        dropped stay.
        """
        chosen = (among(projects),)
        self._connection.execute(_REACHED, chosen)
        self._connection.execute(_JUDGED)
        for table, column in _OF_ITEMS:
            self._connection.execute(
                f"DELETE FROM {table} WHERE {column} IN (SELECT id FROM reached)"
            )
        for table in ("note_claim", "note_relation", "note_alias"):
            self._connection.execute(f"DELETE FROM {table} WHERE item NOT IN {_IN_FILES}")
        for statement in _CLEAR:
            self._connection.execute(statement, chosen)
        self._connection.execute(f"DROP TABLE reached; DELETE FROM triage; {NEW_EPOCH}")

    def drop_deleted_words(self) -> None:
        """Write the full-text index anew: until then it holds the words of what is gone."""
        self._connection.execute("INSERT INTO item_words (item_words) VALUES ('optimize')")

    def derived_anew(self, projects: Collection[int]) -> list[Item]:
        """Return the items of projects that `anew` has otherwise; those it has not as deleted."""
        chosen = (among(projects),)
        gone = map(to_item, self._rows(f"SELECT {ITEM_COLUMNS} {_GONE}", chosen))
        changed = map(to_item, self._rows(_CHANGED, chosen))
        return [*(replace(one, deleted_ms=one.updated_ms) for one in gone), *changed]

    def take_over(self, projects: Collection[int]) -> None:
        """Take over what else `anew` derived of projects, and drop those without events."""
        chosen = among(projects)
        for table, columns in (("session", _SESSIONS), ("project_state", "project_id, state")):
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


def stored_rows(database: Path) -> Iterator[SalvagedRow]:
    """Yield the projects and the events of a database of any schema; apsw.Error: it is damaged."""
    with closing(reading(database)) as connection:
        events = f"SELECT {as_blobs(EVENT_COLUMNS)} FROM event ORDER BY seq"
        for table, query in (("project", _PROJECTS), ("event", events)):
            row: Row
            for row in connection.execute(query):
                yield SalvagedRow(table, row[0], row)


def packed_texts(database: Path) -> Iterator[bytes]:
    """Yield what a database of any schema holds packed, as far as the engine can read it."""
    with suppress(apsw.Error), closing(reading(database)) as connection:
        for row in connection.execute(f"SELECT {as_blobs(('data', *AROUND))} FROM event"):
            yield event_json(*row)
        for column, table in (("anchors", "anchor_set"), *((text, "item") for text in LONG_TEXTS)):
            for row in connection.execute(f"SELECT CAST({column} AS BLOB) FROM {table}"):
                yield event_json(*row)


def facts(database: Path) -> dict[str, str]:
    """Return what was noted of a database of any schema, by name."""
    with closing(reading(database)) as connection:
        return dict(connection.execute("SELECT key, value FROM meta").fetchall())  # type: ignore[arg-type]  # texts


def _as_text(value: Stored) -> Stored:
    with suppress(UnicodeDecodeError):
        return value.decode() if isinstance(value, bytes) else value
    return value
