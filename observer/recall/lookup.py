"""What a query means, looked up: its time words restrict, its typing errors are corrected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from observer.filters import Filters
from observer.recall.candidates import BY_WORDS, LEGS, Candidates, Leg, Sources, candidates
from observer.recall.dates import Dated, dated
from observer.recall.query import STOP_WORDS, Plan, plan
from observer.recall.rank import has_signal
from observer.recall.spelling import corrected

ANY_WORK = STOP_WORDS | {"happen", "happened", "done", "work", "worked", "working", "everything"}
"""Words beside a time that ask for whatever was done then."""


class Lookup(NamedTuple):
    """A query as it was understood, what items must be for it, and what was found.

    `wanted` has no words where whatever fits the filters is meant.
    """

    wanted: Plan
    filters: Filters
    found: Candidates


def look_up(
    sources: Sources,
    text: str,
    filters: Filters,
    *,
    now_ms: int,
    legs: Sequence[Leg] = LEGS,
    most: int = BY_WORDS,
) -> Lookup:
    """Return what a text means and the candidates for it; see `candidates`.

    Time words restrict unless nothing of that time fits, or `filters` say which time is meant.
    """

    def search(wanted: Plan, among: Filters) -> Lookup:
        meant = corrected(sources, wanted, among)
        return Lookup(meant, among, candidates(sources, meant, among, legs=legs, most=most))

    wanted = plan(text)
    is_timeless = filters.since_ms is None and filters.until_ms is None and not wanted.expression
    when = dated(text, now_ms=now_ms) if is_timeless else None
    if when is None:
        return search(wanted, filters)
    of_then = replace(filters, since_ms=when.since_ms, until_ms=when.until_ms)
    then = search(_beside(when), of_then)
    if not then.wanted.words or _is_found(then):
        return _noted(then, f"only of {when.days}")
    return _noted(search(wanted, filters), f"nothing of {when.days} fits; searched all times")


def _beside(when: Dated) -> Plan:
    """Return what is looked for beside a time; a plan without words for anything."""
    rest = plan(when.rest)
    return Plan() if ANY_WORK.issuperset(map(str.casefold, rest.words)) else rest


def _is_found(lookup: Lookup) -> bool:
    found = lookup.found
    return any(has_signal(found.signals(each, 0)) for each in found.ids)


def _noted(lookup: Lookup, notice: str) -> Lookup:
    notices = filter(None, (lookup.wanted.notice, notice))
    return lookup._replace(wanted=replace(lookup.wanted, notice="; ".join(notices)))
