"""What can be asked of an index: the best rows by words and by meaning, and all about some rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from observer.filters import Filters
from observer.index.evidence import Occurrences, Streams
from observer.index.making import gathered
from observer.index.masks import Mask, mask
from observer.index.segment import SATURATION, Runs, Segment, damping
from observer.index.tokens import Codes
from observer.index.vectors import Vector, cosines, distances, signs

LEAST_RARITY = 1e-6
"""What a word that most items hold is worth: enough to match, too little to matter."""

RESCORED = 800
"""Vectors compared in full, for each list. Source: recall@10 of 0.997 at a million items."""

Places = NDArray[np.int64]
"""Rows of all segments, counted through."""
Query = NDArray[np.uint32]
"""Codes of the different words of a query."""


class Best(NamedTuple):
    """Rows and their scores, best first."""

    places: Places
    scores: NDArray[np.float32]


class View:
    """All segments, as they are while the index is lent.

    Args:
        model: the model whose vectors count; empty for none.
        is_complete: whether all that is stored is in it.
    """

    def __init__(
        self, segments: Sequence[Segment], codes: Codes, *, model: str, is_complete: bool
    ) -> None:
        self.is_complete = is_complete
        self._segments = segments
        self._codes = codes
        self._model = model
        self._bases = np.cumsum([0, *(each.size for each in segments)], dtype=np.int64)

    @property
    def size(self) -> int:
        """How many rows there are, buried ones included."""
        return int(self._bases[-1])

    def codes(self, word: str) -> tuple[int, ...]:
        """Return the codes of one word, left whole."""
        return self._codes.whole(word)

    def masks(self, filters: Filters, among: NDArray[np.int64] | None = None) -> list[Mask]:
        """Return which rows of each segment count; see `masks.mask`."""
        return [mask(each, filters, among) for each in self._segments]

    def by_words(self, query: Query, lists: Sequence[list[Mask]], *, limit: int) -> list[Best]:
        """Return the rows with about the highest BM25 in each list."""
        runs = [each.runs(query) for each in self._segments]
        rarities = self._rarities(_summed(runs, len(query)))
        best = [_Top(limit) for _ in lists]
        for number, each in self._newest_first():
            scores = each.relevance(runs[number], rarities)
            for top, masks in zip(best, lists, strict=True):
                top.offer(scores * masks[number], int(self._bases[number]))
        return [top.best() for top in best]

    def by_meaning(self, query: Vector, lists: Sequence[list[Mask]], *, limit: int) -> list[Best]:
        """Return the rows whose vectors point most nearly where the query does, in each list."""
        pattern = signs(query[np.newaxis])
        nearest = [_Top(RESCORED) for _ in lists]
        for number, each in self._newest_first():
            if each.model != self._model:
                continue
            agreement = len(query) - distances(each.signs, pattern).astype(np.float32)
            agreement *= each.norms > 0
            for top, masks in zip(nearest, lists, strict=True):
                top.offer(agreement * masks[number], int(self._bases[number]))
        return [self._rescored(top.best().places, query, limit) for top in nearest]

    def occurrences(self, places: Places, query: Query) -> Occurrences:
        """Return where the words of a query stand in some rows, given in ascending order."""
        return Occurrences(self._streams(places), query)

    def relevance(
        self, places: Places, query: Query, weights: NDArray[np.float64]
    ) -> NDArray[np.float32]:
        """Return the BM25 of some rows from what the words weigh in them: rows by words."""
        lengths = self._of(places, lambda each: each.lengths)
        against = damping(lengths, mean_length(self._segments))
        shares = weights / (weights + against[:, np.newaxis])
        rarities = self._rarities(self.counts(query)) * (SATURATION + 1)
        return (shares @ rarities).astype(np.float32)

    def cosines(self, places: Places, query: Vector) -> NDArray[np.float32]:
        """Return the cosine of some rows with a query; 0 where there is no vector."""
        found = np.zeros(len(places), np.float32)
        for each, asked, rows in self._parted(places):
            if each.model == self._model:
                found[asked] = cosines(each.vectors[rows], each.norms[rows], query)
        return found

    def ids(self, places: Places) -> NDArray[np.int64]:
        """Return the items of some rows."""
        return self._of(places, lambda each: each.ids)

    def counts(self, query: Query) -> NDArray[np.int64]:
        """Return how many rows hold each word, buried ones included."""
        return _summed([each.runs(query) for each in self._segments], len(query))

    def _streams(self, places: Places) -> Streams:
        """Return the codes of some rows, separators included."""
        starts, tokens = [np.zeros(1, np.int64)], [np.zeros(0, np.uint32)]
        for each, _, rows in self._parted(places):
            begins, codes = gathered(each.tokens, each.starts[rows], np.diff(each.starts)[rows])
            starts.append(begins[1:] + starts[-1][-1])
            tokens.append(codes)
        return Streams(np.concatenate(starts), np.concatenate(tokens))

    def _rarities(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        rarities = np.log((self.size - counts + 0.5) / (counts + 0.5))
        return np.maximum(LEAST_RARITY, rarities)

    def _rescored(self, places: Places, query: Vector, limit: int) -> Best:
        found = self.cosines(places, query)
        order = np.lexsort((-places, -found))[:limit]
        return Best(places[order], found[order])

    def _of(
        self, places: Places, column: Callable[[Segment], NDArray[np.int64]]
    ) -> NDArray[np.int64]:
        found = np.zeros(len(places), np.int64)
        for each, asked, rows in self._parted(places):
            found[asked] = column(each)[rows]
        return found

    def _newest_first(self) -> Iterator[tuple[int, Segment]]:
        numbers = range(len(self._segments) - 1, -1, -1)
        return ((number, self._segments[number]) for number in numbers)

    def _parted(self, places: Places) -> Iterator[tuple[Segment, NDArray[np.int64], Places]]:
        """Yield each segment that has some of the rows: which of them, and where in it."""
        owners = np.searchsorted(self._bases, places, side="right") - 1
        for number in np.unique(owners).tolist():
            asked = np.flatnonzero(owners == number)
            yield self._segments[number], asked, places[asked] - self._bases[number]


def _summed(runs: Sequence[Runs], words: int) -> NDArray[np.int64]:
    counts = [each.counts for each in runs]
    total: NDArray[np.int64] = np.sum([np.zeros(words, np.int64), *counts], axis=0)
    return total


def mean_length(segments: Sequence[Segment]) -> float:
    """Return how many words a row has; 0 without any row."""
    return sum(each.words for each in segments) / max(1, sum(each.size for each in segments))


class _Top:
    """The highest scores offered so far, of those above 0; of equal ones the first offered."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._floor = np.float32(0)
        self._best = Best(np.zeros(0, np.int64), np.zeros(0, np.float32))

    def offer(self, scores: NDArray[np.float32], base: int) -> None:
        found = np.flatnonzero(scores > self._floor)
        places = np.concatenate((self._best.places, found + base))
        values = np.concatenate((self._best.scores, scores[found]))
        if len(values) > self._limit:
            kept = np.argpartition(-values, self._limit - 1)[: self._limit]
            places, values = places[kept], values[kept]
            self._floor = values.min()
        self._best = Best(places, values)

    def best(self) -> Best:
        places, scores = self._best
        order = np.lexsort((-places, -scores))
        return Best(places[order], scores[order])
