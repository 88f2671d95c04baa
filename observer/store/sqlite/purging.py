"""Deleting events from the log: reads and writes of `observer.store.maintenance`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from observer.core.model import UNASSIGNED
from observer.core.order import SAID
from observer.store.maintenance import AgedEvent, DerivedItem, SalvagedRow, StoredEvent, StoredText
from observer.store.sqlite.queries import Selecting
from observer.store.sqlite.rows import (
    EVENT_COLUMNS,
    PROJECT_FIELDS,
    Row,
    as_blobs,
    checksum,
)
from observer.store.sqlite.validity import AMONG, among

_AROUND = ("id", "dedup", "client", "root", "branch", "commit_hash")
# As blobs, as in `rows.RECORDED_COLUMNS`.
_STORED = (
    "SELECT seq, id, dedup, kind, client, project_id, session_id, at_ms, CAST(data AS BLOB),"
    f" CAST({' || char(10) || '.join(_AROUND)} AS BLOB) FROM event ORDER BY seq"
)

_TEXTS = (
    "SELECT dedup, client, root, branch, commit_hash, CAST(data AS BLOB), checksum,"
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
    "UPDATE event SET dedup = ?, client = ?, root = ?, branch = ?, commit_hash = ?,"
    " data = CAST(? AS TEXT) WHERE seq = ?"
)
_SPACES = {
    "event": "events",
    "item": "items",
    "link": "items",
    "session": "sessions",
    "project_state": "sessions",
    "item_words": "words",
    "item_vector": "vectors",
    "note_file": "items",
    "note_claim": "items",
    "note_relation": "items",
    "note_alias": "items",
    "anchor_set": "validity",
    "anchor_path": "validity",
    "validity": "validity",
}
"""What the pages of a table and its indexes are for."""
_ON_NOTES = ", ".join(f"'{kind}'" for kind in sorted(SAID))
_KEPT = (
    f"SELECT checksum, {as_blobs(EVENT_COLUMNS)} FROM event"
    f" WHERE seq > ? AND (project_id {AMONG} OR kind IN ({_ON_NOTES})) ORDER BY seq"
)
_PROJECTS = f"SELECT {', '.join(PROJECT_FIELDS)} FROM project"
_SEAL = f"UPDATE event SET checksum = checksum({as_blobs(EVENT_COLUMNS)}) WHERE seq = ?"

_LAST_REPORTS = """
SELECT client, max(at_ms) FROM (
    SELECT client, last_ms AS at_ms, project_id FROM session
    UNION ALL
    SELECT * FROM (SELECT client, at_ms, project_id FROM event ORDER BY seq DESC LIMIT 20000)
) WHERE client <> '' AND coalesce(project_id = ?, TRUE) GROUP BY client
"""

# Damaged data is no JSON; what it was of is unknown.
_AGED = """
SELECT seq, kind,
    CASE WHEN kind = 'intent' AND json_valid(data)
        THEN coalesce(json_extract(data, '$.body.of.kind'), '') ELSE '' END,
    CASE WHEN kind IN ('intent', 'outcome') AND json_valid(data)
        THEN coalesce(json_extract(data, '$.body.tool'), '') ELSE '' END,
    project_id, session_id, at_ms, octet_length(data)
FROM event WHERE at_ms < ? ORDER BY seq
"""


class PurgeReads(Selecting):
    """The part of `store.maintenance.PurgeReader` not in `StoreReader`."""

    def stored_events(self) -> Iterator[StoredEvent]:
        """See `PurgeReader.stored_events`."""
        row: Row
        for row in self._connection.execute(_STORED):
            *known, data, around = row
            yield StoredEvent._make((*known, data, data + b"\n" + around))

    def stored_texts(self, *, after_seq: int, limit: int) -> list[StoredText]:
        """See `PurgeReader.stored_texts`."""
        found = []
        for row in self._rows(_TEXTS, (after_seq, limit)):
            texts, (known, *values) = row[:6], row[6:]
            found.append(StoredText._make((values[0], *texts, known == checksum(*values))))
        return found

    def noted_texts(self) -> Iterator[tuple[int, bytes]]:
        """See `PurgeReader.noted_texts`."""
        yield from self._connection.execute(_NOTED)

    def aged_events(self, *, before_ms: int) -> Iterator[AgedEvent]:
        """See `PurgeReader.aged_events`."""
        yield from map(AgedEvent._make, self._connection.execute(_AGED, (before_ms,)))

    def remaining_rows(
        self, projects: Collection[int], *, but: Collection[int], after_seq: int = 0
    ) -> Iterator[SalvagedRow]:
        """See `PurgeReader.remaining_rows`."""
        for values in self._rows(_PROJECTS):
            yield SalvagedRow("project", values[0], values)
        for known, *values in self._connection.execute(_KEPT, (after_seq, among(projects))):
            if values[0] not in but and known == checksum(*values):
                yield SalvagedRow("event", values[0], tuple(values))

    def last_reports(self, project_id: int | None = None) -> Mapping[str, int]:
        """See `PurgeReader.last_reports`."""
        return dict(self._rows(_LAST_REPORTS, (project_id,)))

    def space(self) -> Mapping[str, int]:
        """See `PurgeReader.space`."""
        found = dict.fromkeys((*_SPACES.values(), "other", "free pages"), 0)
        tables: dict[str, str] = dict(self._rows("SELECT name, tbl_name FROM sqlite_schema"))
        for name, size_bytes in self._rows(
            "SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE"
        ):
            table = str(tables.get(name) or name)
            words = "item_words" if table.startswith("item_words") else table
            found[_SPACES.get(words, "other")] += size_bytes
        (free,), (size,) = self._rows("PRAGMA freelist_count") + self._rows("PRAGMA page_size")
        return found | {"free pages": free * size}

    def items_from(self, seqs: Collection[int]) -> list[DerivedItem]:
        """See `PurgeReader.items_from`."""
        rows = self._rows(
            f"SELECT id, kind, type, title, session_id FROM item WHERE id / 4 {AMONG} ORDER BY id",
            (among(seqs),),
        )
        return [DerivedItem(*row) for row in rows]

    def sessions_named(self, name: str) -> list[int]:
        """See `PurgeReader.sessions_named`."""
        rows = self._rows(
            "SELECT id FROM session WHERE external = ?1 OR CAST(id AS TEXT) = ?1 ORDER BY id",
            (name,),
        )
        return [row[0] for row in rows]

    def meta(self, name: str) -> str:
        """See `PurgeReader.meta`."""
        row = self._row("SELECT value FROM meta WHERE key = ?", (name,))
        return str(row[0]) if row else ""


class PurgeWrites(PurgeReads):
    """The part of `store.maintenance.PurgeWriter` not in `Writer`.

    `grown` is by how many events the log has grown, or shrunk.
    """

    grown = 0

    def delete_events(self, seqs: Collection[int]) -> int:
        """See `PurgeWriter.delete_events`."""
        self._connection.execute(f"DELETE FROM event WHERE seq {AMONG}", (among(seqs),))
        gone = self._connection.changes()
        self.grown -= gone
        return gone

    def drop_note_files(self, items: Collection[int]) -> None:
        """See `PurgeWriter.drop_note_files`."""
        self._connection.execute(f"DELETE FROM note_file WHERE item {AMONG}", (among(items),))

    def put_texts(self, text: StoredText) -> None:
        """See `PurgeWriter.put_texts`."""
        values = (text.dedup, text.client, text.root, text.branch, text.commit, text.data)
        self._connection.execute(_PUT_TEXTS, (*values, text.seq))
        if text.is_whole:
            self._connection.execute(_SEAL, (text.seq,))

    def drop_unused_projects(self) -> int:
        """See `PurgeWriter.drop_unused_projects`."""
        self._connection.execute(
            "DELETE FROM project WHERE id <> ? AND id NOT IN (SELECT project_id FROM event)"
            " AND id NOT IN (SELECT project_id FROM item WHERE file <> '' AND project_id NOT NULL)",
            (UNASSIGNED,),
        )
        return self._connection.changes()

    def put_meta(self, name: str, value: str) -> None:
        """See `PurgeWriter.put_meta`."""
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))
