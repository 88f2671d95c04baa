"""What can be asked of an index: the best rows by words and by vectors, and all about some rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from observer.core.filters import Filters
from observer.index.arrays import release
from observer.index.segment import (
    COLUMNS,
    HALVES,
    LENGTH_SHARE,
    NOBODY,
    SATURATION,
    SEPARATOR,
    Codes,
    QueryTerms,
    Segment,
    attribute,
    damping,
    gathered,
    joined,
    mean_length,
)
from observer.index.vectors import (
    WORD_BITS,
    Packed,
    QuerySigns,
    Vector,
    cosines,
    crowding,
    distances,
    pattern,
    weighed,
)

_APART = 1_000
"""Added between columns, so that what ends one is not near to what begins the next."""
_LOW_CODES = np.uint32(1 << 16)


class Occurrences:
    """Every place in some rows, given by their `tokens`, where one of 1 to 64 words stands."""

    def __init__(self, tokens: NDArray[np.uint32], query: NDArray[np.uint32]) -> None:
        self._tokens = tokens
        self._query = query
        self._ends = np.flatnonzero(tokens == SEPARATOR)
        self._count = len(self._ends) // COLUMNS
        order = np.argsort(query)
        # Few words are of the query: most of the others are seen by half of their code.
        is_likely = np.zeros(_LOW_CODES, np.bool_)
        is_likely[query % _LOW_CODES] = True
        # In a quarter of the time of a remainder and brackets.
        places = np.flatnonzero(is_likely.take(tokens.astype(np.uint16)))
        found = np.minimum(np.searchsorted(query[order], tokens[places]), len(query) - 1)
        is_word = query[order][found] == tokens[places]
        places, found = places[is_word], found[is_word]
        columns = np.searchsorted(self._ends, places)
        self._rows = columns // COLUMNS
        self._words = order[found]
        self._halves = HALVES[columns % COLUMNS]
        self._positions = places + _APART * columns

    def weights(self) -> NDArray[np.float64]:
        """Return what the occurrences of each word weigh in each row, in halves: rows by words."""
        shape = self._count, len(self._query)
        cells = self._rows * shape[1] + self._words
        cell_count = shape[0] * shape[1]
        weights = np.bincount(cells, weights=self._halves, minlength=cell_count)
        return weights.reshape(shape).astype(np.float64)

    def together(self, span: int) -> NDArray[np.int64]:
        """Return the most different words that stand inside `span` words of each row."""
        bits = np.uint64(1) << self._words.astype(np.uint64)
        seen = bits.copy()
        for shift in range(1, min(span, len(bits))):
            is_near = self._positions[shift:] - self._positions[:-shift] < span
            is_near &= self._rows[shift:] == self._rows[:-shift]
            if not is_near.any():
                break
            seen[:-shift] |= np.where(is_near, bits[shift:], np.uint64(0))
        most = np.zeros(self._count, np.int64)
        np.maximum.at(most, self._rows, np.bitwise_count(seen).astype(np.int64))
        return most

    def hold(self, sequence: Sequence[int]) -> NDArray[np.bool_]:
        """Return a mask of the rows with these codes side by side, in order; none without codes."""
        tokens = self._tokens
        length = len(tokens) - len(sequence) + 1
        fits = np.full(max(0, length), len(sequence) > 0)
        for offset, code in enumerate(sequence):
            fits &= tokens[offset : offset + len(fits)] == code
        held = np.zeros(self._count, np.bool_)
        held[np.searchsorted(self._ends, np.flatnonzero(fits)) // COLUMNS] = True
        return held


Mask = NDArray[np.bool_]


KEPT = 16
"""Masks of one segment that are kept for the next question, which often has the same filters."""


def mask(one: Segment, filters: Filters, among: NDArray[np.int64] | None = None) -> Mask:
    """Return which rows are alive, fit the filters, and are among these items; not to be changed.

    Names are compared by their codes, and files and `before_id` not at all: `Filters.admits` has
    the last word.
    """
    # What is not compared makes no other mask.
    compared = replace(filters, files=(), tags=(), layer=None, trusted_at_ms=None, by="", whose="")
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


def distinct(places: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the different numbers of some arrays, in order; quicker than `np.unique`."""
    ordered = np.sort(joined(places, np.int64))
    is_first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


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
        seen &= one.arrays["created"] < filters.until_ms + bool(filters.before_id)
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
    scores: NDArray[Any]


def reached(scores: NDArray[Any], mask: Mask, count: int) -> float:
    """Return a score that about `count` rows reach, judged by a sample; 0 for any score."""
    step = max(1, len(scores) // SAMPLED)
    sample = scores[::step][mask[::step]]
    sample = sample[sample > 0]
    place = len(sample) - 1 - count // step
    return float(np.partition(sample, place)[place]) if place >= 0 else 0.0


ENOUGH = 4
"""Times as many rows as are wanted are looked at, so that a sample is hardly ever too good."""


def highest(scores: NDArray[np.float32], wanted: ListRequest) -> TopK:
    """Return the rows of a list with the highest scores above 0."""
    mask, limit = wanted
    least = reached(scores, mask, ENOUGH * limit)
    # Few are as high, so that nothing else is looked at.
    high = np.flatnonzero(scores >= least if least else scores > 0)
    places = high[mask[high]]
    if least and len(places) < limit:  # the sample was too good
        places = np.flatnonzero((scores > 0) & mask)
    return best(places, scores[places], limit)


def best(places: Places, scores: NDArray[Any], limit: int) -> TopK:
    """Return so many rows, the highest first; of equal ones the newest."""
    if len(places) > limit:
        least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        is_high = scores >= least
        places, scores = places[is_high], scores[is_high]
    order = np.lexsort((-places, -scores))[:limit]
    return TopK(places[order], scores[order])


LEAST_RARITY = 1e-6
"""What a word that most items hold is worth: enough to match, too little to matter."""

WEIGHED = 16
RESCORED = 3
"""Vectors weighed by their signs, and compared in full, times the square root of all. Source:
recall@10 of 0.997 against exact among 100,000 of 640 dimensions; 8 and 2 give 0.993."""

SPARSE = 8
"""Where a mask lets through at most this part of all rows, their signs alone are compared."""

RELEASED = 300_000
"""Rows from which on their codes, half of the index, do not stay in memory: few are ever asked."""

Query = NDArray[np.uint32]
"""Codes of the different words of a query."""

Compare = Callable[[NDArray[np.uint64], QuerySigns], NDArray[np.uint16]]
"""Says how far apart vectors and a query are, by their signs."""
Part = tuple[Segment, slice, NDArray[np.int64]]


class View:
    """All segments, of one model, as they are while the index is lent, and whether that is all."""

    def __init__(self, segments: Sequence[Segment], codes: Codes, *, is_complete: bool) -> None:
        self.is_complete = is_complete
        self._segments = segments
        self._codes = codes
        # What one question needs several times: of its words, and of the rows it looks at.
        self._asked: QueryTerms | None = None
        self._chosen: tuple[Places, list[Part]] = (np.zeros(0, np.int64), [])
        self._bases = np.cumsum([0, *(each.size for each in segments)], dtype=np.int64)
        self.size = int(self._bases[-1])
        """How many rows there are, buried ones included."""

    @property
    def embedded(self) -> float:
        """Which share of the items has a vector; 1 if there are none. Records need no vector."""
        alive = sum(each.to_embed for each in self._segments)
        embedded = sum(each.embedded for each in self._segments)
        return embedded / alive if alive else 1.0

    def codes(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the codes of each of some words, left whole."""
        return self._codes.whole_each(words)

    def mask(self, filters: Filters, among: NDArray[np.int64] | None = None) -> Mask:
        """Return which rows count; see `mask`."""
        return joined([mask(each, filters, among) for each in self._segments], np.bool_)

    def are(self, places: Places, filters: Filters) -> Mask:
        """Return which of some rows fit, given in ascending order; see `mask`."""
        return self._of(places, lambda each: mask(each, filters), np.bool_)

    def by_words(self, query: Query, wanted: Sequence[ListRequest]) -> list[TopK]:
        """Return the rows with about the highest BM25 of each list."""
        words = self.words(query)
        scores = np.zeros(self.size, np.float32)
        # A word that most rows hold hardly ranks them: it only fills what the rest leave open.
        is_rare = words.rarities > LEAST_RARITY
        found: list[TopK] = []
        for chosen in (is_rare, ~is_rare):
            some = words.taken(np.flatnonzero(chosen))
            for (base, each), runs in zip(self._parts(), some.runs, strict=True):
                each.relevance(runs, some.rarities, scores[base : base + each.size])
            found = [highest(scores, each) for each in wanted]
            sizes = zip(found, wanted, strict=True)
            if is_rare.all() or all(len(one.places) >= each.limit for one, each in sizes):
                break
        return found

    def by_vector(self, query: Vector, wanted: Sequence[ListRequest]) -> list[TopK]:
        """Return the rows whose vectors point most nearly where the query does, of each list."""
        many = math.sqrt(self.size)
        counts = ((int(WEIGHED * many), max(int(RESCORED * many), each.limit)) for each in wanted)
        return [
            best(*self._compared(query, each.mask, *of_list), each.limit)
            for each, of_list in zip(wanted, counts, strict=True)
        ]

    def occurrences(self, places: Places, query: Query) -> Occurrences:
        """Return where the words of a query stand in some rows, given in ascending order."""
        return Occurrences(self._tokens(places), query)

    def relevance(
        self,
        places: Places,
        query: Query,
        weights: NDArray[np.float64],
        length_share: float = LENGTH_SHARE,
    ) -> NDArray[np.float32]:
        """Return the BM25 of some rows from what the words weigh in them: rows by words."""
        against = damping(
            self._of(places, lambda each: each.lengths), mean_length(self._segments), length_share
        )
        shares = weights / (weights + against[:, np.newaxis])
        return (shares @ self.words(query).rarities * (SATURATION + 1)).astype(np.float32)

    def cosines(self, places: Places, query: Vector) -> NDArray[np.float32]:
        """Return the cosine of some rows with a query; 0 where there is no vector."""
        return cosines(*self._packed(places, len(query)), query)

    def crowding(self, places: Places, dimensions: int) -> NDArray[np.float32]:
        """Return how near each of a few rows is to the nearest others; see `vectors.crowding`."""
        return crowding(*self._packed(places, dimensions))

    def _packed(self, places: Places, dimensions: int) -> Packed:
        """Return the vectors of some rows, given in ascending order, and their lengths."""
        vectors = np.zeros((len(places), dimensions), np.int8)
        lengths = np.zeros(len(places), np.float32)
        for each, asked, rows in self._parted(places):
            if len(each.vectors):
                lengths[asked] = each.norms[rows]
                # In a fifth of the time of brackets; what has no vector gets any at first.
                each.vectors.take(each.places[rows], axis=0, out=vectors[asked], mode="clip")
        vectors[lengths == 0] = 0
        return vectors, lengths

    def meanings(self, mask: Mask) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the items that a mask lets through and that have a vector, and unit vectors."""
        ids, found = [np.zeros(0, np.int64)], []
        for base, each in self._parts():
            rows = np.flatnonzero(mask[base : base + each.size] & each.has_vector)
            ids.append(each.ids[rows])
            lengths = each.norms[rows, np.newaxis]
            found.append(each.vectors[each.places[rows]].astype(np.float32) / lengths)
        vectors = np.concatenate(found) if found else np.zeros((0, 1), np.float32)
        return np.concatenate(ids), vectors

    def ids(self, places: Places) -> NDArray[np.int64]:
        """Return the items of some rows, given in any order."""
        order = np.argsort(places)
        found = np.empty(len(places), np.int64)
        found[order] = self._of(places[order], lambda each: each.ids)
        return found

    def newest(self, filters: Filters, limit: int) -> list[int]:
        """Return the items that fit and were made last, the newest first; see `mask`."""
        places = np.flatnonzero(self.mask(filters))
        made = self._of(places, lambda each: each.arrays["created"])
        ids: list[int] = self.ids(best(places, made, limit).places).tolist()
        return ids

    def rarest(self, query: Query, limit: int) -> Query:
        """Return the words that fewest rows hold, rarest first; what no row holds comes last."""
        words = self.words(query)
        none_last = np.where(words.counts > 0, words.counts, np.iinfo(np.int64).max)
        self._asked = words.taken(np.argsort(none_last, kind="stable")[:limit])
        return self._asked.query

    def _tokens(self, places: Places) -> NDArray[np.uint32]:
        """Return the codes of some rows, separators included."""
        found = []
        for each, _, rows in self._parted(places):
            found.append(gathered(each.tokens, each.starts[rows], each.lengths[rows] + COLUMNS)[1])
            if self.size >= RELEASED:
                release(each.tokens)
        return joined(found, np.uint32)

    def words(self, query: Query) -> QueryTerms:
        """Return what is known of the words, looked up once; what no row holds is the rarest."""
        if self._asked is None or self._asked.query is not query:
            runs = [each.runs(query) for each in self._segments]
            none = np.zeros(len(query), np.int64)
            counts = np.sum([none, *(each.counts for each in runs)], axis=0)
            rarities = np.log((self.size - counts + 0.5) / (counts + 0.5))
            self._asked = QueryTerms(query, runs, counts, np.maximum(LEAST_RARITY, rarities))
        return self._asked

    def _compared(self, query: Vector, mask: Mask, weighed_count: int, count: int) -> TopK:
        """Return about `count` nearest rows of a mask, less opposite ones, in ascending order."""
        signs = pattern(query)
        places = self._alike(signs, mask, weighed_count)
        places = self._nearest(places, weighed, signs, count)
        scores = self.cosines(places, query)
        is_near = scores > 0
        return TopK(places[is_near], scores[is_near])

    def _alike(self, query: QuerySigns, mask: Mask, count: int) -> Places:
        """Return about `count` rows of a mask, in ascending order, with most signs the query's."""
        if np.count_nonzero(mask) <= self.size // SPARSE:
            have = [each.has_vector for each in self._segments]
            places = np.flatnonzero(mask & np.concatenate([np.zeros(0, np.bool_), *have]))
            return self._nearest(places, distances, query, count)
        agreement = self._agreement(query)
        least = max(1, reached(agreement, mask, count))
        return np.flatnonzero((agreement >= least) & mask)

    def _agreement(self, query: QuerySigns) -> NDArray[np.uint16]:
        """Return how many signs of each row are the query's; none without a vector."""
        found = np.zeros(self.size, np.uint16)
        most = WORD_BITS * len(query.signs)
        for base, each in self._parts():
            alike = most - distances(each.signs, query)
            of_segment = found[base : base + each.size]
            if len(alike) == each.size:  # quicker than by brackets
                of_segment[:] = alike
            else:
                of_segment[each.has_vector] = alike
        return found

    def _nearest(self, places: Places, compare: Compare, query: QuerySigns, limit: int) -> Places:
        """Return those of some rows that differ least from a query, in ascending order."""
        if len(places) <= limit:
            return places
        apart = compare(self._signs(places, len(query.signs)), query)
        return np.sort(places[np.argpartition(apart, limit - 1)[:limit]])

    def _signs(self, places: Places, words: int) -> NDArray[np.uint64]:
        """Return the first words of signs of some rows, given in ascending order: by rows."""
        found = np.empty((words, len(places)), np.uint64)
        for each, asked, rows in self._parted(places):
            # Quicker than by brackets.
            each.signs[:words].take(each.places[rows], 1, found[:, asked], "clip")
        return found

    def _of(
        self,
        places: Places,
        column: Callable[[Segment], NDArray[Any]],
        kind: type[np.generic] = np.int64,
    ) -> NDArray[Any]:
        return joined([column(each)[rows] for each, _, rows in self._parted(places)], kind)

    def _parts(self) -> Iterator[tuple[int, Segment]]:
        """Yield each segment behind the place of its first row."""
        return zip(self._bases.tolist(), self._segments, strict=False)

    def _parted(self, places: Places) -> list[Part]:
        """Return each segment that has some of the rows, in ascending order: which, and where."""
        if self._chosen[0] is not places:
            ends = np.searchsorted(places, self._bases).tolist()
            self._chosen = (
                places,
                [
                    (each, slice(begin, end), places[begin:end] - base)
                    for (base, each), (begin, end) in zip(
                        self._parts(), pairwise(ends), strict=True
                    )
                    if begin < end
                ],
            )
        return self._chosen[1]
