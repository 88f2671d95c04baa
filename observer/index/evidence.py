"""Where the words of a query stand in some rows: how near to each other, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from observer.index.segment import halves_of
from observer.index.tokens import SEPARATOR

_APART = 1_000
"""Added between columns, so that what ends one is not near to what begins the next."""


class Streams(NamedTuple):
    """The codes of some rows, one row behind the other: row `n` is `starts[n]:starts[n + 1]`."""

    starts: NDArray[np.int64]
    tokens: NDArray[np.uint32]

    @property
    def owners(self) -> NDArray[np.int64]:
        """To which row each code belongs."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


class Occurrences:
    """Every place in some rows where a word of a query stands.

    Args:
        streams: the rows.
        query: codes of at most 64 different words.
    """

    def __init__(self, streams: Streams, query: NDArray[np.uint32]) -> None:
        self._streams = streams
        self._count = len(streams.starts) - 1
        self._query = query
        tokens = streams.tokens
        order = np.argsort(query)
        found = np.minimum(np.searchsorted(query[order], tokens), len(query) - 1)
        places = np.flatnonzero(query[order][found] == tokens)
        self._owners = streams.owners
        self._rows = self._owners[places]
        self._words = order[found[places]]
        self._halves = halves_of(tokens)[places]
        self._positions = places + _APART * np.cumsum(tokens == SEPARATOR)[places]

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
        """Tell which rows hold these codes side by side, in this order; none holds no codes."""
        tokens = self._streams.tokens
        length = len(tokens) - len(sequence) + 1
        fits = np.full(max(0, length), len(sequence) > 0)
        for offset, code in enumerate(sequence):
            fits &= tokens[offset : offset + len(fits)] == code
        held = np.zeros(self._count, np.bool_)
        held[self._owners[np.flatnonzero(fits)]] = True
        return held
