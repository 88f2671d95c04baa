"""Base of every read of the SQLite store: rows, items, and the conditions of filters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args

from observer.core.events import Layer
from observer.core.filters import Filters
from observer.core.model import Item
from observer.store.anchors import ValidityById
from observer.store.sqlite.rows import ITEM_COLUMNS, Row, json_text, marks, to_item
from observer.store.sqlite.validity import AMONG, ValidityReads, among

_LAYERS = {layer: layer for layer in get_args(Layer)}


Condition = tuple[str, list[Any]]
"""A condition on items, and its values."""
NO_PROJECT: Condition = ("project_id IS NULL", [])


class Selecting(ValidityReads):
    """One connection inside a transaction, and the ways to select from it."""

    def _rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        return self._connection.execute(sql, values).fetchall()

    def _row(self, sql: str, values: Sequence[object] = ()) -> Row | None:
        return next(iter(self._rows(sql, values)), None)

    def items(
        self,
        ids: Sequence[int],
        *,
        validity: ValidityById | None = None,
    ) -> list[Item]:
        """See `StoreReader.items`."""
        if not ids:
            return []
        rows = self._rows(
            f"SELECT {ITEM_COLUMNS} FROM item WHERE id {AMONG} AND deleted_ms IS NULL",
            (among(ids),),
        )
        found = {item.id: item for item in self.with_validity(list(map(to_item, rows)), validity)}
        return [found[item_id] for item_id in ids if item_id in found]

    def _items(self, tail: str, values: Sequence[object]) -> list[Item]:
        rows = self._rows(f"SELECT {ITEM_COLUMNS} FROM item WHERE {tail}", values)
        return self.with_validity(list(map(to_item, rows)))

    def _newest(
        self, where: str, values: Sequence[object], places: Sequence[Condition], *, limit: int
    ) -> list[int]:
        """Return the items of some places for which a condition holds, newest first."""
        found: list[Row] = []
        # One place at a time, each in the order of its index.
        for place, place_values in places:
            found += self._rows(
                f"SELECT created_ms, id FROM item WHERE {place} AND {where}"
                " ORDER BY created_ms DESC, id DESC LIMIT ?",
                (*place_values, *values, limit),
            )
        return [item for _, item in sorted(found, reverse=True)[:limit]]


VISIBLE = "(item.scope <> 'personal' OR item.owner = ?)"
_TOUCHED = """instr(replace(item.files_modified || item.files_read, '"', '/'), ?)"""
"""As `filters.touches`, in lists as they are written: quotes end a path, slashes its parts."""
_OWN = "(item.owner = ? AND item.owner <> '')"
"""Of personal items alone; said so that the index of owners serves."""
_TAGGED = "EXISTS (SELECT 1 FROM json_each(item.tags) WHERE value = ?)"


def homes(filters: Filters) -> list[Condition]:
    """Return the places that filters name."""
    if filters.project_id is None:
        return [("1", [])]
    homes: list[Condition] = [("project_id = ?", [filters.project_id])]
    return [*homes, NO_PROJECT] if filters.with_global else homes


def is_notable(filters: Filters) -> bool:
    """Return True if filters exclude observations, which nearly all items are."""
    return bool(filters.kinds) and "observation" not in filters.kinds


def conditions(filters: Filters) -> tuple[str, list[Any]]:
    """Return the conditions that are no index terms, and their values."""
    seen, values = _seen(filters)
    parts = ["item.deleted_ms IS NULL", seen]
    for condition, value in _rarer(filters):
        parts.append(condition)
        values.append(value)
    if is_notable(filters):
        parts.append("item.kind <> 'observation'")  # as the index of what is no observation
    for column, wanted in (
        ("kind", filters.kinds),
        ("type", filters.types),
        ("category", filters.categories),
    ):
        if wanted:
            # Of one type the newest come from its index; of several they would have to be sorted.
            unindexed = "+" if len(wanted) > 1 else ""
            parts.append(f"{unindexed}item.{column} IN ({marks(len(wanted))})")
            values.extend(wanted)
    for condition, value in (
        ("item.branch = ?", filters.branch or None),
        ("item.session_id = ?", filters.session_id),
        ("item.created_ms >= ?", filters.since_ms),
        ("item.created_ms < ?", filters.until_ms),
    ):
        if value is not None:
            parts.append(condition)
            values.append(value)
    if filters.files:
        parts.append(f"({' OR '.join([_TOUCHED] * len(filters.files))})")
        values.extend(map(_inside, filters.files))
    return " AND ".join(parts), values


def _seen(filters: Filters) -> Condition:
    visible = _OWN if filters.scope == "personal" else VISIBLE
    if not filters.owner_tag:
        return visible, [filters.owner]
    return f"({visible} OR {_TAGGED})", [filters.owner, filters.owner_tag]


def _inside(wanted: str) -> str:
    """Return how the lists of files that `_TOUCHED` looks at hold what touches `wanted`."""
    written = json_text(wanted.strip("/"))[1:-1]
    return "/{}/".format(written.replace('"', "/"))


def _rarer(filters: Filters) -> Iterator[tuple[str, object]]:
    """Yield what few questions restrict, most of it of notes; every condition has one value."""
    if filters.layer:
        # Written out, so that the index of rules serves.
        yield f"item.layer = '{_LAYERS[filters.layer]}' AND ?", 1
    if filters.scope:
        yield "item.scope = ?", filters.scope
    if filters.without:
        yield (
            f"(item.project_id IS NULL OR NOT item.project_id {AMONG})",
            among(filters.without),
        )
    if filters.trusted_at_ms is not None:
        yield (
            (
                "item.suspicion = '' AND item.approval <> 'provisional'"
                " AND (item.expires_ms IS NULL OR item.expires_ms > ?)"
            ),
            filters.trusted_at_ms,
        )
    for tag in filters.tags:
        yield _TAGGED, tag
