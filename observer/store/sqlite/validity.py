"""How items stand, seen from one folder: what every read of items says of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import cast

import msgspec

from observer.core.model import Item, Standing
from observer.store.anchors import ANYWHERE, StandingsById, Vantage
from observer.store.sqlite.connection import NumberedConnection
from observer.store.sqlite.rows import Row, json_text

STANDING_FIELDS = Standing.__struct_fields__
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


_VANTAGE = columns_of(Vantage.__struct_fields__)
_STANDING = columns_of(STANDING_FIELDS)


class Standings:
    """One connection inside a transaction, and the folder from which items are looked at."""

    def __init__(self, connection: NumberedConnection) -> None:
        self._connection = connection
        self._folder = ""

    def snapshot(self) -> Hashable:
        """See `TruthReads.snapshot`."""
        # A statement, not the method of that name: only a statement sees what the snapshot holds.
        ((version,),) = self._connection.execute("PRAGMA data_version").fetchall()
        return self._connection.number, version

    def seen_from(self, folder: str) -> None:
        """See `TruthReads.seen_from`."""
        self._folder = folder

    def vantages(self) -> list[Vantage]:
        """See `TruthReads.vantages`."""
        rows = self._connection.execute(f"SELECT {_VANTAGE} FROM vantage ORDER BY id")
        return [Vantage(**dict(zip(Vantage.__struct_fields__, row, strict=True))) for row in rows]

    def standings(self, ids: Sequence[int]) -> StandingsById:
        """See `TruthReads.standings`."""
        if not ids:
            return {}
        rows: list[Row] = self._connection.execute(
            f"SELECT item_id, vantage, {_STANDING} FROM standing WHERE item_id {AMONG}",
            (among(ids),),
        ).fetchall()
        found: defaultdict[int, tuple[Standing, ...]] = defaultdict(tuple)
        for item, vantage, *values in rows:
            if vantage == ANYWHERE or vantage in self._seen:
                found[item] += (_standing(tuple(values)),)
        for replaced, told in self._superseding(ids):
            if not any(
                (one.reason, one.target) == (told.reason, told.target) for one in found[replaced]
            ):
                found[replaced] += (told,)
        return found

    def _superseding(self, ids: Sequence[int]) -> Iterator[tuple[int, Standing]]:
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
            yield item, _standing((reason, "", "", "", "", other, 1.0, 0))

    def standing(self, items: list[Item], known: StandingsById | None = None) -> list[Item]:
        """Return items with how each stands; `known` where that was asked before."""
        if known is None:
            known = self.standings([item.id for item in items])
        return [
            msgspec.structs.replace(item, standing=known[item.id]) if item.id in known else item
            for item in items
        ]

    @cached_property
    def _seen(self) -> set[int]:
        """The vantage of each project: around the folder if there is one, else the newest."""
        chosen: dict[int, tuple[int, int]] = {}
        for vantage in self.vantages():
            is_around = f"{self._folder}/".startswith(f"{vantage.root}/")
            rank = len(vantage.root) if is_around else 0
            if rank >= chosen.get(vantage.project_id, (0, 0))[0]:
                chosen[vantage.project_id] = rank, vantage.id
        return {vantage for _, vantage in chosen.values()}


def among(values: Iterable[int | str]) -> str:
    """Return the value for an `AMONG`."""
    return json_text(list(values))


def _standing(values: Row) -> Standing:
    return Standing(**dict(zip(STANDING_FIELDS, values, strict=True)))
