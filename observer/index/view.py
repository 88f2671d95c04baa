"""What can be asked of an index: the best rows by words and by meaning, and all about some rows."""

from __future__ import annotations

import math
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

RESCORED = 16
"""Vectors compared in full, times the square root of all: 5,000 of 100,000, 16,000 of a million.

Source: recall@10 against exact of 0.98 and more with 256 dimensions; 2,400 and 8,000 give 0.97.
"""

SAMPLED = 4_096
"""Rows that tell how near the nearest of a segment are."""

Places = NDArray[np.int64]
"""Rows of all segments, counted through."""
Query = NDArray[np.uint32]
"""Codes of the different words of a query."""


class Wanted(NamedTuple):
    """A list of an answer: which rows of each segment may be in it, and how many are wanted."""

    masks: list[Mask]
    limit: int


Part = tuple[Segment, NDArray[np.int64], NDArray[np.int64]]


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
        self.model = model
        # What one question needs several times: of its words, and of the rows it looks at.
        self._asked: tuple[Query, list[Runs]] = (np.zeros(0, np.uint32), [])
        self._chosen: tuple[Places, list[Part]] = (np.zeros(0, np.int64), [])
        self._bases = np.cumsum([0, *(each.size for each in segments)], dtype=np.int64)

    @property
    def size(self) -> int:
        """How many rows there are, buried ones included."""
        return int(self._bases[-1])

    @property
    def embedded(self) -> float:
        """Which share of the items has a vector; 1 if there are no items."""
        alive = sum(int(np.count_nonzero(each.alive)) for each in self._segments)
        embedded = sum(each.embedded(self.model) for each in self._segments)
        return embedded / alive if alive else 1.0

    def codes(self, word: str) -> tuple[int, ...]:
        """Return the codes of one word, left whole."""
        return self._codes.whole(word)

    def masks(self, filters: Filters, among: NDArray[np.int64] | None = None) -> list[Mask]:
        """Return which rows of each segment count; see `masks.mask`."""
        return [mask(each, filters, among) for each in self._segments]

    def within(self, places: Places, masks: list[Mask]) -> NDArray[np.bool_]:
        """Tell which rows the masks of all segments let through."""
        return np.concatenate(masks)[places]

    def by_words(self, query: Query, wanted: Sequence[Wanted]) -> list[Best]:
        """Return the rows with about the highest BM25 of each list."""
        runs, rarities = self._runs(query), self._rarities(query)
        best = [_Top(each.limit) for each in wanted]
        for number, segment in self._newest_first():
            scores = segment.relevance(runs[number], rarities)
            for top, each in zip(best, wanted, strict=True):
                top.offer(scores * each.masks[number], int(self._bases[number]))
        return [top.best() for top in best]

    def by_meaning(
        self, query: Vector, wanted: Sequence[Wanted], *, rescored: int = RESCORED
    ) -> list[Best]:
        """Return the rows whose vectors point most nearly where the query does, of each list.

        `rescored` is as `RESCORED`; who looks for what is very near needs fewer.
        """
        pattern = signs(query[np.newaxis])
        looked_at = int(rescored * math.sqrt(self.size))
        nearest = [_Top(max(looked_at, each.limit)) for each in wanted]
        for number, segment in self._newest_first():
            if segment.model != self.model:
                continue
            agreement = len(query) - distances(segment.signs, pattern)
            for top, each in zip(nearest, wanted, strict=True):
                seen = agreement * (each.masks[number] & segment.has_vector)
                top.offer(seen, int(self._bases[number]), least=_least(seen, top.limit))
        return [
            self._rescored(np.sort(top.places), query, each.limit)
            for top, each in zip(nearest, wanted, strict=True)
        ]

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
        return (shares @ self._rarities(query) * (SATURATION + 1)).astype(np.float32)

    def cosines(self, places: Places, query: Vector) -> NDArray[np.float32]:
        """Return the cosine of some rows with a query; 0 where there is no vector."""
        found = np.zeros(len(places), np.float32)
        for each, asked, rows in self._parted(places):
            if each.model == self.model:
                found[asked] = cosines(each.vectors[rows], each.norms[rows], query)
        return found

    def meanings(self, masks: list[Mask]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the items that the masks let through and that have a vector, and unit vectors."""
        ids, found = [np.zeros(0, np.int64)], []
        for each, seen in zip(self._segments, masks, strict=True):
            if each.model == self.model:
                rows = np.flatnonzero(seen & each.has_vector)
                ids.append(each.ids[rows])
                lengths = each.norms[rows, np.newaxis]
                found.append(each.vectors[rows].astype(np.float32) / lengths)
        vectors = np.concatenate(found) if found else np.zeros((0, 1), np.float32)
        return np.concatenate(ids), vectors

    def ids(self, places: Places) -> NDArray[np.int64]:
        """Return the items of some rows."""
        return self._of(places, lambda each: each.ids)

    def counts(self, query: Query) -> NDArray[np.int64]:
        """Return how many rows hold each word, buried ones included."""
        counts = [each.counts for each in self._runs(query)]
        total: NDArray[np.int64] = np.sum([np.zeros(len(query), np.int64), *counts], axis=0)
        return total

    def _streams(self, places: Places) -> Streams:
        """Return the codes of some rows, separators included."""
        starts, tokens = [np.zeros(1, np.int64)], [np.zeros(0, np.uint32)]
        for each, _, rows in self._parted(places):
            begins, codes = gathered(each.tokens, each.starts[rows], np.diff(each.starts)[rows])
            starts.append(begins[1:] + starts[-1][-1])
            tokens.append(codes)
        return Streams(np.concatenate(starts), np.concatenate(tokens))

    def _runs(self, query: Query) -> list[Runs]:
        """Return where the words are in each segment; looked up once a question."""
        if self._asked[0] is not query:
            self._asked = (query, [each.runs(query) for each in self._segments])
        return self._asked[1]

    def _rarities(self, query: Query) -> NDArray[np.float64]:
        counts = self.counts(query)
        rarities = np.log((self.size - counts + 0.5) / (counts + 0.5))
        return np.maximum(LEAST_RARITY, rarities)

    def _rescored(self, places: Places, query: Vector, limit: int) -> Best:
        found = self.cosines(places, query)
        if len(found) > limit:
            kept = np.argpartition(-found, limit - 1)[:limit]
            places, found = places[kept], found[kept]
        order = np.lexsort((-places, -found))
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

    def _parted(self, places: Places) -> list[Part]:
        """Return each segment that has some of the rows: which of them, and where in it."""
        if self._chosen[0] is not places:
            owners = np.searchsorted(self._bases, places, side="right") - 1
            parts = []
            for number in np.unique(owners).tolist():
                asked = np.flatnonzero(owners == number)
                rows = places[asked] - self._bases[number]
                parts.append((self._segments[number], asked, rows))
            self._chosen = (places, parts)
        return self._chosen[1]


def mean_length(segments: Sequence[Segment]) -> float:
    """Return how many words a row has; 0 without any row."""
    return sum(each.words for each in segments) / max(1, sum(each.size for each in segments))


def _least(agreement: NDArray[np.uint16], count: int) -> int:
    """Return an agreement that about `count` rows reach, judged by a sample; 0 if fewer do."""
    step = max(1, len(agreement) // SAMPLED)
    sample = np.sort(agreement[::step])
    # One and a half times as many: the sample may flatter.
    place = len(sample) - 1 - (3 * count) // (2 * step)
    return int(sample[place]) if place >= 0 else 0


class _Top:
    """The highest scores offered so far, of those above 0; of equal ones the first offered."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.places = np.zeros(0, np.int64)
        self._scores = np.zeros(0, np.float32)
        self._floor = 0.0

    def offer(
        self, scores: NDArray[np.float32] | NDArray[np.uint16], base: int, *, least: int = 0
    ) -> None:
        """Take rows, the first of which is `base`; scores below `least` need no look."""
        is_high = scores >= least if least > self._floor else scores > self._floor
        found = np.flatnonzero(is_high)
        if not len(found):
            return
        self.places = np.concatenate((self.places, found + base))
        self._scores = np.concatenate((self._scores, scores[found].astype(np.float32)))
        if len(self.places) > self.limit:
            kept = np.argpartition(-self._scores, self.limit - 1)[: self.limit]
            self.places, self._scores = self.places[kept], self._scores[kept]
            self._floor = float(self._scores.min())

    def best(self) -> Best:
        """Return them, the highest first; of equal ones the newest."""
        order = np.lexsort((-self.places, -self._scores))
        return Best(self.places[order], self._scores[order])
