"""What became of items, in SQLite: vantages, moorings, standings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from observer.core.model import ItemChange, Standing
from observer.store.anchors import Anchor, Mooring, Vantage
from observer.store.sqlite.queries import Selecting
from observer.store.sqlite.rows import ITEM_COLUMNS, Row, json_text, put, to_change
from observer.store.sqlite.validity import AMONG, STANDING_FIELDS, among, columns_of

MOORING_FIELDS = Mooring.__struct_fields__


_VANTAGE = columns_of(Vantage.__struct_fields__)
_MOORING = columns_of(MOORING_FIELDS, "mooring.")
_STANDING = columns_of(STANDING_FIELDS)
_PUT_VANTAGE = put("vantage", _VANTAGE)
_PUT_MOORING = put("mooring", f"vantage, is_pending, {columns_of(MOORING_FIELDS)}")
_PUT_STANDING = put("standing", f"vantage, item_id, {_STANDING}")
_AMONG = "IN (SELECT value FROM json_each(?2))"
"""Any number of values as one; statements have a limit of theirs."""
_anchors = msgspec.json.Decoder(tuple[Anchor, ...]).decode


class TruthKept(Selecting):
    """Implements `store.truth.TruthReads`."""

    def moorings(self, vantage: int, ids: Sequence[int]) -> list[Mooring]:
        """See `TruthReads.moorings`."""
        return self._moorings(f"WHERE vantage = ?1 AND item_id {_AMONG}", vantage, ids)

    def moored_to(self, vantage: int, paths: Sequence[str]) -> list[Mooring]:
        """See `TruthReads.moored_to`."""
        items = f"SELECT item_id FROM anchored WHERE vantage = ?1 AND path {_AMONG}"
        return self._moorings(f"WHERE vantage = ?1 AND item_id IN ({items})", vantage, paths)

    def based_on(self, vantage: int, commits: Sequence[str]) -> list[Mooring]:
        """See `TruthReads.based_on`."""
        items = (
            f"SELECT item_id FROM mooring WHERE vantage = ?1 AND base {_AMONG} UNION ALL SELECT"
            f" item_id FROM mooring WHERE vantage = ?1 AND reverted <> '' AND reverted {_AMONG}"
        )
        return self._moorings(f"WHERE vantage = ?1 AND item_id IN ({items})", vantage, commits)

    def unsettled(self, vantage: int) -> list[Mooring]:
        """See `TruthReads.unsettled`."""
        return self._moorings("WHERE vantage = ?1 AND (is_here = 0 OR is_pending = 1)", vantage, ())

    def changes_in(self, project_id: int, *, after: int, limit: int) -> list[ItemChange]:
        """See `TruthReads.changes_in`."""
        rows = self._rows(
            f"SELECT change, NULL, {ITEM_COLUMNS} FROM item WHERE change > ? AND project_id = ?"
            " ORDER BY change LIMIT ?",
            (after, project_id, limit),
        )
        return list(map(to_change, rows))

    def vectors_of(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """See `TruthReads.vectors_of`."""
        # While a model takes another one's place an item may have a vector of either.
        return dict(
            self._rows(
                f"SELECT item_id, vector FROM item_vector WHERE item_id {AMONG}", (among(ids),)
            )
        )

    def moved_to(self, ends: Sequence[str], *, limit: int) -> list[int]:
        """See `TruthReads.moved_to`."""
        where = " OR ".join(["instr(path, ?)"] * len(ends))
        rows = self._rows(
            f"SELECT DISTINCT item_id FROM standing WHERE path <> '' AND ({where})"
            " ORDER BY item_id DESC LIMIT ?",
            (*ends, limit),
        )
        return [row[0] for row in rows]

    def _moorings(self, where: str, vantage: int, among: Sequence[object]) -> list[Mooring]:
        rows = self._rows(
            # The second value may be left unused; SQLite wants to know its number all the same.
            f"SELECT {_MOORING} FROM mooring {where} AND ?2 <> '' ORDER BY item_id",
            (vantage, json_text(list(among))),
        )
        return list(map(_mooring, rows))


class TruthKeeping(TruthKept):
    """Implements `store.truth.TruthWrites`."""

    def put_vantage(self, vantage: Vantage, *, like: int = 0) -> int:
        """See `TruthWrites.put_vantage`."""
        values = msgspec.structs.asdict(vantage) | {"id": vantage.id or None}
        self._connection.execute(_PUT_VANTAGE, tuple(values.values()))
        kept = vantage.id or self._connection.last_insert_rowid()
        if like:
            for table, columns in (
                ("mooring", f"is_pending, {columns_of(MOORING_FIELDS)}"),
                ("anchored", "path, item_id"),
                ("standing", f"item_id, {_STANDING}"),
            ):
                self._connection.execute(
                    f"INSERT INTO {table} (vantage, {columns})"
                    f" SELECT ?, {columns} FROM {table} WHERE vantage = ?",
                    (kept, like),
                )
        return kept

    def drop_vantage(self, vantage: int) -> None:
        """See `TruthWrites.drop_vantage`."""
        for table in ("standing", "anchored", "mooring"):
            self._connection.execute(f"DELETE FROM {table} WHERE vantage = ?", (vantage,))
        self._connection.execute("DELETE FROM vantage WHERE id = ?", (vantage,))

    def put_moorings(self, vantage: int, moorings: Iterable[Mooring]) -> None:
        """See `TruthWrites.put_moorings`."""
        moorings = list(moorings)
        self.drop_moorings(vantage, [mooring.item for mooring in moorings])
        many = self._connection.executemany
        many(_PUT_MOORING, ((vantage, one.is_pending, *_row(one)) for one in moorings))
        many(
            "INSERT OR IGNORE INTO anchored VALUES (?, ?, ?)",
            ((vantage, one.path, moored.item) for moored in moorings for one in moored.anchors),
        )

    def drop_moorings(self, vantage: int, ids: Iterable[int]) -> None:
        """See `TruthWrites.drop_moorings`."""
        rows = [(vantage, item) for item in ids]
        for table in ("mooring", "anchored"):
            self._connection.executemany(
                f"DELETE FROM {table} WHERE vantage = ? AND item_id = ?", rows
            )

    def put_standings(self, vantage: int, standings: Mapping[int, Sequence[Standing]]) -> None:
        """See `TruthWrites.put_standings`."""
        self._connection.executemany(
            "DELETE FROM standing WHERE vantage = ? AND item_id = ?",
            [(vantage, item) for item in standings],
        )
        self._connection.executemany(
            _PUT_STANDING,
            (
                (vantage, item, *msgspec.structs.astuple(standing))
                for item, told in standings.items()
                for standing in told
            ),
        )


def _row(mooring: Mooring) -> Row:
    *values, anchors = msgspec.structs.astuple(mooring)
    return (*values, json_text(anchors))


def _mooring(row: Row) -> Mooring:
    values = dict(zip(MOORING_FIELDS, row, strict=True))
    values["is_here"] = bool(values["is_here"])
    values["anchors"] = _anchors(values["anchors"])
    return Mooring(**values)
