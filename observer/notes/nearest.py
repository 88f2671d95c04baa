"""Which of many vectors point nearly the same way.

Pure, and the same for the same vectors. All are compared with all while they are few; of many, each
is compared with those that lie around the same landmarks as it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Rows = NDArray[np.int64]

FEW = 8_192
"""Vectors up to which all are compared with all."""
AROUND = 128
"""Vectors around one landmark, about."""
PROBED = 16
"""Landmarks, the nearest, around which a vector looks for its neighbours.

Source: 95 % of the eight nearest of 100,000 real texts, in 10 s; 24 find 97 % in 13 s.
"""
AT_ONCE = 1 << 20
"""Pairs that are compared at once: what fits into a processor's memory."""
CROWD = 250
"""Neighbours of one vector that are told apart."""
_FINE = 100_000
"""Steps of a cosine that are told apart: more than that depends on the order of additions."""
_FAR_BITS, _APART_BITS = 18, 23
_TIE = 1e-4
"""What the pair furthest apart loses in a crowd: of equals those closest by are kept."""


class Near(NamedTuple):
    """Pairs of neighbours, by source, the nearest target first."""

    sources: Rows
    targets: Rows
    cosines: NDArray[np.float32]

    def chosen(self, pairs: Rows | NDArray[np.bool_]) -> Near:
        """Return some of the pairs, by their places or by a mask."""
        return Near(self.sources[pairs], self.targets[pairs], self.cosines[pairs])

    def both_ways(self) -> Near:
        """Return the pairs and their reverse: who is not found by one may be by the other."""
        sources = np.concatenate((self.sources, self.targets))
        targets = np.concatenate((self.targets, self.sources))
        cosines = np.concatenate((self.cosines, self.cosines))
        span = 1 + int(targets.max(initial=0))
        different = np.unique(sources * span + targets, return_index=True)[1]
        return Near(sources, targets, cosines).chosen(different)


class Wanted(NamedTuple):
    """A kind of neighbours: how many of each vector, and which pairs count (None: any)."""

    most: int
    admits: Callable[[Rows, Rows], NDArray[np.bool_]] | None = None


_NONE = Near(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))


def nearest(vectors: Vectors, wanted: Sequence[Wanted], *, least: float) -> list[Near]:
    """Return each kind of neighbours of all vectors; of equally near ones those closest by.

    Args:
        vectors: unit vectors.
        wanted: the kinds.
        least: the cosine from which on two are neighbours.
    """
    found: list[list[Near]] = [[_NONE] for _ in wanted]
    for sources, targets in _fields(vectors):
        step = max(1, AT_ONCE // max(1, len(targets)))
        for start in range(0, len(sources), step):
            near = _near(vectors, sources[start : start + step], targets, least)
            for kind, parts in zip(wanted, found, strict=True):
                parts.append(_first(near, kind))
    return [
        _first(Near(*map(np.concatenate, zip(*parts, strict=True))).both_ways(), kind)
        for kind, parts in zip(wanted, found, strict=True)
    ]


def _fields(vectors: Vectors) -> Iterator[tuple[Rows, Rows]]:
    """Yield rows, and the rows among which their neighbours are looked for."""
    count = len(vectors)
    if count <= FEW:
        yield np.arange(count), np.arange(count)
        return
    landmarks = vectors[::AROUND]
    steps = range(0, count, FEW)
    probed = np.concatenate([_probed(vectors[at : at + FEW], landmarks) for at in steps])
    members = _grouped(probed[:, 0], len(landmarks))
    visitors = _grouped(probed.ravel(), len(landmarks))
    for around, visiting in zip(members, visitors, strict=True):
        yield visiting // PROBED, around


def _probed(vectors: Vectors, landmarks: Vectors) -> Rows:
    """Return the landmarks nearest to each vector, the very nearest first."""
    closeness = vectors @ landmarks.T
    chosen = np.argpartition(-closeness, PROBED - 1, axis=1)[:, :PROBED]
    order = np.argsort(-np.take_along_axis(closeness, chosen, axis=1), axis=1, kind="stable")
    return np.take_along_axis(chosen, order, axis=1)


def _grouped(numbers: Rows, count: int) -> list[Rows]:
    """Return the places of each number below a count."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.searchsorted(numbers[order], np.arange(1, count)))


def _near(vectors: Vectors, sources: Rows, targets: Rows, least: float) -> Near:
    """Return the pairs that are near enough."""
    cosines = vectors[sources] @ vectors[targets].T
    hits = cosines >= least
    if np.count_nonzero(hits) > CROWD * len(sources):
        _thin(cosines, np.abs(sources[:, np.newaxis] - targets) * (_TIE / len(vectors)))
        hits = cosines >= least
    rows, columns = np.nonzero(hits)
    near = Near(sources[rows], targets[columns], cosines[rows, columns])
    return near.chosen(near.sources != near.targets)


def _thin(cosines: Vectors, penalties: NDArray[np.float64]) -> None:
    """Leave the largest of each row, so that a crowd costs no more than others do."""
    left_out = np.argpartition(penalties - cosines, CROWD - 1, axis=1)[:, CROWD:]
    np.put_along_axis(cosines, left_out, -1, axis=1)


def _first(near: Near, kind: Wanted) -> Near:
    """Return the best of each source."""
    if kind.admits:
        near = near.chosen(kind.admits(near.sources, near.targets))
    order = np.argsort(_ranks(near))
    ordered = near.sources[order]
    places = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return near.chosen(order[places < kind.most])


def _ranks(near: Near) -> Rows:
    """Return a number for each pair: by source, nearness, closeness of the rows, then direction.

    One number sorts three times as fast as four columns.
    """
    far = np.rint((1 - near.cosines) * _FINE).astype(np.int64)
    apart = np.minimum(np.abs(near.targets - near.sources), (1 << _APART_BITS) - 1)
    is_later = near.targets > near.sources
    ranks: Rows = (((near.sources << _FAR_BITS) + far << _APART_BITS) + apart << 1) + is_later
    return ranks
