"""The validity of items as seen from one folder, which every read of items fills in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, cast

import msgspec

from observer.core.model import FORMERLY, Item, Reason, Validity
from observer.core.text import one_line
from observer.store.anchors import ValidityById, WorktreeView
from observer.store.sqlite.connection import NumberedConnection
from observer.store.sqlite.rows import Row, json_text

VALIDITY_FIELDS = Validity.__struct_fields__
TITLE_CHARS = 60
"""Of the other note, in what is said of one."""
AMONG = "IN (SELECT value FROM json_each(?))"
"""Behind a column: one of the values that `among` made a text of.

The statement is the same however many they are, so it is prepared once.
"""
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

A name means a note of the same project that was there; of files nobody knows which came first. What
a person approved yields to no agent.
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


def _said(values: Sequence[object]) -> _Said:
    return _Said(*cast("tuple[int, str, str, int]", tuple(values)))


class ValidityReads:
    """One connection inside a transaction, and the folder from which items are looked at."""

    def __init__(self, connection: NumberedConnection) -> None:
        self._connection = connection
        self._folder = ""

    def snapshot(self) -> Hashable:
        """See `StalenessReader.snapshot`."""
        # A statement, not the method of that name: only a statement sees what the snapshot holds.
        ((version,),) = self._connection.execute("PRAGMA data_version").fetchall()
        return self._connection.number, version

    def set_folder(self, folder: str) -> None:
        """See `StalenessReader.set_folder`."""
        self._folder = folder

    def worktrees(self) -> list[WorktreeView]:
        """See `StalenessReader.worktrees`."""
        rows = self._connection.execute(f"SELECT {_WORKTREE} FROM worktree ORDER BY id")
        return [
            WorktreeView(**dict(zip(WorktreeView.__struct_fields__, row, strict=True)))
            for row in rows
        ]

    def validity(self, ids: Sequence[int]) -> ValidityById:
        """See `StalenessReader.validity`."""
        if not ids:
            return {}
        rows: list[Row] = self._connection.execute(
            f"SELECT item_id, worktree, {_VALIDITY} FROM validity WHERE item_id {AMONG}",
            (among(ids),),
        ).fetchall()
        found: defaultdict[int, tuple[Validity, ...]] = defaultdict(tuple)
        for item, worktree, *values in rows:
            if worktree in self._seen:
                found[item] += (_validity(tuple(values)),)
        for item, record in self._acts(ids):
            # Of several that superseded an item the newest counts.
            if not any(each.reason == record.reason == "superseded" for each in found[item]):
                found[item] += (record,)
        return found

    def _acts(self, ids: Sequence[int]) -> Iterator[tuple[int, Validity]]:
        rows = self._connection.execute(_ACTS, (json_text(list(ids)),)).fetchall()
        acts = [(str(kind), _said(both[:4]), _said(both[4:])) for kind, *both in rows]
        done = {(kind, newer.id, older.id) for kind, newer, older in acts}
        for kind, newer, older in acts:
            # Of a circle, as when an old decision is taken again, what was said last holds.
            is_older = (older.updated_ms, older.id) > (newer.updated_ms, newer.id)
            back = (kind, older.id, newer.id) in done
            if is_older and (
                back or self._connection.execute(_BELOW, (older.id, newer.id)).fetchall()
            ):
                continue
            past: Reason = "amended" if kind == "amends" else "superseded"
            if older.id in ids:
                yield older.id, newer.record(past)
            if newer.id in ids:
                yield newer.id, older.record(cast("Reason", kind))

    def with_validity(self, items: list[Item], known: ValidityById | None = None) -> list[Item]:
        """Return items with their validity filled in; `known` where it was read before."""
        if known is None:
            known = self.validity([item.id for item in items])
        return [
            msgspec.structs.replace(item, validity=known[item.id]) if item.id in known else item
            for item in items
        ]

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


def among(values: Iterable[int | str]) -> str:
    """Return the value for an `AMONG`."""
    return json_text(list(values))


def _validity(values: Row) -> Validity:
    return Validity(**dict(zip(VALIDITY_FIELDS, values, strict=True)))
