"""Which matches to score when a query's words are so common that scoring all would be slow; pure.

Ranking costs what it scores. Where the words of a query stand in more items than the budget
allows, its rare words select what is scored; a common word selects only together with another
one, or, where all are common, in the newest items. Below the budget nothing is left out.

Source: development sets hidden among 50,000 recombined documents; see `BUDGET`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

from observer.events import Value
from observer.recall.query import Plan, any_of, scored, two_of

BUDGET = 800
"""Rows to score, at about 5 microseconds each; a plan may take twice that, never more."""


MOST_PAIRED = 4
"""Common words, the rarest of them, of which an item must hold two to be scored."""


class Leg(Value):
    """One question to the store: see `Reader.match`."""

    expression: str
    within: str = ""
    newest: int | None = None

    @property
    def is_partial(self) -> bool:
        """Whether items that match may be left out."""
        return bool(self.within) or self.newest is not None


def legs(wanted: Plan, counts: Mapping[str, int], *, budget: int = BUDGET) -> tuple[Leg, ...]:
    """Return what to ask, best selection first; the answers may overlap.

    Args:
        wanted: a plan with words.
        counts: how many items hold each of its words.
        budget: rows to score.
    """
    expression = scored(wanted)
    if wanted.expression:
        is_cheap = not wanted.has_prefix and sum(counts.values()) <= budget
        return (Leg(expression=expression, newest=None if is_cheap else budget),)
    if sum(counts.values()) <= budget:
        return (Leg(expression=expression),)
    rare, common = _parted(counts, budget)
    found = [Leg(expression=expression, within=any_of(rare))] if rare else []
    left = budget - sum(counts[word] for word in rare)
    if len(common) > 1:
        pairs = two_of(common[:MOST_PAIRED])
        found.append(Leg(expression=expression, within=pairs, newest=max(left, budget // 2)))
    if not rare:
        newest = Leg(expression=expression, within=any_of(common[:1]), newest=budget // 2)
        found.append(newest)
    return tuple(found)


def _parted(counts: Mapping[str, int], budget: int) -> tuple[list[str], list[str]]:
    """Part the words, rarest first, where their counts exceed the budget together."""
    words = sorted(counts, key=lambda word: counts[word])
    totals = accumulate(counts[word] for word in words)
    place = next(place for place, total in enumerate(totals) if total > budget)
    return words[:place], words[place:]
