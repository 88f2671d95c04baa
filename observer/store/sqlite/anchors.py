"""Worktree views, anchor sets and validity in SQLite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from observer.core.model import ItemChange, Validity
from observer.store.anchors import Anchor, AnchorSet, WorktreeView
from observer.store.sqlite.queries import Selecting
from observer.store.sqlite.rows import ITEM_COLUMNS, Row, json_text, put, to_change
from observer.store.sqlite.validity import AMONG, VALIDITY_FIELDS, among, columns_of

ANCHOR_SET_FIELDS = AnchorSet.__struct_fields__


_WORKTREE = columns_of(WorktreeView.__struct_fields__)
_ANCHOR_SET = columns_of(ANCHOR_SET_FIELDS, "anchor_set.")
_VALIDITY = columns_of(VALIDITY_FIELDS)
_PUT_WORKTREE = put("worktree", _WORKTREE)
_PUT_ANCHOR_SET = put("anchor_set", f"worktree, is_pending, {columns_of(ANCHOR_SET_FIELDS)}")
_PUT_VALIDITY = put("validity", f"worktree, item_id, {_VALIDITY}")
_AMONG = "IN (SELECT value FROM json_each(?2))"
"""Any number of values as one; statements have a limit of theirs."""
_anchors = msgspec.json.Decoder(tuple[Anchor, ...]).decode


class StalenessReads(Selecting):
    """Implements `store.anchors.StalenessReader`."""

    def anchor_sets(self, worktree: int, ids: Sequence[int]) -> list[AnchorSet]:
        """See `StalenessReader.anchor_sets`."""
        return self._anchor_sets(f"WHERE worktree = ?1 AND item_id {_AMONG}", worktree, ids)

    def anchored_in(self, worktree: int, paths: Sequence[str]) -> list[AnchorSet]:
        """See `StalenessReader.anchored_in`."""
        items = f"SELECT item_id FROM anchor_path WHERE worktree = ?1 AND path {_AMONG}"
        return self._anchor_sets(f"WHERE worktree = ?1 AND item_id IN ({items})", worktree, paths)

    def based_on(self, worktree: int, commits: Sequence[str]) -> list[AnchorSet]:
        """See `StalenessReader.based_on`."""
        items = (
            f"SELECT item_id FROM anchor_set WHERE worktree = ?1 AND base {_AMONG} UNION ALL SELECT"
            f" item_id FROM anchor_set WHERE worktree = ?1 AND reverted <> '' AND reverted {_AMONG}"
        )
        return self._anchor_sets(f"WHERE worktree = ?1 AND item_id IN ({items})", worktree, commits)

    def unsettled(self, worktree: int) -> list[AnchorSet]:
        """See `StalenessReader.unsettled`."""
        return self._anchor_sets(
            "WHERE worktree = ?1 AND (is_here = 0 OR is_pending = 1)", worktree, ()
        )

    def changes_in(self, project_id: int, *, after: int, limit: int) -> list[ItemChange]:
        """See `StalenessReader.changes_in`."""
        rows = self._rows(
            f"SELECT change, NULL, {ITEM_COLUMNS} FROM item WHERE change > ? AND project_id = ?"
            " ORDER BY change LIMIT ?",
            (after, project_id, limit),
        )
        return list(map(to_change, rows))

    def vectors_of(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """See `StalenessReader.vectors_of`."""
        # While a model takes another one's place an item may have a vector of either.
        return dict(
            self._rows(
                f"SELECT item_id, vector FROM item_vector WHERE item_id {AMONG}", (among(ids),)
            )
        )

    def moved_to(self, ends: Sequence[str], *, limit: int) -> list[int]:
        """See `StalenessReader.moved_to`."""
        where = " OR ".join(["instr(path, ?)"] * len(ends))
        rows = self._rows(
            f"SELECT DISTINCT item_id FROM validity WHERE path <> '' AND ({where})"
            " ORDER BY item_id DESC LIMIT ?",
            (*ends, limit),
        )
        return [row[0] for row in rows]

    def _anchor_sets(self, where: str, worktree: int, wanted: Sequence[object]) -> list[AnchorSet]:
        rows = self._rows(
            # The second value may be left unused; SQLite wants to know its number all the same.
            f"SELECT {_ANCHOR_SET} FROM anchor_set {where} AND ?2 <> '' ORDER BY item_id",
            (worktree, json_text(list(wanted))),
        )
        return list(map(_anchor_set, rows))


class StalenessWrites(StalenessReads):
    """Implements `store.anchors.StalenessWriter`."""

    def put_worktree(self, worktree: WorktreeView, *, like: int = 0) -> int:
        """See `StalenessWriter.put_worktree`."""
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
        """See `StalenessWriter.drop_worktree`."""
        for table in ("validity", "anchor_path", "anchor_set"):
            self._connection.execute(f"DELETE FROM {table} WHERE worktree = ?", (worktree,))
        self._connection.execute("DELETE FROM worktree WHERE id = ?", (worktree,))

    def put_anchor_sets(self, worktree: int, anchor_sets: Iterable[AnchorSet]) -> None:
        """See `StalenessWriter.put_anchor_sets`."""
        anchor_sets = list(anchor_sets)
        self.drop_anchor_sets(worktree, [anchor_set.item for anchor_set in anchor_sets])
        many = self._connection.executemany
        many(_PUT_ANCHOR_SET, ((worktree, one.is_pending, *_row(one)) for one in anchor_sets))
        many(
            "INSERT OR IGNORE INTO anchor_path VALUES (?, ?, ?)",
            ((worktree, one.path, each.item) for each in anchor_sets for one in each.anchors),
        )

    def drop_anchor_sets(self, worktree: int, ids: Iterable[int]) -> None:
        """See `StalenessWriter.drop_anchor_sets`."""
        rows = [(worktree, item) for item in ids]
        for table in ("anchor_set", "anchor_path"):
            self._connection.executemany(
                f"DELETE FROM {table} WHERE worktree = ? AND item_id = ?", rows
            )

    def put_validity(self, worktree: int, validity: Mapping[int, Sequence[Validity]]) -> None:
        """See `StalenessWriter.put_validity`."""
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


def _row(anchor_set: AnchorSet) -> Row:
    *values, anchors = msgspec.structs.astuple(anchor_set)
    return (*values, json_text(anchors))


def _anchor_set(row: Row) -> AnchorSet:
    values = dict(zip(ANCHOR_SET_FIELDS, row, strict=True))
    values["is_here"] = bool(values["is_here"])
    values["anchors"] = _anchors(values["anchors"])
    return AnchorSet(**values)
