"""The validity of items as seen from one folder, which every read of items fills in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import cast

import msgspec

from observer.core.model import Item, Validity
from observer.store.anchors import ANYWHERE, ValidityById, WorktreeView
from observer.store.sqlite.connection import NumberedConnection
from observer.store.sqlite.rows import Row, json_text

VALIDITY_FIELDS = Validity.__struct_fields__
AMONG = "IN (SELECT value FROM json_each(?))"
"""Behind a column: one of the values that `among` made a text of.

The statement is the same however many they are, so it is prepared once.
"""
_STILL_SAID = """NOT EXISTS (
    WITH RECURSIVE below (id) AS (
        SELECT target FROM link WHERE kind = 'supersedes' AND source = said.target
        UNION
        SELECT link.target FROM link JOIN below ON source = below.id WHERE kind = 'supersedes'
    )
    SELECT 1 FROM below JOIN item AS target ON target.id = said.target
        JOIN item AS source ON source.id = said.source
    WHERE below.id = said.source
        AND (target.updated_ms, target.id) > (source.updated_ms, source.id)
)"""
"""Of a circle, as when an old decision is taken again, what was said last holds."""
_RENAMED = {"item": "item_id", "commit": "commit_hash"}


def columns_of(fields: Iterable[str], table: str = "") -> str:
    """Return the columns that hold the fields of a value."""
    return ", ".join(table + _RENAMED.get(name, name) for name in fields)


_WORKTREE = columns_of(WorktreeView.__struct_fields__)
_VALIDITY = columns_of(VALIDITY_FIELDS)


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
            if worktree == ANYWHERE or worktree in self._seen:
                found[item] += (_validity(tuple(values)),)
        for replaced, link in self._superseding(ids):
            if not any(
                (one.reason, one.target) == (link.reason, link.target) for one in found[replaced]
            ):
                found[replaced] += (link,)
        return found

    def _superseding(self, ids: Sequence[int]) -> Iterator[tuple[int, Validity]]:
        """Yield what notes say on purpose: which of the items took the place of another."""
        rows = self._connection.execute(
            "SELECT target, source, 'superseded' FROM link AS said"
            f" WHERE kind = 'supersedes' AND target <> 0 AND target {AMONG} AND {_STILL_SAID}"
            " UNION ALL SELECT source, target, 'supersedes' FROM link AS said"
            f" WHERE kind = 'supersedes' AND source {AMONG} AND {_STILL_SAID}",
            (among(ids),) * 2,
        )
        for row in rows:
            item, other, reason = cast("tuple[int, int, str]", row)
            yield item, _validity((reason, "", "", "", "", other, 1.0, 0))

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
