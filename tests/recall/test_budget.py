from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.recall.budget import Leg, legs
from observer.recall.query import Plan, plan, scored


def asked(text: str, **counts: int) -> tuple[Leg, ...]:
    return legs(plan(text), counts, budget=100)


def test_below_the_budget_everything_is_scored() -> None:
    wanted = plan("alpha beta")
    assert legs(wanted, {"alpha": 50, "beta": 50}, budget=100) == (Leg(expression=scored(wanted)),)


def test_rare_words_select_what_is_scored() -> None:
    (leg,) = asked("alpha beta", alpha=60, beta=900)
    assert (leg.within, leg.newest) == ('"alpha"', None)


def test_two_common_words_together_select_too() -> None:
    rare, pairs = asked("alpha beta gamma", alpha=10, beta=900, gamma=5000)
    assert (rare.within, rare.newest) == ('"alpha"', None)
    assert (pairs.within, pairs.newest) == ('("beta" AND "gamma")', 90)


def test_where_all_words_are_common_the_newest_count_too() -> None:
    pairs, newest = asked("alpha beta", alpha=900, beta=800)
    assert (pairs.within, pairs.newest) == ('("beta" AND "alpha")', 100)
    assert (newest.within, newest.newest) == ('"beta"', 50)


def test_one_common_word_is_looked_for_in_the_newest() -> None:
    (leg,) = asked("alpha", alpha=900)
    assert (leg.within, leg.newest) == ('"alpha"', 50)


@pytest.mark.parametrize(
    ("text", "count", "newest"),
    [
        pytest.param("a AND b", 10, None, id="cheap"),
        pytest.param("a AND b", 200, 100, id="common"),
        pytest.param("a* AND b", 10, 100, id="prefix"),
    ],
)
def test_a_users_own_expression_is_never_changed(text: str, count: int, newest: int | None) -> None:
    (leg,) = asked(text, a=count, b=count)
    assert (leg.expression, leg.within, leg.newest) == (scored(plan(text)), "", newest)


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 10**6), min_size=1))
def test_no_plan_scores_more_than_twice_its_budget(counts: dict[str, int]) -> None:
    """What a leg may score is `newest`, or else all items that hold a word of `within`."""
    found = legs(Plan(words=tuple(counts)), counts, budget=100)
    rows = [
        leg.newest if leg.newest is not None else sum(counts[w] for w in _selecting(leg, counts))
        for leg in found
    ]
    assert sum(rows) <= 200


def _selecting(leg: Leg, counts: dict[str, int]) -> set[str]:
    return {word for word in counts if f'"{word}"' in (leg.within or leg.expression)}
