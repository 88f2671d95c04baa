"""Vectors, the masks of what may be found, and the best rows of a view."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from numpy.typing import NDArray

from observer.core.filters import Filters
from observer.core.model import Item, ItemChange, item_id
from observer.index import ListRequest
from observer.index.embed.lazy_model import packed
from observer.index.segment import Codes, segment
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
from observer.index.view import ENOUGH, KEPT, SAMPLED, highest, mask

from .conftest import MODEL, a_vector, a_view, an_index, an_item, codes, near, query

Floats = NDArray[np.float32]
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
    query[-1] = query[-1] or 0.5  # what follows the last dimension that is not 0 is left out
    rows, differ = signs(vectors), (vectors > 0) != (query > 0)
    assert (rows.dtype, rows.shape[1]) == (np.uint64, len(vectors))
    assert distances(rows, pattern(query)).tolist() == differ.sum(axis=1).tolist()
    sizes = np.abs(query)
    full = np.sort(sizes)[int(0.95 * len(sizes))]
    weights = np.minimum(3, np.rint(3 * sizes / max(float(full), 1e-9)))
    assert weighed(rows, pattern(query)).tolist() == (differ @ weights).tolist()


def test_distances_of_many_are_those_of_each() -> None:
    vectors = np.random.default_rng(1).integers(-9, 9, (2 * AT_ONCE + 7, 64), np.int8)
    query = np.linspace(-1, 1, 64, dtype=np.float32)
    found = distances(signs(vectors), pattern(query))
    assert found.tolist() == ((vectors > 0) != (query > 0)).sum(axis=1).tolist()


@pytest.mark.parametrize("used", [1, 63, 64, 65, 128])
def test_dimensions_after_the_last_of_a_query_are_not_compared(used: int) -> None:
    chance = np.random.default_rng(5)
    vectors = chance.integers(-127, 128, (20, 192)).astype(np.int8)
    query = np.zeros(192, np.float32)
    assert not weighed(signs(vectors), pattern(query)).any()
    query[:used] = chance.normal(size=used)
    words = -(-used // WORD_BITS)
    compared = vectors[:, : words * WORD_BITS]
    asked = pattern(query)
    assert len(asked.signs) == words
    expected = (signs(compared), pattern(query[: words * WORD_BITS]))
    assert distances(signs(vectors), asked).tolist() == distances(*expected).tolist()
    assert weighed(signs(vectors), asked).tolist() == weighed(*expected).tolist()


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
def test_the_nearest_are_found(size: int) -> None:
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
    for asked in clustered(5_040, 256)[5_000:]:
        best = near(view, asked, limit=10)
        exact = np.argsort(-(vectors @ asked))[:10] + 1
        hits += len(set(best) & set(exact.tolist()))
    assert hits / 400 >= 0.98


def test_meanings_are_unit_vectors_of_what_the_masks_let_through() -> None:
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


KINDS = st.sampled_from(["observation", "summary", "note", "inference"])
NAMES = st.sampled_from(["", "a", "b", "é"])
PROJECTS = st.sampled_from([None, 1, 2])
SESSIONS = st.sampled_from([None, 1, 2])
TIMES = st.integers(0, 5)

FIELDS = st.fixed_dictionaries(
    {
        "kind": KINDS,
        "type": st.sampled_from(["command", "decision"]),
        "category": NAMES,
        "branch": NAMES,
        "owner": NAMES,
        "scope": st.sampled_from(["project", "personal", "team"]),
        "project_id": PROJECTS,
        "session_id": SESSIONS,
        "created_ms": TIMES,
    }
)
FILTERS = st.builds(
    Filters,
    project_id=PROJECTS,
    kinds=st.lists(KINDS, max_size=2).map(tuple),
    types=st.lists(st.sampled_from(["command", "decision"]), max_size=2).map(tuple),
    categories=st.lists(NAMES.filter(bool), max_size=2).map(tuple),
    branch=NAMES,
    session_id=SESSIONS,
    since_ms=st.none() | TIMES,
    until_ms=st.none() | TIMES,
    owner=NAMES,
    with_global=st.booleans(),
    without=st.lists(st.sampled_from([1, 2, 3]), max_size=2, unique=True).map(tuple),
)


def rows(codes: Codes, *items: Item | None) -> Any:
    changes = [ItemChange(change=n, id=4 * n, item=item) for n, item in enumerate(items, start=1)]
    return segment(changes, codes, model="m", dimensions=8, mean_length=0.0)


@given(st.lists(FIELDS, min_size=1, max_size=8), FILTERS)
@example([{"owner": "a"}, {"owner": "b"}], Filters(owner="b"))
def test_a_mask_agrees_with_what_filters_admit(
    fields: list[dict[str, Any]], filters: Filters
) -> None:
    items = [an_item(n, **each) for n, each in enumerate(fields, start=1)]
    assert mask(rows(codes, *items), filters).tolist() == [filters.admits(item) for item in items]


def test_the_gone_and_the_buried_are_not_seen_even_by_a_mask_that_was_kept() -> None:
    one = rows(codes, an_item(1), None, an_item(3), an_item(4))
    assert mask(one, Filters()).tolist() == [True, False, True, True]
    one.mark_deleted(np.array([4, 99], np.int64))
    assert mask(one, Filters()).tolist() == [False, False, True, True]


def test_few_masks_are_kept_however_many_are_asked_for() -> None:
    one = rows(codes, an_item(1), an_item(2))
    for _ in range(2):
        for since_ms in range(3 * KEPT):
            seen = mask(one, Filters(since_ms=since_ms))
            assert seen.tolist() == [since_ms <= 1, since_ms <= 2]
            assert mask(one, Filters(since_ms=since_ms, files=("a.py",), tags=("x",))) is seen
    assert len(one.masks) == KEPT


@pytest.mark.parametrize("among", [(), (12,), (4, 16, 99), (8,)])
def test_only_rows_among_the_items_named_are_seen(among: tuple[int, ...]) -> None:
    one = rows(codes, an_item(1), None, an_item(3), an_item(4))
    seen = mask(one, Filters(), np.array(among, np.int64))
    assert one.ids[seen].tolist() == [each for each in among if each in {4, 12, 16}]


ROWS = 10 * SAMPLED
LIMIT = 200


def _few() -> NDArray[np.float32]:
    scores = np.zeros(ROWS, np.float32)
    scores[[7, 70, 700]] = 3, 1, 2
    return scores


def _many() -> NDArray[np.float32]:
    return np.random.default_rng(1).random(ROWS).astype(np.float32)


def _equal() -> NDArray[np.float32]:
    return np.ones(ROWS, np.float32)


def _flattering() -> NDArray[np.float32]:
    """Return scores of which the sample sees all that are high."""
    scores = np.ones(ROWS, np.float32)
    scores[:: ROWS // SAMPLED][: LIMIT // 2] = 2
    assert ENOUGH * LIMIT * SAMPLED / ROWS < LIMIT // 2
    return scores


@pytest.mark.parametrize("share", [1.0, 0.5, 0.01])
@pytest.mark.parametrize("made", [_few, _many, _equal, _flattering])
def test_the_highest_are_those_of_a_sorted_list(
    made: Callable[[], NDArray[np.float32]], share: float
) -> None:
    scores = made()
    mask = np.random.default_rng(2).random(ROWS) < share
    best = highest(scores, ListRequest(mask, LIMIT))
    scores *= mask
    newest_first = np.argsort(-scores[::-1], kind="stable")
    expected = [ROWS - 1 - at for at in newest_first[:LIMIT].tolist()]
    assert best.places.tolist() == [place for place in expected if scores[place] > 0]
    assert best.scores.tolist() == scores[best.places].tolist()


def test_where_words_stand_is_shown_of_rows_that_do_not_stay_in_memory(
    tmp_path: Path, shown: Any, small: None
) -> None:
    shown.put(*(an_item(seq, f"aa b{seq} aa") for seq in range(1, 40)))
    index = an_index(tmp_path / "index")
    index.refresh(shown)
    index.close()
    with index.view(shown) as view:
        places = np.arange(view.size)
        for _ in range(2):
            seen = view.occurrences(places.copy(), query(view, "aa", "b7"))
            assert seen.weights()[:, 0].tolist() == [8.0] * 39
            assert seen.weights()[:, 1].tolist().count(4.0) == 1


def test_the_rarest_words_score_as_they_do_when_they_are_asked_alone(
    tmp_path: Path, shown: Any
) -> None:
    shown.put(*(an_item(seq, "aa" if seq % 2 else "aa bb cc") for seq in range(1, 9)))
    shown.put(an_item(9, "cc dd"))
    with an_index(tmp_path / "index").view(shown) as view:
        rarest = view.rarest(query(view, "aa", "zz", "bb", "dd", "cc"), 3)
        assert rarest.tolist() == query(view, "dd", "bb", "cc").tolist()
        wanted = [ListRequest(view.mask(Filters()), LIMIT)]
        (found,) = view.by_words(rarest, wanted)
        (alone,) = view.by_words(rarest.copy(), wanted)
        assert found.places.tolist() == alone.places.tolist()
        assert found.scores.tolist() == alone.scores.tolist()
        assert view.rarest(query(view, "zz", "aa"), 9).tolist() == query(view, "aa", "zz").tolist()


@pytest.mark.parametrize("limit", [2, 4])
def test_words_that_most_items_hold_fill_what_the_others_leave_open(
    tmp_path: Path, shown: Any, limit: int
) -> None:
    items = [an_item(seq, "aa bb" if seq > 6 else "aa") for seq in range(1, 9)]
    shown.put(*items)
    with an_index(tmp_path / "index").view(shown) as view:
        wanted = [ListRequest(view.mask(Filters()), limit)]
        (found,) = view.by_words(query(view, "aa", "bb"), wanted)
        newest_first = [item.id for item in reversed(items)]
        assert view.ids(found.places).tolist() == newest_first[:limit]


def test_the_newest_of_a_sort_are_by_when_they_were_made(tmp_path: Path, shown: Any) -> None:
    shown.put(*(an_item(seq, created_ms=9 - seq % 4) for seq in range(1, 8)))
    shown.put(an_item(8, created_ms=99, type="commit"), an_item(2, created_ms=50))
    with an_index(tmp_path / "index").view(shown) as view:
        found = view.newest(Filters(types=("command",)), 4)
    assert found == [item_id(seq) for seq in (2, 4, 5, 1)]


@pytest.mark.parametrize("others", [10, 1_000])
def test_the_nearest_of_a_project_are_found_however_much_is_nearer_elsewhere(
    tmp_path: Path, shown: Any, monkeypatch: pytest.MonkeyPatch, others: int
) -> None:
    monkeypatch.setattr("observer.index.view.WEIGHED", 2)
    monkeypatch.setattr("observer.index.view.RESCORED", 1)
    for seq in range(1, others):
        shown.put(an_item(seq), vector=a_vector(7))
    own = [an_item(others + seq, project_id=3) for seq in range(60)]
    for seq, item in enumerate(own):
        shown.put(item, vector=a_vector(seq) if seq else None)
    with an_index(tmp_path / "index").view(shown) as view:
        found = list(near(view, a_vector(7), filters=Filters(project_id=3), limit=9))
    assert found[0] == own[7].id
    assert len(found) == len({*found} & {item.id for item in own[1:]}) == 9
