"""The highest of many scores: which rows may be in a list, how many are wanted, and the best."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from observer.index.masks import Mask

SAMPLED = 4_096
"""Rows that tell how near the nearest are."""

Places = NDArray[np.int64]
"""Rows of all segments, counted through."""


class Wanted(NamedTuple):
    """A list of an answer: which rows may be in it, and how many are wanted."""

    mask: Mask
    limit: int


class Best(NamedTuple):
    """Rows and their scores, best first."""

    places: Places
    scores: NDArray[np.float32]


def has_room(found: Best, wanted: Wanted) -> bool:
    """Tell whether fewer rows were found than are wanted."""
    return len(found.places) < wanted.limit


def reached(scores: NDArray[Any], mask: Mask, count: int) -> float:
    """Return a score that about `count` rows reach, judged by a sample; 0 for any score."""
    step = max(1, len(scores) // SAMPLED)
    sample = scores[::step] * mask[::step]
    place = len(sample) - 1 - count // step
    return float(np.partition(sample, place)[place]) if place >= 0 else 0.0


ENOUGH = 4
"""Times as many rows as are wanted are looked at, so that a sample is hardly ever too good."""


def highest(scores: NDArray[np.float32], wanted: Wanted) -> Best:
    """Return the rows of a list with the highest scores above 0."""
    mask, limit = wanted
    least = reached(scores, mask, ENOUGH * limit)
    places = np.flatnonzero((scores >= least if least else scores > 0) & mask)
    if least and len(places) < limit:  # the sample was too good
        places = np.flatnonzero((scores > 0) & mask)
    return best(places, scores[places], limit)


def best(places: Places, scores: NDArray[np.float32], limit: int) -> Best:
    """Return so many rows, the highest first; of equal ones the newest."""
    if len(places) > limit:
        least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        is_high = scores >= least
        places, scores = places[is_high], scores[is_high]
    order = np.lexsort((-places, -scores))[:limit]
    return Best(places[order], scores[order])
