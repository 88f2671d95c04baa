"""What a query means, looked up: its typing errors corrected, then candidates found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from observer.filters import Filters
from observer.recall.candidates import BY_WORDS, LEGS, Candidates, Leg, Sources, candidates
from observer.recall.query import Plan, plan
from observer.recall.spelling import corrected


class Lookup(NamedTuple):
    """A query as it was understood, what items must be for it, and what was found."""

    wanted: Plan
    filters: Filters
    found: Candidates


def look_up(
    sources: Sources,
    text: str,
    filters: Filters,
    *,
    legs: Sequence[Leg] = LEGS,
    most: int = BY_WORDS,
) -> Lookup:
    """Return what a text means and the candidates for it; see `candidates`."""
    wanted = corrected(sources, plan(text), filters)
    return Lookup(wanted, filters, candidates(sources, wanted, filters, legs=legs, most=most))
