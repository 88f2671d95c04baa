"""What is known of shares: what left for them, what came by them, and what waits.

None of it is derived from the log. If it is lost, all leaves and comes once more, and changes
nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from observer.core.model import Item
from observer.core.value import Value
from observer.store.connection import Reads
from observer.store.rows import (
    AMONG,
    ITEM_COLUMNS,
    KEY_END,
    among,
    built,
    json_text,
    put,
    to_item,
    to_strings,
)

GONE = "gone"
"""The digest of an item that left and is deleted."""
_TOMBSTONE = "gone:"
_PURGED = "shared:"


class ShareState(Value):
    """A share as this home knows it; without `projects` it is of all.

    `key` stands for it in events, `origin` for this home in its records. `sequence` and `hash` are
    of the newest record made here, `epoch` and `change` say how far items were looked at.
    `pushed_ms` is when nothing waited any more, `pulled_ms` when all that was there had come, both
    None before; `fault` is why the last try failed.
    """

    name: str
    url: str
    key: str
    origin: str
    projects: tuple[int, ...] = ()
    turns: bool = False
    added_ms: int = 0
    sequence: int = 0
    hash: str = ""
    epoch: str = ""
    change: int = 0
    pushed_ms: int | None = None
    pulled_ms: int | None = None
    fault: str = ""


class Waiting(NamedTuple):
    """A record that was made and not yet carried away: its number, and it as JSON."""

    sequence: int
    record: str


class Refusal(Value):
    """A record, by its origin and number, that was not taken in, and why."""

    origin: str
    sequence: int
    why: str
    at_ms: int


class Departed(NamedTuple):
    """An item that left and is gone, the event that a purge knows it by, if its deletion left."""

    uuid: str
    event_id: str
    is_said: bool


_SHARE = ", ".join(ShareState.__struct_fields__)
_PLACE = ShareState.__struct_fields__.index("projects")
_PUT_SHARE = put("share", _SHARE)
_PUT_ITEM = put("share_item", "share, uuid, digest, event_id")
_PUT_WAITING = put("share_waiting", "share, sequence, record")
_PUT_ORIGIN = put("share_origin", "share, origin, sequence, hash")
_PUT_REFUSAL = put("share_refusal", "share, origin, sequence, why, at_ms")
_TABLES = ("share_item", "share_waiting", "share_origin", "share_refusal")
UNDERIVED = (
    *("llm_spending", "note_file", "note_claim", "note_relation", "note_alias"),
    *("share", *_TABLES, "chosen"),
)
"""Tables that are not derived from the log, beside the projects."""
# An item has the number of its first event, a summary that of its session. A copy has events alone.
CHOSEN_OF_NOTHING = """
DELETE FROM chosen WHERE NOT EXISTS (SELECT 1 FROM event
        WHERE session_id = CASE chosen.kind WHEN 'title' THEN chosen.id ELSE chosen.id / 4 END)
    AND (kind = 'title' OR NOT EXISTS (SELECT 1 FROM event WHERE seq = chosen.id / 4)
        AND NOT EXISTS (SELECT 1 FROM note_file WHERE item = chosen.id))
"""

# What may leave, and what of others' was deleted here; `person` is for what this home has changed.
_LEAVING = (
    f"SELECT change, {ITEM_COLUMNS} FROM item WHERE change > ? AND (project_id IS NULL OR ?"
    f" OR project_id {AMONG}) AND (person = '' OR deleted_ms IS NOT NULL)"
    f" AND (kind IN ('note', 'summary') OR type {AMONG})"
    " ORDER BY change LIMIT ?"
)


def share_fact(share: str, fact: str) -> str:
    """Return the name in `meta` of what is noted of a share beside its tables."""
    return f"share {share}: {fact}"


def purged_key(uuid: str) -> str:
    """Return by what tombstones of this home know an item of another home, in all its versions."""
    return f"{_PURGED}{uuid}"


def tombstone_key(uuid: str) -> str:
    """Return the `dedup` of an event that says that an item is gone."""
    return f"{_TOMBSTONE}{uuid}"


class ShareReads(Reads):
    """Reads of shares."""

    def shares(self) -> list[ShareState]:
        """Return all shares, by name."""
        found = []
        for row in self._rows(f"SELECT {_SHARE} FROM share ORDER BY name"):
            values = dict(zip(ShareState.__struct_fields__, row, strict=True))
            values["projects"] = tuple(map(int, to_strings(values["projects"])))
            values["turns"] = bool(values["turns"])
            found.append(ShareState(**values))
        return found

    def leaving(
        self, *, after: int, projects: Collection[int], types: Collection[str], limit: int
    ) -> list[tuple[int, Item]]:
        """Return the next changes of items that may leave, deleted ones too, each with its number.

        These are notes and summaries, and items of `types`, of some or all projects, and of none.
        """
        asked = (after, not projects, among(projects), among(sorted(types)), limit)
        rows = self._rows(_LEAVING, asked)
        return [(number, to_item(tuple(columns))) for number, *columns in rows]

    def begun_by(self, seqs: Collection[int]) -> dict[int, tuple[str, int, int]]:
        """Return id, time in ms and project of events, by `seq`."""
        rows = self._rows(
            f"SELECT seq, id, at_ms, project_id FROM event WHERE seq {AMONG}", (among(seqs),)
        )
        return {seq: (event_id, at_ms, project) for seq, event_id, at_ms, project in rows}

    def sent(self, share: str, uuids: Iterable[str]) -> Mapping[str, str]:
        """Return the digests of what left, by uuid."""
        chosen = f"SELECT uuid, digest FROM share_item WHERE share = ? AND uuid {AMONG}"
        return dict(self._rows(chosen, (share, among(uuids))))

    def departed(self, share: str) -> list[Departed]:
        """Return the items that left and are not there any more, not even as deleted ones."""
        rows = self._rows(
            "SELECT uuid, event_id, digest = ?2 FROM share_item WHERE share = ?1"
            " AND NOT EXISTS (SELECT 1 FROM item WHERE item.uuid = share_item.uuid)",
            (share, GONE),
        )
        return [Departed(uuid, event_id, bool(is_said)) for uuid, event_id, is_said in rows]

    def under_other_uuids(self, share: str, uuid: str, event_id: str) -> list[str]:
        """Return the other uuids under which an item of that first event left and is not gone."""
        return self._column(
            "SELECT uuid FROM share_item WHERE share = ? AND event_id = ?"
            " AND uuid <> ? AND digest <> ?",
            (share, event_id, uuid, GONE),
        )

    def carries(self, share: str, uuid: str) -> bool:
        """Return True if a record of an item waits to be carried away."""
        naming = "SELECT 1 FROM share_waiting WHERE share = ? AND instr(record, ?) LIMIT 1"
        return bool(self._rows(naming, (share, uuid)))

    def waiting(self, share: str, *, limit: int = -1) -> list[Waiting]:
        """Return the records that wait to be carried away, the first ones first."""
        first = "share = ? ORDER BY sequence LIMIT ?"
        rows = self._rows(
            f"SELECT sequence, record FROM share_waiting WHERE {first}", (share, limit)
        )
        return list(map(Waiting._make, rows))

    def count_waiting(self, share: str) -> int:
        """Count the records that wait to be carried away."""
        return int(self._value("SELECT count(*) FROM share_waiting WHERE share = ?", (share,)))

    def known_origins(self, share: str) -> dict[str, tuple[int, str]]:
        """Return number and hash of the newest record that was taken in of each other home."""
        known = "SELECT origin, sequence, hash FROM share_origin WHERE share = ?"
        return {origin: (number, digest) for origin, number, digest in self._rows(known, (share,))}

    def refusals(self, share: str) -> list[Refusal]:
        """Return what was not taken in, the newest first."""
        rows = self._rows(
            "SELECT origin, sequence, why, at_ms FROM share_refusal WHERE share = ?"
            " ORDER BY at_ms DESC, origin, sequence",
            (share,),
        )
        return [built(Refusal, row) for row in rows]

    def gone(self, uuids: Iterable[str], *, before: int | None = None) -> frozenset[str]:
        """Return which items another home has declared gone, by events before that `seq`."""
        keys = [tombstone_key(uuid) for uuid in uuids]
        found = self._column(
            f"SELECT dedup FROM event WHERE dedup {AMONG} AND substr(dedup, -{KEY_END}) {AMONG}"
            " AND dedup <> '' AND (?3 IS NULL OR seq < ?3)",
            (among(keys), among(key[-KEY_END:] for key in keys), before),
        )
        return frozenset(key.removeprefix(_TOMBSTONE) for key in found)

    def by_uuid(self, uuids: Iterable[str]) -> dict[str, Item]:
        """Return items by their uuids, deleted ones too."""
        rows = self._rows(f"SELECT {ITEM_COLUMNS} FROM item WHERE uuid {AMONG}", (among(uuids),))
        return {item.uuid: item for item in map(to_item, rows)}

    def history_seqs(self, items: Iterable[int]) -> list[int]:
        """Return the `seq` of all that made and changed notes and what others shared."""
        return self._column(f"SELECT seq FROM note_event WHERE item_id {AMONG}", (among(items),))

    def seqs_shared(self, key: str) -> list[int]:
        """Return the `seq` of each event by which a share brought something, by the share's key."""
        return self._column(
            "SELECT seq FROM event WHERE id GLOB ?1 AND substr(dedup, 1, length(?2)) <> ?2"
            " ORDER BY seq",
            (f"{key}-*", _TOMBSTONE),
        )


class ShareWrites(ShareReads):
    """Changes of what is known of shares."""

    def put_share(self, share: ShareState) -> None:
        """Insert or replace a share by name."""
        values = list(msgspec.structs.astuple(share))
        values[_PLACE] = json_text([str(number) for number in share.projects])
        self._connection.execute(_PUT_SHARE, values)

    def drop_share(self, name: str) -> None:
        """Delete a share with all that is known of it."""
        self._connection.execute("DELETE FROM share WHERE name = ?", (name,))
        for table in _TABLES:
            self._connection.execute(f"DELETE FROM {table} WHERE share = ?", (name,))
        facts = share_fact(name, "")
        self._connection.execute("DELETE FROM meta WHERE substr(key, 1, length(?1)) = ?1", (facts,))

    def put_sent(self, share: str, items: Iterable[tuple[str, str, str]]) -> None:
        """Insert or replace what left: uuid, digest, id of the first event."""
        self._connection.executemany(_PUT_ITEM, ((share, *item) for item in items))

    def send_again(self, share: str, uuids: Iterable[str]) -> None:
        """Have items leave once more when they change here, where another's version is shown."""
        self._connection.execute(
            f"UPDATE share_item SET digest = '' WHERE share = ? AND digest <> ? AND uuid {AMONG}"
            " AND EXISTS (SELECT 1 FROM item WHERE item.uuid = share_item.uuid AND person <> '')",
            (share, GONE, among(uuids)),
        )

    def put_waiting(self, share: str, records: Iterable[Waiting]) -> None:
        """Add records that wait to be carried away."""
        self._connection.executemany(_PUT_WAITING, ((share, *one) for one in records))

    def drop_waiting(self, share: str, *, until: int) -> None:
        """Delete the records up to a number, which were carried away."""
        carried = "DELETE FROM share_waiting WHERE share = ? AND sequence <= ?"
        self._connection.execute(carried, (share, until))

    def put_origins(self, share: str, origins: Mapping[str, tuple[int, str]]) -> None:
        """Insert or replace number and hash of the newest record of other homes."""
        rows = ((share, origin, *newest) for origin, newest in origins.items())
        self._connection.executemany(_PUT_ORIGIN, rows)

    def put_refusals(self, share: str, refusals: Sequence[Refusal]) -> None:
        """Insert or replace what was not taken in."""
        rows = ((share, *msgspec.structs.astuple(one)) for one in refusals)
        self._connection.executemany(_PUT_REFUSAL, rows)

    def drop_refusals(self, share: str, records: Iterable[tuple[str, int]]) -> None:
        """Delete that records were not taken in, by origin and number."""
        self._connection.executemany(
            "DELETE FROM share_refusal WHERE share = ? AND origin = ? AND sequence = ?",
            ((share, *record) for record in records),
        )
