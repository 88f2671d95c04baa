"""Words are trusted by what of the query they cover; what they leave open goes to meaning."""

from __future__ import annotations

import numpy as np
import pytest

from observer.search.signals import (
    ALONE,
    CROWDED,
    NAMED,
    OPEN,
    SHORT_DOUBT,
    SHORT_OPEN,
    distinctness,
    is_name,
    trust,
)

LONG = 10_000


@pytest.mark.parametrize(
    ("bm25", "words", "meaning"),
    [
        pytest.param([8, 4], [1, 0.5], 1, id="most of the query"),
        pytest.param([4, 2], [1, 0.5], 1, id="half of what is possible"),
        pytest.param([2, 1], [0.5, 0.25], 1 + OPEN / 2, id="a quarter"),
        pytest.param([0, 0], [0, 0], 1 + OPEN, id="nothing"),
        pytest.param([], [], 1 + OPEN, id="no item"),
    ],
)
def test_weak_words_leave_room_for_meaning(
    bm25: list[float], words: list[float], meaning: float
) -> None:
    found = trust(np.array(bm25), np.full(len(bm25), LONG), most=8, is_named=False)
    assert found.words.tolist() == pytest.approx(words)
    assert found.meaning.tolist() == pytest.approx([meaning] * len(words))


def test_of_a_short_text_weak_words_count_less_and_meaning_more() -> None:
    short, long = (
        trust(np.array([2.0]), np.array([length]), most=8, is_named=False) for length in (0, LONG)
    )
    assert short.words[0] == pytest.approx(long.words[0] * 0.5**SHORT_DOUBT)
    assert short.meaning[0] == pytest.approx(long.meaning[0] + SHORT_OPEN / 2)


def test_what_words_leave_open_is_doubted() -> None:
    lengths = np.array([LONG])
    found = [trust(np.array([best]), lengths, most=8, is_named=False) for best in (8.0, 2.0, 0.0)]
    assert [each.doubt for each in found] == [0, 0.5, 1]


def test_meaning_counts_less_in_a_crowd_and_more_alone() -> None:
    factors = distinctness(np.array([0.5, 0.5, 0.5]), np.array([0.2, 0, -0.2]), doubt=0.5)
    assert factors.tolist() == pytest.approx([1 - CROWDED / 5, 1, 1 + ALONE * CROWDED / 5])


def test_a_crowd_does_not_matter_where_words_find_what_is_meant() -> None:
    assert distinctness(np.array([0.5]), np.array([0.4]), doubt=0).tolist() == [1]


def test_a_crowd_leaves_no_less_than_nothing() -> None:
    assert distinctness(np.array([0, 0.01]), np.array([0.4, 0.4]), doubt=1).tolist() == [0, 0]


def test_without_a_model_a_short_text_is_not_doubted() -> None:
    assert trust(np.array([2.0]), None, most=8, is_named=False).words.tolist() == [0.5]


def test_words_that_cover_a_query_count_the_same_whatever_the_length() -> None:
    found = trust(np.array([8.0, 8.0]), np.array([3, LONG]), most=8, is_named=False)
    assert (found.words.tolist(), found.meaning.tolist()) == ([1, 1], [1, 1])


def test_what_is_merely_near_counts_little_for_a_name() -> None:
    found = trust(np.array([8]), np.array([LONG]), most=8, is_named=True)
    assert found.meaning.tolist() == [NAMED]


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
