"""What chance does alone is not called an effect, and what was planted is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.evaluation.trial.effect import LEAST, Effect, compare, stepped

REDRAWS = 400


def drawn(seed: int, sessions: int, *, left: float = 1.0, share: float = 0.5) -> Effect:
    """Compare simulated sessions, of which the shown ones keep a part of what happens.

    They differ as real ones do: a few are ten times as long as most, and have most of it all.
    """
    chance = np.random.default_rng(seed)
    actions = 1 + chance.geometric(1 / 30, sessions) * chance.integers(1, 4, sessions)
    happened = chance.poisson(actions * chance.gamma(0.5, 0.1, sessions))
    said = chance.random(sessions) < share
    happened[said] = chance.binomial(happened[said], left)
    return compare(happened.tolist(), actions.tolist(), said.tolist(), share=share, redraws=REDRAWS)


def is_apart(found: Effect) -> bool:
    return found.p is not None and found.p < 0.05


@pytest.mark.parametrize(("sessions", "share"), [(24, 0.5), (80, 0.5), (80, 0.8)])
def test_equal_arms_are_called_apart_as_often_as_chance_has_it(sessions: int, share: float) -> None:
    apart = sum(is_apart(drawn(seed, sessions, share=share)) for seed in range(400))
    # Of 400 trials at 5 % chance alone gives 8 to 33 in 999 of 1,000 cases.
    assert 5 <= apart <= 33


def test_the_interval_holds_what_was_planted() -> None:
    """As often as it says: in 95 of 100 trials, here with a rate that being shown lowers by 2."""
    held = 0
    for seed in range(300):
        chance = np.random.default_rng(seed)
        actions = chance.integers(50, 400, 40)
        said = chance.random(40) < 0.5
        happened = np.maximum(0, chance.poisson(actions * chance.gamma(3, 0.03, 40)) + 8)
        happened = happened - np.where(said, np.round(actions * 0.02).astype(int), 0)
        found = compare(happened.tolist(), actions.tolist(), said.tolist(), share=0.5, redraws=400)
        assert found.difference
        held += found.difference.low <= -2 <= found.difference.high
    assert 0.91 <= held / 300 <= 0.99


def test_a_planted_effect_is_found_where_as_many_sessions_are_as_are_needed() -> None:
    needed = [drawn(seed, 400).needed or 0 for seed in range(20)]
    sessions = int(np.median(needed))
    found = [drawn(seed, sessions, left=0.5) for seed in range(200)]
    assert sum(map(is_apart, found)) / 200 >= 0.7
    assert all(each.shown < each.withheld for each in found if is_apart(each))


@given(seed=st.integers(0, 10_000), left=st.sampled_from([0.3, 1.0]))
def test_the_interval_holds_zero_where_p_says_chance(seed: int, left: float) -> None:
    found = drawn(seed, 40, left=left)
    assert found.difference
    assert found.p
    assert found.difference.low <= found.difference.mean <= found.difference.high
    holds_zero = found.difference.low < 0 < found.difference.high
    assert holds_zero is (found.p >= 0.05)


def test_equal_sessions_give_equal_results() -> None:
    assert drawn(5, 60) == drawn(5, 60)


def test_rates_are_of_all_actions_of_an_arm() -> None:
    found = compare([1, 3, 0, 10], [10, 90, 40, 10], [True, True, False, False], share=0.5)
    assert (found.shown, found.withheld) == (4.0, 20.0)


@pytest.mark.parametrize("said", [0, LEAST - 1])
def test_an_arm_of_few_sessions_says_nothing(said: int) -> None:
    is_shown = [True] * said + [False] * 40
    counts = [number % 3 for number in range(len(is_shown))]
    found = compare(counts, [10] * len(is_shown), is_shown, share=0.5)
    assert (found.difference, found.p) == (None, None)
    assert found.needed


@pytest.mark.parametrize("sessions", [0, 1, 60])
def test_what_never_happened_has_no_effect_and_no_size(sessions: int) -> None:
    said = [number % 2 == 0 for number in range(sessions)]
    found = compare([0] * sessions, [10] * sessions, said, share=0.5)
    assert found == Effect(shown=0.0, withheld=0.0)


def test_what_happens_alike_in_every_session_is_no_effect() -> None:
    said = [number % 2 == 0 for number in range(60)]
    found = compare([1] * 60, [10] * 60, said, share=0.5, redraws=100)
    assert found.difference
    assert found.p == 1
    assert found.difference.high == pytest.approx(0, abs=0.001)


def test_many_p_values_are_raised_by_their_number() -> None:
    assert stepped([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert stepped([None, 0.6, 0.7]) == [None, 1.0, 1.0]
    assert stepped([]) == []
