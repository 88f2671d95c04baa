"""Which matches to score when a query's words are so common that scoring all would be slow; pure.

Ranking costs what it scores. Where the words of a query stand in more items than the budget
allows, its rare words select what is scored, all of them; the common ones count inside that, and
by themselves only in the newest items. Below the budget nothing is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

from observer.events import Value
from observer.recall.query import Plan, all_of, any_of, scored

BUDGET = 600
"""Rows that one search scores, at about 5 microseconds each. Source: scripts/bench.py."""


MOST_TOGETHER = 3
"""Common words that are asked for together; more would be found in hardly an item."""


class Leg(Value):
    """One question to the store: see `Reader.match`."""

    expression: str
    within: str = ""
    newest: int | None = None


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
    left = max(1, budget - sum(counts[word] for word in rare))
    if rare:
        newest = Leg(expression=expression, within=any_of(common[:1]), newest=left)
        selected = Leg(expression=expression, within=any_of(rare))
        return (selected, newest) if left > budget // 2 else (selected,)
    together = Leg(expression=expression, within=all_of(common[:MOST_TOGETHER]), newest=budget // 2)
    newest = Leg(expression=expression, within=any_of(common[:1]), newest=budget // 2)
    return (together, newest) if len(common) > 1 else (newest,)


def _parted(counts: Mapping[str, int], budget: int) -> tuple[list[str], list[str]]:
    """Part the words, rarest first, where their counts exceed the budget together."""
    words = sorted(counts, key=lambda word: counts[word])
    totals = accumulate(counts[word] for word in words)
    place = next(place for place, total in enumerate(totals) if total > budget)
    return words[:place], words[place:]
