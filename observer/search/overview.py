"""What of a project is worth showing: without a query by score, with one by how well it matches.

What is counted and not looked at is a mask over the rows of the index: sets of 100,000 ids would
take milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from observer.core.filters import Filters
from observer.core.model import KNOWLEDGE_TYPES, Item, ItemKind
from observer.index import Mask, View
from observer.observations.summary import is_trivial
from observer.search.candidates import Candidates, Sources
from observer.search.dedupe import without_duplicates
from observer.search.eligible import outranked
from observer.search.lookup import HitLoader, look_up, with_newer
from observer.search.query import QueryPlan
from observer.search.rank import (
    Hit,
    is_knowledge,
    order,
)
from observer.search.token_budget import FinishedSession, PackRequest
from observer.store.reader import StoreReader

TOKENS_PER_CANDIDATE = 80
FEWEST_CANDIDATES = 20
MOST_CANDIDATES = 200
"""Items of one sort that are looked at; an entry seldom costs less than 80 tokens."""

SUMMARIES = 5

PACKED: tuple[ItemKind, ...] = ("observation", "note", "summary")


def newest(reader: StoreReader, request: PackRequest) -> Iterator[int]:
    """Yield the newest items, and the newest knowledge and notes however old they are."""
    sorts = (request.filters("observation", "note"), request.filters("note"), knowledge(request))
    for filters in sorts:
        yield from reader.ids(filters, limit=_candidates(request))


def knowledge(request: PackRequest) -> Filters:
    """Return what notes must be to hold until somebody says otherwise."""
    return msgspec.structs.replace(request.filters("note"), types=tuple(sorted(KNOWLEDGE_TYPES)))


def newest_summaries(reader: StoreReader, request: PackRequest) -> list[FinishedSession]:
    """Return the newest summaries of sessions that are over."""
    filters = msgspec.structs.replace(request.filters("summary"), with_global=False)
    ids = reader.ids(filters, limit=3 * SUMMARIES)
    # Most are over: seldom are more looked at than are wanted.
    parts = (ids[start : start + SUMMARIES] for start in range(0, len(ids), SUMMARIES))
    return finished(reader, chain.from_iterable(map(reader.items, parts)), most=SUMMARIES)


def finished(reader: StoreReader, summaries: Iterable[Item], *, most: int) -> list[FinishedSession]:
    """Return the summaries of sessions that are over, in the order given.

    Those of a question or a greeting come last.

    Raises:
        StoreUnavailable: the state of a session is damaged, or of another version.
    """
    over: list[FinishedSession] = []
    trivial: list[FinishedSession] = []
    for item in summaries:
        session = reader.session(item.session_id or 0)
        if session is None or session.status != "active":
            is_last = session is not None and is_trivial(session)
            (trivial if is_last else over).append(
                FinishedSession(item, session.external if session else "")
            )
        if len(over) == most:
            break
    return [*over, *trivial][:most]


def _candidates(request: PackRequest) -> int:
    affordable = request.budget_tokens // TOKENS_PER_CANDIDATE
    return min(max(FEWEST_CANDIDATES, affordable), MOST_CANDIDATES)


TOKENS_PER_ENTRY = 40
FEWEST, MOST = 30, 200
"""Items that are looked at; an entry seldom costs less than 40 tokens."""

OF_SUMMARIES = 4
"""Of summaries, which are long, this part of them."""

EVERY = 1_000_000
"""Sessions that are asked for."""


class Fitting(NamedTuple):
    """Hits with a signal and what took their place, best first; `every` is all with a signal.

    Of sessions only those that are over are in either; `summaries` has what is shown of those hits.
    `knowledge` is all that holds here, whether it has a signal or not. `every` and `knowledge` are
    rows of `view`.
    """

    hits: list[Hit]
    summaries: dict[int, FinishedSession]
    view: View
    every: Mask
    knowledge: Mask
    wanted: QueryPlan
    degraded: str


def rows(view: View, request: PackRequest, ids: Iterable[int]) -> Mask:
    """Return the rows of items that may be packed."""
    return view.mask(request.filters(*PACKED), np.fromiter(ids, np.int64))


def fitting(sources: Sources, request: PackRequest) -> Fitting:
    """Find what of a project fits the query of a request."""
    most = min(max(FEWEST, request.budget_tokens // TOKENS_PER_ENTRY), MOST)
    filters = request.filters(*PACKED)
    wanted, filters, found = look_up(
        sources, request.query, filters, now_ms=request.now_ms, most=most
    )
    loader = HitLoader(sources, found, filters, now_ms=request.now_ms)
    signalled = found.signalled()
    entries, summaries = (
        islice(filter(signalled.__contains__, ids), count)
        for ids, count in zip(
            found.lists(loader.factors), (most, most // OF_SUMMARIES), strict=True
        )
    )
    hits = sorted(outranked(with_newer(loader, loader.hits([*entries, *summaries]))), key=_order)
    over = _over(sources.reader, hits)
    shown = (hit for hit in hits if hit.item.kind != "summary" or hit.item.id in over)
    every, holding = _counted(sources, request, found)
    return Fitting(
        without_duplicates(shown),
        over,
        sources.view,
        every,
        holding,
        wanted=wanted,
        degraded=found.degraded,
    )


def _order(hit: Hit) -> tuple[float, bool, tuple[float, ...]]:
    """Return what hits are ordered by: of those that fit alike, knowledge comes first."""
    of_search = order(hit)
    return of_search[0], not is_knowledge(hit.item), of_search


def _over(reader: StoreReader, hits: Iterable[Hit]) -> dict[int, FinishedSession]:
    items = [hit.item for hit in hits if hit.item.kind == "summary"]
    return {each.item.id: each for each in finished(reader, items, most=len(items))}


def _counted(sources: Sources, request: PackRequest, found: Candidates) -> tuple[Mask, Mask]:
    """Return the rows of all items that have a signal and may be shown, and of all knowledge."""
    reader, view = sources.reader, sources.view
    every = found.matching(request.filters(*PACKED))
    for session in reader.sessions(project_id=request.project_id, active=True, limit=EVERY):
        every &= ~view.mask(replace(request.filters("summary"), session_id=session.id))
    # The index does not know what may be trusted.
    trusted = ~rows(view, request, reader.distrusted(request.now_ms))
    return every & trusted, view.mask(knowledge(request)) & trusted
