from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.model import UsageEvent
from observer.search.usage import GRACE_MS, HALF_LIFE_MS, LEAST, MOST, Usefulness, usefulness

NOW_MS = 1_800_000_000_000
HOUR_MS = 3_600_000
Sort = Literal["shown", "fetched", "cited", "edited"]


def use(session: int, sort: Sort, *, ago_ms: int = HOUR_MS, item: int = 4) -> UsageEvent:
    return UsageEvent(item=item, session=session, sort=sort, at_ms=NOW_MS - ago_ms)


def of(*uses: UsageEvent) -> Usefulness:
    return usefulness(uses, now_ms=NOW_MS)[4]


def ignored(sessions: int, *, ago_ms: int = HOUR_MS) -> list[UsageEvent]:
    return [use(number, "shown", ago_ms=ago_ms) for number in range(1, sessions + 1)]


def helped(sessions: int) -> list[UsageEvent]:
    return [*ignored(sessions), *(use(number, "cited") for number in range(1, sessions + 1))]


def test_nothing_is_known_of_what_was_never_shown() -> None:
    assert usefulness([], now_ms=NOW_MS) == {}
    assert Usefulness().weight == 1


def test_what_is_ignored_loses_weight_and_what_is_used_gains() -> None:
    weights = [of(*ignored(n)).weight for n in (20, 5, 1)] + [of(*helped(n)).weight for n in (1, 5)]
    assert weights == sorted(weights)
    assert weights[2] < 1 < weights[3]


def test_one_session_moves_it_little() -> None:
    assert of(*ignored(1)).weight == pytest.approx(0.94, abs=0.005)
    assert of(*helped(1)).weight == pytest.approx(1.1, abs=0.005)


def test_a_session_counts_once_however_much_it_used_it() -> None:
    once = of(use(1, "shown"), use(1, "cited"))
    often = of(use(1, "shown"), use(1, "cited"), use(1, "edited"), use(1, "fetched"))
    assert (often.weight, often.shown, often.used) == (once.weight, 1, 1)
    assert len(often.uses) == 4


def test_a_session_that_has_just_begun_has_not_ignored_it() -> None:
    young = use(1, "shown", ago_ms=GRACE_MS)
    assert of(young).weight == 1
    assert of(young, use(1, "edited", ago_ms=0)).weight > 1


def test_what_was_fetched_without_being_shown_counts() -> None:
    found = of(use(0, "fetched"))
    assert (found.shown, found.used, found.weight > 1) == (0, 1, True)


def test_after_two_half_lives_little_is_left() -> None:
    late = of(*ignored(5, ago_ms=2 * HALF_LIFE_MS)).weight
    assert of(*ignored(5)).weight < late < 1
    assert late == pytest.approx(of(*ignored(1)).weight, abs=0.02)


def test_items_do_not_share_their_uses() -> None:
    found = usefulness([*ignored(3), use(1, "cited", item=8)], now_ms=NOW_MS)
    assert found[4].weight < 1 < found[8].weight


@given(
    st.lists(
        st.builds(
            UsageEvent,
            item=st.just(4),
            session=st.integers(0, 3),
            sort=st.sampled_from(["shown", "fetched", "cited", "edited"]),
            at_ms=st.integers(0, 2 * NOW_MS),
        ),
        min_size=1,
    )
)
def test_a_weight_stays_within_its_bounds(uses: list[UsageEvent]) -> None:
    assert LEAST <= of(*uses).weight <= MOST
