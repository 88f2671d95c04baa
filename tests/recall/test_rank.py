from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.recall.rank import (
    HALF_LIFE_MS,
    WITH_QUERY,
    WITHOUT_QUERY,
    Signals,
    Weights,
    clamped,
    composite,
    recency,
)

ALL = Signals(semantic=1.0, fts5=1.0, recency=1.0, project_match=1.0)


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


@pytest.mark.parametrize("weights", [WITH_QUERY, WITHOUT_QUERY, WITH_QUERY.without_semantic()])
def test_weights_sum_to_one(weights: Weights) -> None:
    assert composite(ALL, weights, type_="command") == pytest.approx(1.0)


def test_without_vectors_the_other_weights_keep_their_ratio() -> None:
    weights = WITH_QUERY.without_semantic()
    assert weights.semantic == 0
    assert weights.fts5 / weights.recency == pytest.approx(0.35 / 0.10)
    assert weights.project_match == weights.recency


@pytest.mark.parametrize("type_", ["decision", "constraint", "heuristic", "rejected"])
def test_knowledge_is_worth_three_times_as_much(type_: str) -> None:
    assert composite(ALL, WITHOUT_QUERY, type_=type_) == pytest.approx(3.0)


@given(st.floats(0, 3))
def test_scores_are_shown_between_0_and_1(score: float) -> None:
    assert clamped(score) == min(score, 1)
