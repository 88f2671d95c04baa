"""Which rows may be seen at all: filters, compiled into the columns of a segment."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from observer.filters import Filters
from observer.index.making import NOBODY, attribute
from observer.index.segment import Segment

Mask = NDArray[np.bool_]


def mask(one: Segment, filters: Filters, among: NDArray[np.int64] | None = None) -> Mask:
    """Return which rows are alive, fit the filters, and are among these items.

    Names are compared by their codes, and files not at all: `Filters.admits` has the last word.
    """
    seen = one.alive.copy()
    if among is not None:
        chosen = np.zeros(one.size, np.bool_)
        chosen[one.find(among)] = True
        seen &= chosen
    for column, values in _wanted(filters):
        seen &= _one_of(one.arrays[column], values)
    if filters.session_id is not None:
        seen &= one.arrays["session"] == filters.session_id
    if filters.since_ms is not None:
        seen &= one.arrays["created"] >= filters.since_ms
    if filters.until_ms is not None:
        seen &= one.arrays["created"] < filters.until_ms
    owner = attribute(f"owner {filters.owner}") if filters.owner else NOBODY
    if filters.scope == "personal":
        seen &= (one.arrays["owner"] == owner) & (owner != NOBODY)
    elif one.has_owners:
        seen &= _one_of(one.arrays["owner"], [NOBODY, owner])
    return seen


def _wanted(filters: Filters) -> Iterator[tuple[str, list[int]]]:
    """Yield the columns of codes that the filters restrict, and the codes that may stand there."""
    if filters.project_id is not None:
        yield "project", [filters.project_id, *([0] if filters.with_global else [])]
    for column, names in (
        ("kind", filters.kinds),
        ("type", filters.types),
        ("category", [filters.category]),
        ("branch", [filters.branch]),
    ):
        if any(names):
            yield column, [attribute(name) for name in names]


def _one_of(column: NDArray[np.uint32], wanted: list[int]) -> Mask:
    found: Mask = column == wanted[0]
    for value in wanted[1:]:
        found |= column == value
    return found
