"""Anchors of items in the code, views of work trees, and the validity of items.

All of it is derived by `observer.staleness`. Validity is relative to a git worktree, and every read
of items fills it in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal, NamedTuple, cast

import msgspec

from observer.core.model import FORMERLY, ItemChange, Reason, Validity
from observer.core.text import one_line
from observer.core.value import Value
from observer.store.connection import Reads
from observer.store.rows import (
    AMONG,
    ITEM_COLUMNS,
    among,
    built,
    json_text,
    packed,
    put,
    to_change,
    unpacked,
)

ValidityById = Mapping[int, tuple[Validity, ...]]


class WorktreeView(Value):
    """A worktree as it was last synchronised, up to the commit `head` and an item's last `change`.

    `id` 0 is not stored yet.
    """

    root: str
    project_id: int
    id: int = 0
    head: str = ""
    branch: str = ""
    change: int = 0


class Anchor(Value):
    """One thing in the code that an item is about: a symbol of a file, or what is outside of all.

    `origin` is the file's path as the item names it, `path` where it is now. `blob` is git's name
    of its content when the item held, `fingerprint` that of the symbol's text in it: None until the
    work is committed, empty where the symbol was not there. `reason` is empty while the code is as
    it was; then `commit` and `since_ms` say what changed it.
    """

    origin: str
    path: str
    symbol: str = ""
    blob: str = ""
    fingerprint: str | None = None
    reason: Literal["", "changed", "deleted", "renamed"] = ""
    commit: str = ""
    since_ms: int = 0


class AnchorSet(Value):
    """The anchors of one item, seen from one worktree, whose history has `base` if it `is_here`.

    It held at that commit, on `branch`, at `at_ms`. `reverted` is the commit that took it back;
    without one, what was never committed was discarded at `reverted_ms`.
    """

    item: int
    base: str
    branch: str = ""
    at_ms: int = 0
    updated_ms: int = 0
    is_here: bool = True
    reverted: str = ""
    reverted_ms: int = 0
    anchors: tuple[Anchor, ...] = ()

    @property
    def is_pending(self) -> bool:
        """Whether some of the work that the item describes is not committed yet."""
        return any(anchor.fingerprint is None for anchor in self.anchors)

    @property
    def is_discarded(self) -> bool:
        """Whether the work that the item describes was thrown away before a commit had it."""
        return self.is_pending and self.reverted_ms > 0 and not self.reverted


VALIDITY_FIELDS = Validity.__struct_fields__
TITLE_CHARS = 60
"""Of the other note, in what is said of one."""
_IS_ACT = "kind IN ('supersedes', 'amends')"
_ACTS = f"""
    WITH asked (id) AS MATERIALIZED (SELECT value FROM json_each(?1)),
    said (source, kind, target, title_key) AS MATERIALIZED (
        SELECT source, kind, target, title_key FROM asked CROSS JOIN link ON source = asked.id
            WHERE {_IS_ACT}
    ),
    note (id, title_key) AS MATERIALIZED (
        SELECT item.id, title_key FROM asked CROSS JOIN item USING (id) WHERE kind = 'note'
    ),
    name (id, title_key) AS (
        SELECT id, title_key FROM note
        UNION ALL SELECT id, '#' || id FROM note
        UNION ALL SELECT id, note_alias.title_key FROM note CROSS JOIN note_alias ON item = id
        UNION ALL SELECT id, link.title_key FROM note CROSS JOIN link ON source = id
            WHERE link.kind = '{FORMERLY}'
    ),
    act (source, kind, target) AS (
        SELECT source, kind, target FROM said WHERE target <> 0
        UNION
        SELECT source, said.kind, item.id FROM said CROSS JOIN item USING (title_key)
            WHERE target = 0 AND item.kind = 'note' AND deleted_ms IS NULL
        UNION
        SELECT source, kind, item FROM said CROSS JOIN note_alias USING (title_key)
            WHERE target = 0
        UNION
        SELECT said.source, said.kind, called.source FROM said
            CROSS JOIN link AS called USING (title_key)
            WHERE said.target = 0 AND called.title_key <> '' AND called.kind = '{FORMERLY}'
        UNION
        SELECT source, kind, CAST(substr(title_key, 2) AS INTEGER) FROM said
            WHERE target = 0 AND title_key GLOB '#[0-9]*'
        UNION
        SELECT source, kind, target FROM asked CROSS JOIN link ON target = asked.id
            WHERE target <> 0 AND {_IS_ACT}
        UNION
        SELECT source, kind, name.id FROM name CROSS JOIN link USING (title_key)
            WHERE target = 0 AND {_IS_ACT}
    )
    SELECT act.kind, newer.id, newer.title, newer.suspicion, newer.updated_ms,
        older.id, older.title, older.suspicion, older.updated_ms
    FROM act CROSS JOIN item AS newer ON newer.id = source
        CROSS JOIN item AS older ON older.id = target
    WHERE newer.id <> older.id AND newer.deleted_ms IS NULL AND older.deleted_ms IS NULL
        AND newer.owner IN ('', older.owner)
        AND (older.approval <> 'approved' OR newer.author = 'person'
            OR newer.approval = 'approved' OR act.kind = 'amends')
        AND (EXISTS (SELECT 1 FROM link WHERE source = newer.id AND target = older.id AND {_IS_ACT})
            OR (newer.project_id IS older.project_id
                AND (newer.file <> '' OR older.created_ms <= newer.updated_ms)))
    ORDER BY newer.updated_ms DESC, newer.id DESC
"""
"""What notes do to items by an act, either of them asked for: by id, or by a name that a text says.

A name means a note of the same project that was there. What a person approved yields to no agent.
"""
_BELOW = """
    WITH RECURSIVE below (id) AS (
        SELECT target FROM link WHERE kind = 'supersedes' AND source = ?1
        UNION
        SELECT link.target FROM link JOIN below ON source = below.id WHERE kind = 'supersedes'
    )
    SELECT 1 FROM below WHERE id = ?2
"""
"""Whether an item took the place of another, directly or by others between them."""
_RENAMED = {"item": "item_id", "commit": "commit_hash"}


def columns_of(fields: Iterable[str], table: str = "") -> str:
    """Return the columns that hold the fields of a value."""
    return ", ".join(table + _RENAMED.get(name, name) for name in fields)


_WORKTREE = columns_of(WorktreeView.__struct_fields__)
_VALIDITY = columns_of(VALIDITY_FIELDS)


class _Said(NamedTuple):
    """One of the two notes of an act."""

    id: int
    title: str
    suspicion: str
    updated_ms: int

    def record(self, reason: Reason) -> Validity:
        """Return what is said of the other one."""
        shown = "" if self.suspicion else one_line(self.title, TITLE_CHARS)
        subject = f"{self.id} {shown}".rstrip()
        return Validity(reason=reason, subject=subject, target=self.id, since_ms=self.updated_ms)


class AnchorReads(Reads):
    """The folder from which items are looked at, and what holds seen from there."""

    def snapshot(self) -> Hashable:
        """Return a token for this snapshot; a snapshot of other content never has the same."""
        # A statement, not the method of that name: only a statement sees what the snapshot holds.
        ((version,),) = self._connection.execute("PRAGMA data_version").fetchall()
        return self._connection.number, version

    def set_folder(self, folder: str) -> None:
        """Set the folder whose worktree validity is relative to; "" if unknown.

        Of other projects it is in their newest worktree.
        """
        self._folder = folder

    def worktrees(self) -> list[WorktreeView]:
        """Return all worktrees, by id."""
        rows = self._rows(f"SELECT {_WORKTREE} FROM worktree ORDER BY id")
        return [built(WorktreeView, row) for row in rows]

    def validity(self, ids: Sequence[int]) -> ValidityById:
        """Return the validity of items by id, seen from the folder; most items have none."""
        if not ids:
            return {}
        chosen = f"SELECT item_id, worktree, {_VALIDITY} FROM validity WHERE item_id {AMONG}"
        rows = self._rows(chosen, (among(ids),))
        found: defaultdict[int, tuple[Validity, ...]] = defaultdict(tuple)
        for item, worktree, *values in rows:
            if worktree in self._seen:
                found[item] += (built(Validity, values),)
        for item, record in self._acts(ids):
            # Of several that superseded an item the newest counts.
            if not any(each.reason == record.reason == "superseded" for each in found[item]):
                found[item] += (record,)
        return found

    def _acts(self, ids: Sequence[int]) -> Iterator[tuple[int, Validity]]:
        rows = self._rows(_ACTS, (json_text(list(ids)),))
        acts = [(str(kind), _Said._make(both[:4]), _Said._make(both[4:])) for kind, *both in rows]
        done = {(kind, newer.id, older.id) for kind, newer, older in acts}
        for kind, newer, older in acts:
            # Of a circle, as when an old decision is taken again, what was said last holds.
            is_older = (older.updated_ms, older.id) > (newer.updated_ms, newer.id)
            back = (kind, older.id, newer.id) in done
            if is_older and (back or self._rows(_BELOW, (older.id, newer.id))):
                continue
            past: Reason = "amended" if kind == "amends" else "superseded"
            if older.id in ids:
                yield older.id, newer.record(past)
            if newer.id in ids:
                yield newer.id, older.record(cast("Reason", kind))

    def anchor_sets(self, worktree: int, ids: Sequence[int]) -> list[AnchorSet]:
        """Return the anchor sets of these items; items without one are left out."""
        return self._anchor_sets(f"WHERE worktree = ?1 AND item_id {_AMONG}", worktree, ids)

    def anchored_in(self, worktree: int, paths: Sequence[str]) -> list[AnchorSet]:
        """Return the anchor sets with an anchor in one of these files, by where they are now."""
        items = f"SELECT item_id FROM anchor_path WHERE worktree = ?1 AND path {_AMONG}"
        return self._anchor_sets(f"WHERE worktree = ?1 AND item_id IN ({items})", worktree, paths)

    def based_on(self, worktree: int, commits: Sequence[str]) -> list[AnchorSet]:
        """Return the anchor sets of items that held at one of these commits, or were reverted."""
        items = (
            # Left to itself, the engine reads all anchors of the worktree.
            "SELECT item_id FROM anchor_set INDEXED BY anchor_set_base"
            f" WHERE worktree = ?1 AND base {_AMONG} AND substr(base, 1, {_HASH_CHARS}) IN"
            f" (SELECT substr(value, 1, {_HASH_CHARS}) FROM json_each(?2)) UNION ALL SELECT"
            f" item_id FROM anchor_set WHERE worktree = ?1 AND reverted <> '' AND reverted {_AMONG}"
        )
        return self._anchor_sets(f"WHERE worktree = ?1 AND item_id IN ({items})", worktree, commits)

    def unsettled(self, worktree: int) -> list[AnchorSet]:
        """Return the anchor sets that are not here, or of work that is not committed yet."""
        waiting = "WHERE worktree = ?1 AND (is_here = 0 OR is_pending = 1)"
        return self._anchor_sets(waiting, worktree, ())

    def changes_in(self, project_id: int, *, after: int, limit: int) -> list[ItemChange]:
        """Return the next changes of a project's items after a number, without vectors."""
        rows = self._rows(
            f"SELECT change, NULL, {ITEM_COLUMNS} FROM item WHERE change > ? AND project_id = ?"
            " ORDER BY change LIMIT ?",
            (after, project_id, limit),
        )
        return list(map(to_change, rows))

    def vectors_of(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Return the vectors of items in eight bits a dimension; those without are left out."""
        # While a model takes another one's place an item may have a vector of either.
        chosen = f"SELECT item_id, vector FROM item_vector WHERE item_id {AMONG}"
        return dict(self._rows(chosen, (among(ids),)))

    def moved_to(self, ends: Sequence[str], *, limit: int) -> list[int]:
        """Return items of which a file was renamed to a path that ends so, newest first."""
        where = " OR ".join(["instr(path, ?)"] * len(ends))
        return self._column(
            f"SELECT DISTINCT item_id FROM validity WHERE path <> '' AND ({where})"
            " ORDER BY item_id DESC LIMIT ?",
            (*ends, limit),
        )

    def _anchor_sets(self, where: str, worktree: int, wanted: Sequence[object]) -> list[AnchorSet]:
        rows = self._rows(
            # The second value may be left unused; SQLite wants to know its number all the same.
            f"SELECT {_ANCHOR_SET} FROM anchor_set {where} AND ?2 <> '' ORDER BY item_id",
            (worktree, json_text(list(wanted))),
        )
        found = []
        for row in rows:
            values = dict(zip(ANCHOR_SET_FIELDS, row, strict=True))
            values["is_here"] = bool(values["is_here"])
            values["anchors"] = _anchors(unpacked(values["anchors"]))
            found.append(AnchorSet(**values))
        return found

    @cached_property
    def _seen(self) -> set[int]:
        """The worktree of each project: around the folder if there is one, else the newest."""
        chosen: dict[int, tuple[int, int]] = {}
        for worktree in self.worktrees():
            is_around = f"{self._folder}/".startswith(f"{worktree.root}/")
            rank = len(worktree.root) if is_around else 0
            if rank >= chosen.get(worktree.project_id, (0, 0))[0]:
                chosen[worktree.project_id] = rank, worktree.id
        return {worktree for _, worktree in chosen.values()}


ANCHOR_SET_FIELDS = AnchorSet.__struct_fields__
_HASH_CHARS = 8
"""Of the commit of an anchor set that are in its index."""
_ANCHOR_SET = columns_of(ANCHOR_SET_FIELDS, "anchor_set.")
_PUT_WORKTREE = put("worktree", _WORKTREE)
_PUT_ANCHOR_SET = put("anchor_set", f"worktree, is_pending, {columns_of(ANCHOR_SET_FIELDS)}")
_PUT_VALIDITY = put("validity", f"worktree, item_id, {_VALIDITY}")
_AMONG = "IN (SELECT value FROM json_each(?2))"
"""Any number of values as one; statements have a limit of theirs."""
_anchors = msgspec.json.Decoder(tuple[Anchor, ...]).decode


class AnchorWrites(AnchorReads):
    """Changes of worktree views, anchor sets and validity."""

    def put_worktree(self, worktree: WorktreeView, *, like: int = 0) -> int:
        """Insert (id 0, with a copy of what `like` has) or replace a worktree; returns its id."""
        values = msgspec.structs.asdict(worktree) | {"id": worktree.id or None}
        self._connection.execute(_PUT_WORKTREE, tuple(values.values()))
        kept = worktree.id or self._connection.last_insert_rowid()
        if like:
            for table, columns in (
                ("anchor_set", f"is_pending, {columns_of(ANCHOR_SET_FIELDS)}"),
                ("anchor_path", "path, item_id"),
                ("validity", f"item_id, {_VALIDITY}"),
            ):
                self._connection.execute(
                    f"INSERT INTO {table} (worktree, {columns})"
                    f" SELECT ?, {columns} FROM {table} WHERE worktree = ?",
                    (kept, like),
                )
        return kept

    def drop_worktree(self, worktree: int) -> None:
        """Delete a worktree view and all that is stored for it."""
        for table in ("validity", "anchor_path", "anchor_set"):
            self._connection.execute(f"DELETE FROM {table} WHERE worktree = ?", (worktree,))
        self._connection.execute("DELETE FROM worktree WHERE id = ?", (worktree,))

    def put_anchor_sets(self, worktree: int, anchor_sets: Iterable[AnchorSet]) -> None:
        """Insert or replace, by item."""
        anchor_sets = list(anchor_sets)
        self.drop_anchor_sets(worktree, [anchor_set.item for anchor_set in anchor_sets])
        for one in anchor_sets:
            *values, anchors = msgspec.structs.astuple(one)
            held = packed(json_text(anchors).encode())
            self._connection.execute(_PUT_ANCHOR_SET, (worktree, one.is_pending, *values, held))
        self._connection.executemany(
            "INSERT OR IGNORE INTO anchor_path VALUES (?, ?, ?)",
            ((worktree, one.path, each.item) for each in anchor_sets for one in each.anchors),
        )

    def drop_anchor_sets(self, worktree: int, ids: Iterable[int]) -> None:
        """Delete the anchor sets of these items."""
        gone = self.anchor_sets(worktree, list(ids))
        many = self._connection.executemany
        many(
            "DELETE FROM anchor_path WHERE worktree = ? AND path = ? AND item_id = ?",
            ((worktree, one.path, each.item) for each in gone for one in each.anchors),
        )
        many(
            "DELETE FROM anchor_set WHERE worktree = ? AND item_id = ?",
            ((worktree, each.item) for each in gone),
        )

    def put_validity(self, worktree: int, validity: Mapping[int, Sequence[Validity]]) -> None:
        """Replace the validity of these items."""
        self._connection.executemany(
            "DELETE FROM validity WHERE worktree = ? AND item_id = ?",
            [(worktree, item) for item in validity],
        )
        self._connection.executemany(
            _PUT_VALIDITY,
            (
                (worktree, item, *msgspec.structs.astuple(record))
                for item, records in validity.items()
                for record in records
            ),
        )
