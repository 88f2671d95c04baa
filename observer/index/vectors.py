"""Vector search: which of a million item vectors point where a query does.

In three steps, each with fewer vectors: by the Hamming distance of the signs of the dimensions,
by signs weighted by their dimensions in the query, and in full, in eight bits a dimension.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

WORD_BITS = 64

WEIGHT_BITS = 2
"""Bits of what a dimension of a query weighs; three choose no better than two."""
LARGE = 0.95
"""Share of a query's dimensions that are not larger than one of full weight."""

AT_ONCE = 10_000
"""Vectors compared at once. What is made on the way fits the processor's cache; for a million at
once it would be memory that the system has to lend anew, page by page, for each question. Of 4,096
at once each takes 1.8 times as long."""

NEIGHBOURS = 3
"""Vectors that the crowd around one is measured by. Source: development sets; 5 do as well."""

_LEAST = 1e-9

Vector = NDArray[np.float32]
"""A unit vector."""
Packed = tuple[NDArray[np.int8], NDArray[np.float32]]
"""Vectors in eight bits a dimension, and the length of each; 0 says that there is none."""


def norms(vectors: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the length of each packed vector; 0 says that there is none."""
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.int64)
    lengths: NDArray[np.float32] = np.sqrt(squares).astype(np.float32)
    return lengths


def signs(vectors: NDArray[Any]) -> NDArray[np.uint64]:
    """Return which dimensions are positive, one bit each: words of 64 by vectors."""
    bits = np.packbits(vectors > 0, axis=1)
    if missing := -bits.shape[1] % (WORD_BITS // 8):
        bits = np.pad(bits, ((0, 0), (0, missing)))
    words = np.ascontiguousarray(bits).view(np.uint64)
    # The first words of all vectors stand side by side, then the second ones: quicker to scan.
    return np.ascontiguousarray(words.T)


class QuerySigns(NamedTuple):
    """A query's `signs`; `planes` say which dimensions weigh 1, 2, 4 …, a dimension their sum."""

    signs: NDArray[np.uint64]
    planes: tuple[NDArray[np.uint64], ...]


def pattern(query: Vector) -> QuerySigns:
    """Return the signs of a query and what its dimensions weigh; at least one dimension.

    What follows its last dimension that is not 0 is left out, in words of `WORD_BITS`.
    """
    query = _used(query)
    most, sizes = 2**WEIGHT_BITS - 1, np.abs(query)
    large = int(LARGE * len(sizes))
    full = max(float(np.partition(sizes, large)[large]), _LEAST)
    weights = np.rint(most * sizes / full).clip(0, most).astype(np.uint8)
    heavy = [weights & 1 << bit for bit in range(WEIGHT_BITS)]
    of_signs, *planes = np.split(signs(np.array([query, *heavy])), 1 + WEIGHT_BITS, axis=1)
    return QuerySigns(of_signs, tuple(planes))


def _used(query: Vector) -> Vector:
    """Return a query without what follows its last dimension that is not 0, in whole words."""
    words = np.flatnonzero(query)[-1:].sum() // WORD_BITS + 1
    return query[: words * WORD_BITS]


def distances(rows: NDArray[np.uint64], query: QuerySigns) -> NDArray[np.uint16]:
    """Return how many signs of each vector, given as words by vectors, differ from the query's."""
    total = np.empty(rows.shape[1], np.uint16)
    # The same memory for each stretch: it stays in the processor's cache.
    differing = np.empty((len(query.signs), min(AT_ONCE, len(total))), np.uint64)
    counts = np.empty(differing.shape, np.uint8)
    for first in range(0, len(total), AT_ONCE):
        stretch = rows[: len(query.signs), first : first + AT_ONCE]
        size = stretch.shape[1]
        np.bitwise_xor(stretch, query.signs, out=differing[:, :size])
        np.bitwise_count(differing[:, :size], out=counts[:, :size])
        counts[:, :size].sum(axis=0, dtype=np.uint16, out=total[first : first + size])
    return total


def weighed(rows: NDArray[np.uint64], query: QuerySigns) -> NDArray[np.uint16]:
    """Return what the signs that differ weigh in the query, for each vector: words by vectors."""
    differing = rows[: len(query.signs)] ^ query.signs
    # What one word weighs fits eight bits, so that one sum does for all planes.
    counts = [np.bitwise_count(differing & plane) for plane in query.planes]
    weights = sum(count << np.uint8(bit) for bit, count in enumerate(counts))
    total: NDArray[np.uint16] = np.sum(weights, axis=0, dtype=np.uint16)
    return total


def cosines(
    vectors: NDArray[np.int8], lengths: NDArray[np.float32], query: Vector
) -> NDArray[np.float32]:
    """Return the cosine between each packed vector and the query; 0 where there is no vector."""
    query = _used(query)
    products = vectors[:, : len(query)].astype(np.float32) @ query
    nothing = np.zeros_like(products)
    found: NDArray[np.float32] = np.divide(products, lengths, out=nothing, where=lengths > 0)
    return found


def crowding(vectors: NDArray[np.int8], lengths: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the mean cosine between each packed vector and its `NEIGHBOURS` nearest of the others.

    Memory and time grow with the square of their number.

    Source: the mean similarity of cross-domain similarity local scaling (Conneau et al., "Word
    Translation Without Parallel Data", 2018), which corrects for vectors that are near to all.
    """
    units = vectors / np.maximum(lengths, _LEAST)[:, np.newaxis].astype(np.float32)
    among = units @ units.T
    np.fill_diagonal(among, 0)
    count = min(NEIGHBOURS, max(1, len(units) - 1))
    nearest = np.partition(among, -count, axis=1)[:, -count:]
    mean: NDArray[np.float32] = nearest.mean(axis=1)
    return mean
