"""Which rows may be seen at all: filters, compiled into the columns of a segment."""

from __future__ import annotations

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
    arrays = one.arrays
    seen = one.alive.copy()
    if among is not None:
        chosen = np.zeros(one.size, np.bool_)
        chosen[one.find(among)] = True
        seen &= chosen
    if filters.project_id is not None:
        projects = [filters.project_id, *([0] if filters.with_global else [])]
        seen &= _one_of(arrays["project"], projects)
    for column, wanted in (
        ("kind", filters.kinds),
        ("type", filters.types),
        ("category", (filters.category,) if filters.category else ()),
        ("branch", (filters.branch,) if filters.branch else ()),
    ):
        if wanted:
            seen &= _one_of(arrays[column], [attribute(name) for name in wanted])
    if filters.session_id is not None:
        seen &= arrays["session"] == filters.session_id
    if filters.since_ms is not None:
        seen &= arrays["created"] >= filters.since_ms
    if filters.until_ms is not None:
        seen &= arrays["created"] < filters.until_ms
    owner = attribute(f"owner {filters.owner}") if filters.owner else NOBODY
    return seen & _one_of(arrays["owner"], [NOBODY, owner])


def _one_of(column: NDArray[np.uint32], wanted: list[int]) -> Mask:
    found: Mask = column == wanted[0]
    for value in wanted[1:]:
        found |= column == value
    return found
