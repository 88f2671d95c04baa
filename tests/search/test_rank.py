from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.search.rank import HALF_LIFE_MS, HitSignals, clamped, composite, recency

ALL = HitSignals(semantic=1.0, fts5=1.0, recency=1.0, project_match=1.0)


@pytest.mark.parametrize(
    ("age_ms", "expected"),
    [
        pytest.param(0, 1.0, id="now"),
        pytest.param(HALF_LIFE_MS, 0.5, id="a-week"),
        pytest.param(2 * HALF_LIFE_MS, 0.25, id="two-weeks"),
        pytest.param(-5, 1.0, id="the-future"),
    ],
)
def test_recency_halves_every_week(age_ms: int, expected: float) -> None:
    assert recency(10**12 - age_ms, now_ms=10**12) == pytest.approx(expected)


def test_an_item_of_now_and_here_is_worth_1() -> None:
    assert composite(ALL, type_="command") == pytest.approx(1.0)


@pytest.mark.parametrize("type_", ["decision", "constraint", "heuristic", "rejected"])
def test_knowledge_is_worth_three_times_as_much(type_: str) -> None:
    assert composite(ALL, type_=type_) == pytest.approx(3.0)


@given(st.floats(0, 3))
def test_scores_are_shown_between_0_and_1(score: float) -> None:
    assert clamped(score) == min(score, 1)
