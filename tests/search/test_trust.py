"""Words are trusted by what of the query they cover; what they leave open goes to meaning."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from observer.index import ListRequest
from observer.search.candidates import (
    CROWDED,
    NAMED,
    OPEN,
    QueryWords,
    Sources,
    distinctness,
    doubt_of,
    is_name,
    trust,
)
from observer.search.query import plan

Filled = Callable[..., Sources]


@pytest.mark.parametrize(
    ("bm25", "words"),
    [
        pytest.param([9, 4.5], [1, 0.5], id="better than good"),
        pytest.param([8, 4], [1, 0.5], id="good"),
        pytest.param([2, 1], [0.25, 0.125], id="a quarter of it"),
        pytest.param([0, 0], [0, 0], id="nothing"),
        pytest.param([], [], id="no item"),
    ],
)
def test_words_count_by_how_good_they_are(bm25: list[float], words: list[float]) -> None:
    found = trust(np.array(bm25), good=8, doubt=0, is_named=False)
    assert found.words.tolist() == pytest.approx(words)


def test_what_words_leave_open_goes_to_meaning() -> None:
    found = [trust(np.array([8]), good=8, doubt=doubt, is_named=False) for doubt in (0, 0.5, 1)]
    assert [each.meaning for each in found] == [1, 1 + OPEN / 4, 1 + OPEN]


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        pytest.param("ledger", 0, id="all of it"),
        pytest.param("ledger rome", 0.75, id="a half, and neither is rarer"),
        pytest.param("basel", 1, id="nothing"),
    ],
)
def test_a_query_is_doubted_by_what_no_item_holds(filled: Filled, text: str, doubt: float) -> None:
    sources = filled("the ledger", "rome", "oslo")
    query = QueryWords(sources.reader, sources.view, plan(text))
    found = sources.view.by_words(query.codes, [ListRequest(np.ones(3, np.bool_), 9)])
    assert doubt_of(sources.view, query, found) == pytest.approx(doubt)


def test_meaning_counts_less_in_a_crowd_and_more_alone() -> None:
    factors = distinctness(np.array([0.5, 0.5, 0.5]), np.array([0.2, 0, -0.2]), doubt=0.5)
    assert factors.tolist() == pytest.approx([1 - CROWDED / 5, 1, 1 + CROWDED / 5])


def test_a_crowd_does_not_matter_where_words_find_what_is_meant() -> None:
    assert distinctness(np.array([0.5]), np.array([0.4]), doubt=0).tolist() == [1]


def test_a_crowd_leaves_no_less_than_nothing() -> None:
    assert distinctness(np.array([0, 0.01]), np.array([0.4, 0.4]), doubt=1).tolist() == [0, 0]


def test_what_is_merely_near_counts_little_for_a_name() -> None:
    assert trust(np.array([8]), good=8, doubt=0, is_named=True).meaning == NAMED


@pytest.mark.parametrize(
    ("together", "count", "expected"),
    [
        pytest.param([3, 1], 3, True, id="all of them in one item"),
        pytest.param([2, 2], 3, False, id="never all"),
        pytest.param([1], 1, False, id="one word"),
        pytest.param([6], 6, False, id="a sentence"),
        pytest.param([], 2, False, id="no item"),
    ],
)
def test_a_name_is_a_few_words_that_stand_together(
    together: list[int], count: int, *, expected: bool
) -> None:
    assert is_name(np.array(together, np.int64), count) is expected
