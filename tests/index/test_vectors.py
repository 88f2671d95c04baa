from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from numpy.typing import NDArray

from observer.core.filters import Filters
from observer.core.model import ItemChange
from observer.index.embed.lazy_model import packed
from observer.index.segment import segment
from observer.index.tokens import Codes
from observer.index.vectors import (
    AT_ONCE,
    NEIGHBOURS,
    WORD_BITS,
    cosines,
    crowding,
    distances,
    norms,
    pattern,
    signs,
    weighed,
)

Make = Callable[..., Any]
Floats = NDArray[np.float32]
MODEL = "0123456789ab"
SHAPES = st.tuples(st.integers(0, 5), st.sampled_from([0, 1, 8, 63, 64, 65, 200]))
PACKED = SHAPES.flatmap(lambda shape: arrays_of.arrays(np.int8, shape))
UNIT = arrays_of.arrays(
    np.float32,
    st.tuples(st.integers(0, 5), st.integers(1, 40)),
    elements=st.integers(-1000, 1000).map(lambda n: n / 1000),
)


@given(UNIT)
def test_a_packed_vector_points_where_it_did(vectors: Floats) -> None:
    small = packed(vectors)
    assert (small.dtype, small.shape) == (np.int8, vectors.shape)
    for one, whole in zip(small.astype(np.float64), vectors.astype(np.float64), strict=True):
        largest = np.abs(whole).max()
        if not largest:
            assert not one.any()
            continue
        assert np.abs(one).max() == 127
        assert np.abs(one / 127 - whole / largest).max() <= 0.5 / 127 + 1e-6


@given(PACKED)
def test_norms_are_lengths(vectors: NDArray[np.int8]) -> None:
    assert np.allclose(norms(vectors), np.linalg.norm(vectors.astype(np.float64), axis=1))


@given(PACKED.filter(lambda vectors: vectors.shape[1] > 0), st.randoms())
def test_distances_count_the_signs_that_differ(vectors: NDArray[np.int8], chance: Any) -> None:
    query = np.array([chance.uniform(-1, 1) for _ in range(vectors.shape[1])], np.float32)
    rows = signs(vectors)
    assert (rows.dtype, rows.shape[1]) == (np.uint64, len(vectors))
    query[-1] = query[-1] or 0.5  # what follows the last dimension that is not 0 is left out
    found = distances(rows, pattern(query))
    assert found.tolist() == ((vectors > 0) != (query > 0)).sum(axis=1).tolist()


def test_distances_of_many_are_those_of_each() -> None:
    vectors = np.random.default_rng(1).integers(-9, 9, (2 * AT_ONCE + 7, 64), np.int8)
    query = np.linspace(-1, 1, 64, dtype=np.float32)
    found = distances(signs(vectors), pattern(query))
    assert found.tolist() == ((vectors > 0) != (query > 0)).sum(axis=1).tolist()


@given(PACKED.filter(lambda vectors: vectors.shape[1] > 0), st.randoms())
def test_signs_that_differ_weigh_what_they_do_in_the_query(
    vectors: NDArray[np.int8], chance: Any
) -> None:
    query = np.array([chance.uniform(-1, 1) for _ in range(vectors.shape[1])], np.float32)
    sizes = np.abs(query)
    full = np.sort(sizes)[int(0.95 * len(sizes))]
    weights = np.minimum(3, np.rint(3 * sizes / max(float(full), 1e-9)))
    found = weighed(signs(vectors), pattern(query))
    assert found.tolist() == (((vectors > 0) != (query > 0)) @ weights).tolist()


@pytest.mark.parametrize("used", [1, 63, 64, 65, 128])
def test_dimensions_after_the_last_of_a_query_are_not_compared(used: int) -> None:
    chance = np.random.default_rng(5)
    vectors = chance.integers(-127, 128, (20, 192)).astype(np.int8)
    query = np.zeros(192, np.float32)
    query[:used] = chance.normal(size=used)
    words = -(-used // WORD_BITS)
    compared = vectors[:, : words * WORD_BITS]
    asked = pattern(query)
    assert len(asked.signs) == words
    expected = (signs(compared), pattern(query[: words * WORD_BITS]))
    assert distances(signs(vectors), asked).tolist() == distances(*expected).tolist()
    assert weighed(signs(vectors), asked).tolist() == weighed(*expected).tolist()


def test_a_query_without_a_direction_weighs_nothing() -> None:
    assert (
        weighed(signs(np.ones((3, 64), np.int8)), pattern(np.zeros(64, np.float32))).tolist()
        == [0] * 3
    )


@given(PACKED, st.randoms())
def test_cosines_are_those_of_the_vectors(vectors: NDArray[np.int8], chance: Any) -> None:
    query = np.array([chance.uniform(-1, 1) for _ in range(vectors.shape[1])], np.float32)
    query /= np.linalg.norm(query) or 1
    found = cosines(vectors, norms(vectors), query)
    for one, cosine in zip(vectors.astype(np.float64), found.tolist(), strict=True):
        length = np.linalg.norm(one)
        assert cosine == pytest.approx(one @ query / length if length else 0, abs=1e-5)


def test_crowding_is_the_mean_cosine_with_the_nearest_others() -> None:
    chance = np.random.default_rng(3)
    vectors = chance.integers(-127, 128, (12, 16)).astype(np.int8)
    found = crowding(vectors, norms(vectors))
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for place, each in enumerate(units):
        others = sorted(float(each @ other) for n, other in enumerate(units) if n != place)
        assert found[place] == pytest.approx(np.mean(others[-NEIGHBOURS:]), abs=1e-5)


@pytest.mark.parametrize(
    ("vectors", "expected"),
    [
        pytest.param([[3, 4]], [0], id="alone"),
        pytest.param([[3, 4], [6, 8]], [1, 1], id="two that mean the same"),
        pytest.param([[0, 0], [6, 8]], [0, 0], id="one without a vector"),
    ],
)
def test_crowding_of_a_few(vectors: list[list[int]], expected: list[float]) -> None:
    packed_ones = np.array(vectors, np.int8)
    assert crowding(packed_ones, norms(packed_ones)).tolist() == pytest.approx(expected)


def clustered(count: int, dimensions: int) -> Floats:
    chance = np.random.default_rng(7)
    middles = chance.normal(size=(60, dimensions))
    vectors = middles[chance.integers(0, 60, count)] + 0.6 * chance.normal(size=(count, dimensions))
    unit: Floats = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit


@pytest.mark.parametrize("size", [5_000, 777])
def test_the_nearest_are_found(
    an_item: Make, a_view: Make, near: Make, codes: Codes, size: int
) -> None:
    vectors = clustered(5_000, 256)
    changes = [
        ItemChange(change=n, id=n, item=an_item(n), vector=one.tobytes())
        for n, one in enumerate(packed(vectors), start=1)
    ]
    parts = [
        segment(changes[n : n + size], codes, model=MODEL, dimensions=256, mean_length=0.0)
        for n in range(0, 5_000, size)
    ]
    view = a_view(codes, *parts)
    hits = 0
    for query in clustered(5_040, 256)[5_000:]:
        best = near(view, query, limit=10)
        exact = np.argsort(-(vectors @ query))[:10] + 1
        hits += len(set(best) & set(exact.tolist()))
    assert hits / 400 >= 0.98


def test_only_masked_rows_are_found_by_meaning(
    an_item: Make, a_vector: Make, a_view: Make, near: Make, codes: Codes
) -> None:
    changes = [
        ItemChange(change=n, id=4 * n, item=an_item(n, project_id=2 + n % 2), vector=a_vector(n))
        for n in range(1, 9)
    ]
    one = segment(changes, codes, model=MODEL, dimensions=64, mean_length=0.0)
    view = a_view(codes, one)
    for project, ids in ((2, {8, 16, 24, 32}), (3, {4, 12, 20, 28})):
        assert set(near(view, a_vector(0), filters=Filters(project_id=project))) == ids


def test_meanings_are_unit_vectors_of_what_the_masks_let_through(
    an_item: Make, a_view: Make, codes: Codes
) -> None:
    vectors = clustered(8, 64)
    changes = [
        ItemChange(change=n, id=4 * n, item=an_item(n, project_id=2 + n % 2), vector=one.tobytes())
        for n, one in enumerate(packed(vectors), start=1)
    ]
    parts = [
        segment(some, codes, model=MODEL, dimensions=64, mean_length=0.0)
        for some in (changes[:3], changes[3:])
    ]
    view = a_view(codes, *parts)
    ids, found = view.meanings(view.mask(Filters(project_id=3)))
    assert ids.tolist() == [4, 12, 20, 28]
    np.testing.assert_allclose(found, vectors[::2], atol=0.02)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
