"""The difference of two arms of a trial, with a randomization test and its interval. Pure.

A rate is what happened in all sessions of an arm over their actions. The p-value comes from
drawing the arms again as they were drawn: if reminders made no difference, each session would
have gone as it did. The interval holds each change of the rate that, taken back from the sessions
with reminders, leaves no more than such chance: it holds 0 exactly where p is 0.05 or more. Both
are right however few the sessions are and whatever they are like. Equal sessions give equal
results.

Source: R. A. Fisher, The Design of Experiments, 1935; the interval is the test inverted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from observer.core.value import Value
from observer.evaluation.measures import Interval

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]

LEAST = 5
"""Sessions without which an arm says nothing."""
REDRAWS = 10_000
CHANGE = 0.5
"""The number of sessions needed is that which shows a change by half, 80 % of the time."""
_Z_SQUARED = (1.959964 + 0.841621) ** 2
"""Of two-sided p < 0.05 and that power. Source: normal quantiles of 0.975 and 0.8."""
ALPHA = 0.05
_HALVINGS = 20
_LEAST_STEP = 1e-6
_AT_ONCE = 2_000_000
_EVEN = 1e-12


class Effect(Value):
    """Rates per 100 actions in both arms, and the excess of the shown arm over the other.

    `difference` and `p` are None with fewer than `LEAST` sessions in an arm, or if nothing
    happened. `needed` is about how many sessions, of both arms, would show a change by half; None
    where nothing happened.
    """

    shown: float
    withheld: float
    difference: Interval | None = None
    p: float | None = None
    needed: int | None = None


def compare(
    counts: Sequence[int],
    actions: Sequence[int],
    is_shown: Sequence[bool],
    *,
    share: float,
    redraws: int = REDRAWS,
) -> Effect:
    """Compare what happened in the sessions of two arms.

    Args:
        counts: how often it happened, by session.
        actions: what each session did, at least one action.
        is_shown: the arm of each session.
        share: the probability of the shown arm.
        redraws: how often chance is tried.
    """
    happened, did = (np.array(each, dtype=np.float64) for each in (counts, actions))
    shown = np.array(is_shown, dtype=bool)
    found = Effect(
        shown=_rate(happened[shown], did[shown]),
        withheld=_rate(happened[~shown], did[~shown]),
        needed=_needed(happened, did, share),
    )
    if min(shown.sum(), (~shown).sum()) < LEAST or found.needed is None:
        return found
    gap = found.shown - found.withheld
    redrawn = _redraw(happened, did, shown, share=share, redraws=redraws)
    low, high = (redrawn.edge(gap, sign) for sign in (-1, 1))
    return replace(
        found, difference=Interval(mean=gap, low=low, high=high), p=redrawn.chance(gap, 0)
    )


def stepped(chances: Sequence[float | None]) -> list[float | None]:
    """Return p-values adjusted for their number, by Holm's method.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, 1979.
    """
    known = sorted((p, place) for place, p in enumerate(chances) if p is not None)
    raised: list[float | None] = [None] * len(chances)
    least = 0.0
    for rank, (p, place) in enumerate(known):
        least = max(least, min(1.0, p * (len(known) - rank)))
        raised[place] = least
    return raised


def _rate(happened: Numbers, did: Numbers) -> float:
    return 100 * float(happened.sum() / did.sum()) if len(did) else 0.0


def _needed(happened: Numbers, did: Numbers, share: float) -> int | None:
    """Return how many sessions show a change by half, as these sessions, of either arm, vary."""
    if len(did) < 2 or not happened.any():
        return None
    rate = happened.sum() / did.sum()
    # Linearised: a ratio varies as what happened beyond the rate does, over the mean of actions.
    spread = float(np.var(happened - rate * did, ddof=1)) / float(did.mean()) ** 2
    arms = 1 / share + 1 / (1 - share)
    return max(2 * LEAST, math.ceil(_Z_SQUARED * spread * arms / float(CHANGE * rate) ** 2))


class _Redrawn(NamedTuple):
    """The arms drawn again: their differences, and how far the shown sessions stay so."""

    gaps: Numbers
    shown: Numbers

    def chance(self, gap: float, change: float) -> float:
        """Return the probability of such a gap by chance if reminders changed the rate so."""
        as_far = np.abs(self.gaps - change * self.shown) >= abs(gap - change) - _EVEN
        # One more than counted: what never happened in so many redrawings may happen in the next.
        return (int(as_far.sum()) + 1) / (len(self.gaps) + 1)

    def edge(self, gap: float, sign: int) -> float:
        """Return the largest (or least) change of the rate that chance can make this gap of."""
        step = sign * max(float(np.std(self.gaps)), _LEAST_STEP)
        while self.chance(gap, gap + step) >= ALPHA:
            step *= 2
        near, far = 0.0, step
        for _ in range(_HALVINGS):
            middle = (near + far) / 2
            near, far = (middle, far) if self.chance(gap, gap + middle) >= ALPHA else (near, middle)
        return gap + far


def _redraw(
    happened: Numbers, did: Numbers, shown: Flags, *, share: float, redraws: int
) -> _Redrawn:
    chance = np.random.default_rng(7)
    parts, drawn = [], 0
    while drawn < redraws:
        size = min(redraws - drawn, max(1, _AT_ONCE // len(did)))
        again = chance.random((size, len(did))) < share
        numbers = again.sum(axis=1)
        arms = again[(numbers >= LEAST) & (numbers <= len(did) - LEAST)].astype(np.float64)
        values = np.stack((100 * happened, did * shown), axis=1)
        gaps = (arms @ values).T / (arms @ did) - ((1 - arms) @ values).T / ((1 - arms) @ did)
        parts.append(gaps)
        drawn += size
    return _Redrawn(*np.concatenate(parts, axis=1))
