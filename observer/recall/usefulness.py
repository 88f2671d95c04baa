"""How useful items proved to be: weights from what became of them where they were shown; pure.

A weight is a smoothed ratio, a part of it lost with time. Over the sessions in which an item was
shown or used, each counting 1 and half as much after `HALF_LIFE_MS`,

    share = (used + STRENGTH * EXPECTED) / (sessions + STRENGTH)

and the weight goes in two straight lines from `LEAST` at a share of 0 over 1 at `EXPECTED` to
`MOST` at 1. So an item of which nothing is known weighs exactly 1, one good or bad session moves
it little, and what is ignored for years is still there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from observer.events import Value
from observer.model import Use

HALF_LIFE_MS = 30 * 86_400_000
KEPT_MS = 8 * HALF_LIFE_MS
"""Age at which a use counts for next to nothing and is deleted."""
GRACE_MS = 30 * 60_000
"""A session this young may still use what it was shown: until then it counts only if it did."""
EXPECTED = 0.25
"""Share of sessions that use what they are shown, before anything is known of an item."""
STRENGTH = 4.0
"""Sessions that this expectation is worth."""
LEAST, MOST = 0.7, 1.5


class Usefulness(Value):
    """What is known of an item's use. `weight` is between `LEAST` and `MOST`, 1 for nothing."""

    weight: float = 1.0
    shown: int = 0
    """Sessions that it was shown to."""
    used: int = 0
    """Sessions that fetched or cited it, or edited its files."""
    uses: tuple[Use, ...] = ()
    """What that rests on, oldest first."""


UNKNOWN = Usefulness()


def usefulness(uses: Iterable[Use], *, now_ms: int) -> Mapping[int, Usefulness]:
    """Return the usefulness of each item that has uses, by its id."""
    of_items: dict[int, list[Use]] = defaultdict(list)
    for use in uses:
        of_items[use.item].append(use)
    return {item: _usefulness(told, now_ms) for item, told in of_items.items()}


def _usefulness(uses: list[Use], now_ms: int) -> Usefulness:
    shown = {use.session: use.at_ms for use in uses if use.sort == "shown"}
    used: dict[int, int] = {}
    for use in uses:
        if use.sort != "shown":
            used[use.session] = max(use.at_ms, used.get(use.session, 0))
    ignored = (
        at_ms
        for session, at_ms in shown.items()
        if session not in used and now_ms - at_ms > GRACE_MS
    )
    worth = sum(_decayed(at_ms, now_ms) for at_ms in used.values())
    lost = sum(_decayed(at_ms, now_ms) for at_ms in ignored)
    share = (worth + STRENGTH * EXPECTED) / (worth + lost + STRENGTH)
    return Usefulness(weight=_weight(share), shown=len(shown), used=len(used), uses=tuple(uses))


def _decayed(at_ms: int, now_ms: int) -> float:
    return float(0.5 ** (max(0, now_ms - at_ms) / HALF_LIFE_MS))


def _weight(share: float) -> float:
    if share < EXPECTED:
        return LEAST + (1 - LEAST) * share / EXPECTED
    return 1 + (MOST - 1) * (share - EXPECTED) / (1 - EXPECTED)
