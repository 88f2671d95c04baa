"""Filters compiled into masks over the rows of a segment, and the top k rows by score."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from observer.core.filters import Filters
from observer.index.segment import NOBODY, Segment, attribute

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
        # Other threads may do the same at this moment.
        for oldest in list(one.masks)[: max(0, 1 + len(one.masks) - KEPT)]:
            one.masks.pop(oldest, None)
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
    if not filters.owner_tag:  # else whoever's they are: `Filters.admits` has the last word
        seen &= _visible(one, filters)
    return seen


def _visible(one: Segment, filters: Filters) -> Mask | np.bool_:
    owner = attribute(f"owner {filters.owner}") if filters.owner else NOBODY
    if filters.scope == "personal":
        own: Mask = (one.arrays["owner"] == owner) & (owner != NOBODY)
        return own
    return _one_of(one.arrays["owner"], [NOBODY, owner]) if one.has_owners else np.True_


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


SAMPLED = 4_096
"""Rows from which the distance of the nearest is estimated."""

Places = NDArray[np.int64]
"""Rows of all segments, counted through."""


class ListRequest(NamedTuple):
    """A list of an answer: which rows may be in it, and how many are wanted."""

    mask: Mask
    limit: int


class TopK(NamedTuple):
    """Rows and their scores, best first."""

    places: Places
    scores: NDArray[np.float32]


def has_room(found: TopK, wanted: ListRequest) -> bool:
    """Return True if fewer rows were found than are wanted."""
    return len(found.places) < wanted.limit


def reached(scores: NDArray[Any], mask: Mask, count: int) -> float:
    """Return a score that about `count` rows reach, judged by a sample; 0 for any score."""
    step = max(1, len(scores) // SAMPLED)
    sample = scores[::step] * mask[::step]
    place = len(sample) - 1 - count // step
    return float(np.partition(sample, place)[place]) if place >= 0 else 0.0


ENOUGH = 4
"""Times as many rows as are wanted are looked at, so that a sample is hardly ever too good."""


def highest(scores: NDArray[np.float32], wanted: ListRequest) -> TopK:
    """Return the rows of a list with the highest scores above 0."""
    mask, limit = wanted
    least = reached(scores, mask, ENOUGH * limit)
    places = np.flatnonzero((scores >= least if least else scores > 0) & mask)
    if least and len(places) < limit:  # the sample was too good
        places = np.flatnonzero((scores > 0) & mask)
    return best(places, scores[places], limit)


def best(places: Places, scores: NDArray[np.float32], limit: int) -> TopK:
    """Return so many rows, the highest first; of equal ones the newest."""
    if len(places) > limit:
        least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        is_high = scores >= least
        places, scores = places[is_high], scores[is_high]
    order = np.lexsort((-places, -scores))[:limit]
    return TopK(places[order], scores[order])
