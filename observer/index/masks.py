"""Which rows may be seen at all: filters, compiled into the columns of a segment."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from observer.filters import Filters
from observer.index.making import NOBODY, attribute
from observer.index.segment import Segment

Mask = NDArray[np.bool_]


KEPT = 16
"""Masks of one segment that are kept for the next question, which often has the same filters."""


def mask(one: Segment, filters: Filters, among: NDArray[np.int64] | None = None) -> Mask:
    """Return which rows are alive, fit the filters, and are among these items; not to be changed.

    Names are compared by their codes, and files not at all: `Filters.admits` has the last word.
    """
    # What is not compared makes no other mask.
    compared = replace(filters, files=(), tags=(), layer=None, trusted_at_ms=None)
    seen = one.masks.get(compared)
    if seen is None:
        if len(one.masks) >= KEPT:
            one.masks.pop(next(iter(one.masks)))
        seen = one.masks[compared] = _fitting(one, compared)
    if among is None:
        return seen
    chosen = np.zeros(one.size, np.bool_)
    chosen[one.find(among)] = True
    return seen & chosen


def _fitting(one: Segment, filters: Filters) -> Mask:
    seen = one.alive.copy()
    for column, values in _wanted(filters):
        seen &= _one_of(one.arrays[column], values)
    for project_id in filters.without:
        seen &= one.arrays["project"] != project_id
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
        ("category", filters.categories),
        ("branch", [filters.branch]),
    ):
        if any(names):
            yield column, [attribute(name) for name in names]


def _one_of(column: NDArray[np.uint32], wanted: list[int]) -> Mask:
    found: Mask = column == wanted[0]
    for value in wanted[1:]:
        found |= column == value
    return found
