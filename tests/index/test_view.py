"""The best rows of a view, against sorting all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from observer.core.filters import Filters
from observer.core.model import item_id
from observer.index import ListRequest
from observer.index.view import ENOUGH, SAMPLED, highest

Make = Callable[..., Any]
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
    tmp_path: Path, shown: Any, an_index: Make, an_item: Make, query: Make, small: None
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
    tmp_path: Path, shown: Any, an_index: Make, an_item: Make, query: Make
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
    tmp_path: Path, shown: Any, an_index: Make, an_item: Make, query: Make, limit: int
) -> None:
    items = [an_item(seq, "aa bb" if seq > 6 else "aa") for seq in range(1, 9)]
    shown.put(*items)
    with an_index(tmp_path / "index").view(shown) as view:
        wanted = [ListRequest(view.mask(Filters()), limit)]
        (found,) = view.by_words(query(view, "aa", "bb"), wanted)
        newest_first = [item.id for item in reversed(items)]
        assert view.ids(found.places).tolist() == newest_first[:limit]


def test_the_newest_of_a_sort_are_by_when_they_were_made(
    tmp_path: Path, shown: Any, an_index: Make, an_item: Make
) -> None:
    shown.put(*(an_item(seq, created_ms=9 - seq % 4) for seq in range(1, 8)))
    shown.put(an_item(8, created_ms=99, type="commit"), an_item(2, created_ms=50))
    with an_index(tmp_path / "index").view(shown) as view:
        found = view.newest(Filters(types=("command",)), 4)
    assert found == [item_id(seq) for seq in (2, 4, 5, 1)]


@pytest.mark.parametrize("others", [10, 1_000])
def test_the_nearest_of_a_project_are_found_however_much_is_nearer_elsewhere(
    tmp_path: Path, shown: Any, an_index: Make, an_item: Make, a_vector: Make, near: Make,
    monkeypatch: pytest.MonkeyPatch, others: int,
) -> None:  # fmt: skip
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
