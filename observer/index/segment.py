"""A segment of the index: rows that were added together, and their postings and columns.

A row is one version of one item, or a tombstone; a later row with the same id replaces it. Its text
is numbers: every word becomes the code of its stem, 32 bits of a checksum, and names yield their
parts as well. Of half a million stems some thirty pairs have one code, and are one word.
"""

from __future__ import annotations

import re
import zlib
from array import array
from collections.abc import Callable, Sequence
from copy import copy
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from observer.core.filters import Filters
from observer.core.model import UNSPACED, Item, ItemChange, columns_of
from observer.core.patterns import lazy_pattern
from observer.core.value import Value, decode_json
from observer.index.arrays import Arrays, SavedArrays
from observer.index.vectors import norms, signs

Stem = Callable[[str], tuple[str, ...]]
"""Returns the terms under which a word is kept: folded and stemmed."""

SEPARATOR = 0
"""The code that ends a column; no stem has it."""

COLUMNS = 6
"""Title, subtitle, narrative, facts, concepts, files: each ends with a separator."""

MOST_KNOWN, KEPT = 200_000, 20_000
"""Words whose codes are at hand while much is taken up, 50 MB of them, and those kept behind it."""

WORD_CHARS = 200
"""What is longer is data, not a word."""

_LETTER = rf"[^\W_{UNSPACED}]"
# Sets of so many letters take as long to compile as a hundred other patterns, and few texts hold
# any of them.
_WORDS = (
    lazy_pattern(rf"[{UNSPACED}]|{_LETTER}+(?:[\u0300-\u036f]+{_LETTER}*)*"),
    re.compile(r"[A-Za-z0-9]+"),
)
"""The words of any text, and of ASCII."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def words_of(text: str) -> list[str]:
    """Return the words of a text, in order.

    A word is a run of letters and digits, and of the accents that stand behind them in decomposed
    text; or one letter of a script without blanks.

    >>> words_of("add_item(2) \u5c71\u5ddd")
    ['add', 'item', '2', '\u5c71', '\u5ddd']
    """
    return _WORDS[text.isascii()].findall(text)


def pieces(word: str) -> list[str]:
    """Return the parts of a name in camelCase; a word without a hump is its only part.

    >>> pieces("HTTPServer"), pieces("server")
    (['HTTP', 'Server'], ['server'])
    """
    return _HUMP.split(word)


class Codes(dict[str, tuple[int, ...]]):
    """The codes of each word met so far: its stems', then those of its parts; for any thread."""

    def __init__(self, stem: Stem) -> None:
        super().__init__()
        self._stem = stem

    def __missing__(self, word: str) -> tuple[int, ...]:
        self.shrink(MOST_KNOWN)
        found = self.whole(word)
        inside = pieces(word[:WORD_CHARS])
        if len(inside) > 1:
            found += tuple(each for piece in inside for each in self.whole(piece))
        self[word] = found
        return found

    def shrink(self, most: int = KEPT) -> None:
        """Forget all words where there are more than so many; they are soon learnt again."""
        if len(self) > most:
            self.clear()

    def whole(self, word: str) -> tuple[int, ...]:
        """Return the codes of a word without those of its parts."""
        return tuple(map(code, self._stem(word))) if len(word) <= WORD_CHARS else ()

    def whole_each(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """Return what `whole` does of each word; ASCII letters are stemmed in one call."""
        letters = "".join(words)
        is_plain = letters.isascii() and letters.isalpha() and all(words)
        if is_plain and max(map(len, words)) <= WORD_CHARS:
            return [(code(term),) for term in self._stem(" ".join(words))]
        # Others may have no term, or several: those of all would not say whose they are.
        return [self.whole(word) for word in words]

    def of_item(self, item: Item) -> array[int]:
        """Return the codes of an item's columns, each column ended by `SEPARATOR`."""
        found: array[int] = array("I")
        for text in columns_of(item):
            found.extend(chain.from_iterable(map(self.__getitem__, words_of(text))))
            found.append(SEPARATOR)
        return found


def code(term: str) -> int:
    """Return the code of a stem, 1 to 2^32 - 1."""
    return zlib.crc32(term.encode("utf-8", "surrogatepass")) or 1


Rows = NDArray[np.int64]
"""Places of rows inside one segment."""

WEIGHTS = (2.0, 1.0, 1.0, 1.5, 1.0, 1.0)
"""What an occurrence counts for in title, subtitle, narrative, facts, concepts, files. Source:
development sets."""

SATURATION, LENGTH_SHARE = 1.2, 0.75
"""How BM25 damps: its k1, and its b, the share of a row's length that counts."""

HALVES = np.array([int(2 * weight) for weight in WEIGHTS], dtype=np.uint8)
"""The weights in halves, so that a row's weight for a word is a small whole number."""
_FULL = 255
_TERM = np.uint64(32)
_WEIGHT_BITS = 3
_WEIGHT = 2**_WEIGHT_BITS - 1
"""A posting as one number: code, row, weight in halves, from the highest bits to the lowest."""
ROWS_AT_ONCE = 2**13
_END = 32
"""The last dimensions of a vector, which are all 0 where only its beginning is there."""
_OF_A_PART = 2**20
"""Rows and tokens of a large segment that are worked on at once: what memory that needs."""

ATTRIBUTES = ("project", "kind", "type", "category", "branch", "owner")
"""Columns of codes by which rows are filtered; see `view.mask`."""


NOBODY = 0
"""The owner of what everybody may see."""


def attribute(text: str) -> int:
    """Return the code of a kind, type, category, branch or owner; none is 0."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) if text else NOBODY


_RECORD = attribute("record")


class Postings(NamedTuple):
    """Which rows hold which word: `rows[offsets[n]:offsets[n + 1]]` hold `terms[n]`.

    `impacts` is about what BM25 makes of the occurrences in that row, 0 to 1, in 255ths.
    """

    terms: NDArray[np.uint32]
    offsets: NDArray[np.uint32]
    rows: NDArray[Any]
    impacts: NDArray[np.uint8]


class PostingRuns(NamedTuple):
    """Where the postings of some words are; `begins` equals `ends` for a word that is in no row."""

    begins: NDArray[np.int64]
    ends: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows hold each word."""
        return self.ends - self.begins


class QueryTerms(NamedTuple):
    """What the index knows of the words of a query: where they are, in how many rows, how rare."""

    query: NDArray[np.uint32]
    runs: list[PostingRuns]
    counts: NDArray[np.int64]
    rarities: NDArray[np.float64]

    def taken(self, which: NDArray[np.int64]) -> QueryTerms:
        """Return the same of some of the words."""
        runs = [PostingRuns(each.begins[which], each.ends[which]) for each in self.runs]
        return QueryTerms(self.query[which], runs, self.counts[which], self.rarities[which])


class Segment:
    """Immutable rows by id, one at least, in memory or mapped; which of them are dead may change.

    `last_change` is the newest change that is part of it, `model` made its vectors.
    """

    def __init__(self, arrays: Arrays, *, last_change: int, model: str) -> None:
        self.arrays = arrays
        self.last_change = last_change
        self.model = model
        self.ids: NDArray[np.int64] = arrays["ids"]
        self.size = len(self.ids)
        self.buried = np.zeros(self.size, np.bool_)
        self.starts: NDArray[np.int64] = arrays["starts"]
        self.tokens: NDArray[np.uint32] = arrays["tokens"]
        self.lengths = widths(self.starts) - COLUMNS
        self.vectors: NDArray[np.int8] = arrays["vectors"]
        """Of the rows that have one, in their order; so are the signs. Records have none."""
        self.signs: NDArray[np.uint64] = arrays["signs"]
        self.norms: NDArray[np.float32] = arrays["norms"]
        self.alive: NDArray[np.bool_] = arrays["living"].copy()
        """Which rows are the newest of an item that exists."""
        self.has_owners = bool(arrays["owner"].any())
        """Whether some rows are for one person's eyes only."""
        self.has_vector: NDArray[np.bool_] = self.norms > 0
        self.places: Rows = np.cumsum(self.has_vector) - 1
        """Where the vector of each row that has one is among the vectors."""
        self.masks: dict[Filters, NDArray[np.bool_]] = {}
        """What `view.mask` made of the last filters; nothing once rows are buried."""
        self._to_embed: int | None = None
        self._embedded: int | None = None
        self._whole: int | None = None
        self._frozen: Segment | None = None
        self.words = int(self.lengths.sum())
        self.postings = Postings(*(arrays[name] for name in Postings._fields))

    def mark_deleted(self, ids: NDArray[np.int64]) -> None:
        """Take the rows of these items, given in order, for dead: newer ones exist."""
        # Mostly all are newer than what is in here.
        if ids[0] <= self.ids[-1] and len(rows := self.find(ids)):
            self.mark_rows_deleted(rows)

    def mark_rows_deleted(self, rows: Rows | NDArray[np.bool_]) -> None:
        """Take these rows for dead, by their places or by a mask."""
        self.buried, self.alive = self.buried.copy(), self.alive.copy()
        self.buried[rows] = True
        self.alive[rows] = False
        self.masks = {}
        self._to_embed = self._embedded = self._whole = self._frozen = None

    def frozen(self) -> Segment:
        """Return the segment as it is now: what dies later lives on in it."""
        if self._frozen is None:
            self._frozen = copy(self)
        return self._frozen

    @property
    def to_embed(self) -> int:
        """How many of the living rows are to have a vector: all but records."""
        if self._to_embed is None:
            is_wanted = self.alive & (self.arrays["kind"] != _RECORD)
            self._to_embed = int(np.count_nonzero(is_wanted))
        return self._to_embed

    @property
    def embedded(self) -> int:
        """How many of the living rows have a vector, be it only the beginning of one."""
        if self._embedded is None:
            self._embedded = int(np.count_nonzero(self.has_vector & self.alive))
        return self._embedded

    def whole(self, model: str) -> int:
        """Count the living rows that have a whole vector of a model."""
        if model != self.model:
            return 0
        if self._whole is None:
            ends = self.vectors[:, -_END:].any(axis=1)
            self._whole = int(np.count_nonzero(ends & self.alive[self.has_vector]))
        return self._whole

    def find(self, ids: NDArray[np.int64]) -> Rows:
        """Return the rows of those of the items that are in here, dead or alive."""
        places = np.minimum(np.searchsorted(self.ids, ids), self.size - 1)
        found: Rows = places[self.ids[places] == ids]
        return found

    def runs(self, codes: NDArray[np.uint32]) -> PostingRuns:
        """Return where the postings of words are."""
        terms, offsets = self.postings.terms, self.postings.offsets
        places = np.searchsorted(terms, codes)
        found = terms[np.minimum(places, len(terms) - 1)] == codes
        places[~found] = 0
        begins = offsets[places].astype(np.int64)
        return PostingRuns(begins, np.where(found, offsets[places + 1], begins))

    def relevance(
        self, runs: PostingRuns, rarities: NDArray[np.float64], out: NDArray[np.float32]
    ) -> None:
        """Add about its BM25 to each row of `out`."""
        worths = (rarities * (SATURATION + 1) / _FULL).astype(np.float32)
        for begin, end, worth in zip(runs.begins.tolist(), runs.ends.tolist(), worths, strict=True):
            if begin < end:
                # In less than half the time of `+=` by brackets, which gathers and puts back.
                impacts = self.postings.impacts[begin:end] * worth
                np.add.at(out, self.postings.rows[begin:end], impacts)


def widths(bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how far each bound is from the one before; of few in a fifth of `np.diff`'s time."""
    found: NDArray[np.int64] = bounds[1:] - bounds[:-1]
    return found


def damping(
    lengths: NDArray[np.int64], mean_length: float, share: float = LENGTH_SHARE
) -> NDArray[np.float32]:
    """Return, for rows of so many words, what their occurrences are weighed against, in halves."""
    shares = 1 - share + share * lengths / max(1.0, mean_length)
    return (2 * SATURATION * shares).astype(np.float32)


def halves_of(tokens: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """Return what each code of whole streams weighs by its column, in halves; separators: 0."""
    ends = tokens == SEPARATOR
    columns = (np.cumsum(ends, dtype=np.uint32) - ends) % COLUMNS
    return np.where(ends, 0, HALVES[columns])


def inverted(
    tokens: NDArray[np.uint32], starts: NDArray[np.int64], *, mean_length: float
) -> Postings:
    """Return the postings of streams, one row each; lengths count against the mean given.

    Separators are among the terms, with a weight of 0: so there is always a term.
    """
    keys = _keys(tokens, starts)
    against = damping(widths(starts) - COLUMNS, mean_length)
    # Part by part, for each needs several times its size.
    count = 1 + len(keys) // _OF_A_PART
    bounds = (np.arange(1, count, dtype=np.uint64) * ((1 << 32) // count)) << _TERM
    ends = [0, *np.searchsorted(keys, bounds).tolist(), len(keys)]
    parts = [_inverted(keys[begin:end], against) for begin, end in pairwise(ends) if begin < end]
    holding = np.concatenate([[0], *(part.offsets for part in parts)])
    return Postings(
        terms=np.concatenate([part.terms for part in parts]),
        offsets=np.cumsum(holding).astype(np.uint32),
        rows=np.concatenate([part.rows for part in parts]),
        impacts=np.concatenate([part.impacts for part in parts]),
    )


def _keys(tokens: NDArray[np.uint32], starts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the code, the row and the weight in halves of each token as one number, in order.

    Numbers are sorted ten times as fast as the places of numbers.
    """
    keys = tokens.astype(np.uint64)
    keys <<= _TERM
    for first in range(0, len(starts) - 1, ROWS_AT_ONCE):
        ends = starts[first : first + ROWS_AT_ONCE + 1]
        stretch = slice(ends[0], ends[-1])
        rows = np.arange(first, first + len(ends) - 1, dtype=np.uint32) << _WEIGHT_BITS
        keys[stretch] |= np.repeat(rows, widths(ends)) | halves_of(tokens[stretch])
    keys.sort()
    return keys


def _inverted(keys: NDArray[np.uint64], against: NDArray[np.float32]) -> Postings:
    """Return the postings of keys in order; for offsets, how many rows hold each term."""
    weights = keys.astype(np.uint8) & _WEIGHT
    firsts = _firsts(keys >> _WEIGHT_BITS)
    weights = np.add.reduceat(weights, firsts, dtype=np.uint32)
    holders = keys[firsts]
    codes = (holders >> _TERM).astype(np.uint32)
    rows = (holders.astype(np.uint32) >> _WEIGHT_BITS).astype(np.min_scalar_type(len(against)))
    begins = _firsts(codes)
    impacts = weights / (weights + against[rows])
    return Postings(
        terms=codes[begins],
        offsets=np.diff(begins, append=len(codes)),
        rows=rows,
        impacts=np.rint(impacts * _FULL).astype(np.uint8),
    )


def _firsts(ordered: NDArray[Any]) -> NDArray[np.int64]:  # of each run of equal values
    return np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))


def mean_length(segments: Sequence[Segment]) -> float:
    """Return how many words a row has; 0 without any row."""
    rows = sum(each.size for each in segments)
    return sum(each.words for each in segments) / max(1, rows)


NO_SESSION = -1


class FileFacts(Value):
    """Metadata of a segment file beside its arrays."""

    last_change: int
    model: str


def segment(
    changes: Sequence[ItemChange],
    codes: Codes,
    *,
    model: str,
    dimensions: int,
    mean_length: float,
    pause: Callable[[], None] = lambda: None,
) -> Segment:
    """Return the rows of changed items, one at least, in their order.

    `mean_length` are the words of a row, of all there are, or 0. `pause` is called for each item.
    """
    newest = {change.id: change for change in changes}
    ordered = [newest[item_id] for item_id in sorted(newest)]
    streams = []
    for one in ordered:
        pause()
        empty = array("I", [SEPARATOR] * COLUMNS)
        streams.append(codes.of_item(one.item) if one.item else empty)
    starts = np.cumsum([0, *map(len, streams)], dtype=np.int64)
    mean_length = mean_length or float(starts[-1]) / len(ordered) - COLUMNS
    tokens = np.frombuffer(b"".join(streams), np.uint32)
    # A shorter vector is the beginning of one whose rest is still to come; a longer is another's.
    ours = (one.vector if len(one.vector or b"") <= dimensions else b"" for one in ordered)
    vectors = b"".join((vector or b"").ljust(dimensions, b"\0") for vector in ours)
    arrays = {
        **_attributes(ordered),
        "vectors": np.frombuffer(vectors, np.int8).reshape(len(ordered), dimensions),
        "starts": starts,
        "tokens": tokens,
    }
    return _segment(arrays, FileFacts(last_change=changes[-1].change, model=model), mean_length)


def merged(segments: Sequence[Segment], *, mean_length: float) -> Segment:
    """Return the rows of several segments of one model that are not buried, as one segment."""
    kept = [np.flatnonzero(~each.buried) for each in segments]
    order = np.argsort(joined([each.ids[rows] for each, rows in zip(segments, kept, strict=True)]))
    whole = {}
    for name in ("ids", "living", "session", "created", *ATTRIBUTES):
        taken = [each.arrays[name][rows] for each, rows in zip(segments, kept, strict=True)]
        whole[name] = joined(taken)[order]
    vectors, begins, lengths, offset = [], [], [], 0
    for each, rows in zip(segments, kept, strict=True):
        have = each.has_vector[rows]
        found = np.zeros((len(rows), each.vectors.shape[1]), np.int8)
        found[have] = each.vectors[each.places[rows[have]]]
        vectors.append(found)
        begins.append(each.starts[rows] + offset)
        lengths.append(widths(each.starts)[rows])
        offset += len(each.tokens)
    whole["vectors"] = joined(vectors)[order]
    tokens = joined([each.tokens for each in segments])
    of_rows = joined(begins)[order], joined(lengths)[order]
    whole["starts"], whole["tokens"] = gathered(tokens, *of_rows)
    facts = FileFacts(last_change=segments[-1].last_change, model=segments[-1].model)
    return _segment(whole, facts, mean_length)


def loaded(saved: SavedArrays) -> Segment:
    """Return the rows of a file. Raises: msgspec.MsgspecError, KeyError (of another one)."""
    facts = decode_json(saved.facts, FileFacts)
    return Segment(saved.arrays, last_change=facts.last_change, model=facts.model)


def _segment(arrays: dict[str, NDArray[Any]], facts: FileFacts, mean_length: float) -> Segment:
    vectors = arrays["vectors"]
    postings = inverted(arrays["tokens"], arrays["starts"], mean_length=mean_length)
    derived = postings._asdict()
    lengths = norms(vectors)
    held = vectors[lengths > 0]
    arrays |= derived | {"vectors": held, "signs": signs(held), "norms": lengths}
    return Segment(arrays, last_change=facts.last_change, model=facts.model)


def _attributes(changes: Sequence[ItemChange]) -> dict[str, NDArray[Any]]:
    items = [change.item for change in changes]
    rows = []
    for item in items:
        owner = attribute(f"owner {item.owner}") if item and item.scope == "personal" else NOBODY
        texts = (item.kind, item.type, item.category, item.branch) if item else ("",) * 4
        project = (item.project_id or 0) if item else 0
        rows.append((project, *map(attribute, texts), owner))
    table = np.array(rows, dtype=np.uint32).T
    sessions = [NO_SESSION if not i or i.session_id is None else i.session_id for i in items]
    return {
        "ids": np.array([change.id for change in changes], dtype=np.int64),
        "living": np.array([item is not None for item in items], dtype=np.bool_),
        "session": np.array(sessions, dtype=np.int64),
        "created": np.array([item.created_ms if item else 0 for item in items], dtype=np.int64),
        **dict(zip(ATTRIBUTES, table, strict=True)),
    }


def gathered(
    tokens: NDArray[np.uint32], begins: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return stretches of an array one behind the other, and where each starts."""
    starts = np.concatenate(([0], np.cumsum(lengths)))
    found = np.empty(starts[-1], tokens.dtype)
    for first in range(0, len(lengths), ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        ends = starts[first : first + ROWS_AT_ONCE + 1]
        places = np.arange(ends[0], ends[-1])
        places += np.repeat(begins[rows] - ends[:-1], lengths[rows])
        found[ends[0] : ends[-1]] = tokens[places]
    return starts, found


def joined(arrays: Sequence[NDArray[Any]], kind: type[np.generic] = np.int64) -> NDArray[Any]:
    """Return arrays one behind the other; of one it is that one, which is not to be changed."""
    if len(arrays) == 1:
        return arrays[0]
    return np.concatenate(arrays) if arrays else np.zeros(0, kind)
