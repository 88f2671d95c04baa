"""A pack of the most useful items of a project that fits into a budget of tokens.

The budget is hard: what the front will render is what is charged. The resume card comes first
where one is asked for, then knowledge, then finished sessions, those that fit the query or the
newest, then everything else by its worth; what does not fit makes room for something smaller, and
is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec

from observer.errors import BadInput
from observer.events import Value
from observer.filters import Filters
from observer.interpret.memory_use import QUESTION
from observer.interpret.unfinished import is_trivial
from observer.model import KNOWLEDGE_TYPES, Item, ItemKind
from observer.recall.candidates import Candidates, Sources, candidates
from observer.recall.card import CardRequest, Line, card
from observer.recall.discarded import discarded
from observer.recall.distinct import distinct
from observer.recall.lasting import capped, lasting, successors
from observer.recall.past import Uncommitted
from observer.recall.purse import Costs, Entry, Finished, Omitted, Purse
from observer.recall.query import plan
from observer.recall.rank import (
    ASKING,
    WITH_QUERY,
    WITHOUT_QUERY,
    Hit,
    Signals,
    Weights,
    clamped,
    composite,
    is_knowledge,
    leads,
    recency,
)
from observer.recall.usefulness import UNKNOWN, usefulness
from observer.store.interface import Reader

__all__ = ["Costs", "Entry", "Finished", "Pack", "PackRequest", "pack"]

TOKENS_PER_CANDIDATE = 80
FEWEST_CANDIDATES = 20
MOST_CANDIDATES = 200
"""Items of one sort that are looked at; an entry seldom costs less than 80 tokens."""

CARD_TOKENS = 600
CARD_SHARE = 0.5
"""Most of a budget that a card may take: what helps beyond the last session needs room too."""

SUMMARIES = 5
SUMMARY_SHARE = 0.5
"""Of what knowledge left over, so that summaries cannot crowd out what happened last."""

KNOWLEDGE_LENGTHS = (1_600, 400, 120)
OTHER_LENGTHS = (400, 120)
"""Characters of content that are tried in turn until an entry fits."""


class PackRequest(Value):
    """What to pack. `query` is empty where relevance is recency; `owner` sees personal notes.

    `card_tokens` is the most that the resume card may cost, and no more than `CARD_SHARE` of the
    budget.
    """

    project_id: int
    budget_tokens: int
    now_ms: int
    query: str = ""
    owner: str = ""
    card_tokens: int = 0


class Pack(Value):
    """The resume card, entries and session summaries, best first; without a query newest first.

    `used_tokens` never exceeds `budget_tokens`. `left_out` counts what was worth showing but did
    not fit, and `omitted` names the first of it; repetitions are named, but not counted.
    """

    entries: tuple[Entry, ...]
    summaries: tuple[Finished, ...]
    budget_tokens: int
    used_tokens: int
    left_out: int
    card: tuple[Line, ...] = ()
    omitted: tuple[Omitted, ...] = ()
    notice: str = ""
    degraded: str = ""


def pack(
    sources: Sources,
    request: PackRequest,
    costs: Costs,
    *,
    uncommitted: Uncommitted | None = None,
) -> Pack:
    """Choose what fits.

    Args:
        sources: where to look.
        request: what to pack.
        costs: what rendering costs.
        uncommitted: asks git about files that sessions left dirty; None believes the sessions.

    Raises:
        BadInput: the budget cannot hold even an empty answer.
    """
    if request.budget_tokens < costs.overhead:
        raise BadInput(
            f"a budget of {request.budget_tokens} tokens cannot hold even an empty answer",
            hint=f"ask for {costs.overhead} or more",
        )
    wanted = plan(request.query)
    found = candidates(sources, wanted, _filters(request, "summary"))
    fitting, of_sessions = found.lists()
    purse = Purse(request.budget_tokens - costs.overhead, costs)
    lines = _card(sources.reader, request, purse, uncommitted)
    hits = distinct(_ranked(sources, request, found, fitting))
    knowledge = [hit for hit in hits if leads(hit.item)]
    others = [hit for hit in hits if not leads(hit.item)]
    entries = purse.entries(knowledge, KNOWLEDGE_LENGTHS, wanted.words)
    finished = _finished(sources.reader, request, of_sessions)
    summaries = purse.summaries(finished, share=SUMMARY_SHARE)
    entries += purse.entries(others, OTHER_LENGTHS, wanted.words)
    return Pack(
        entries=tuple(entries),
        summaries=tuple(summaries),
        budget_tokens=request.budget_tokens,
        used_tokens=request.budget_tokens - purse.left,
        left_out=purse.left_out,
        card=tuple(lines),
        omitted=tuple(purse.omitted),
        notice=wanted.notice if request.query else "",
        degraded=found.degraded if request.query else "",
    )


def _card(
    reader: Reader, request: PackRequest, purse: Purse, uncommitted: Uncommitted | None
) -> list[Line]:
    most = min(request.card_tokens, int(purse.left * CARD_SHARE))
    if not most:
        return []
    asked = CardRequest(
        project_id=request.project_id,
        now_ms=request.now_ms,
        owner=request.owner,
        with_standing=False,  # the pack's entries say what holds
    )
    return purse.lines(card(reader, asked, uncommitted=uncommitted), at_most=most)


def _ranked(
    sources: Sources, request: PackRequest, found: Candidates, fitting: Sequence[int]
) -> list[Hit]:
    reader, filters, weights = sources.reader, _filters(request), _weights(found)
    best = fitting[: _candidates(request)]
    ids = list(dict.fromkeys(chain(_newest(reader, request), best)))
    known = usefulness(reader.uses(items=ids), now_ms=request.now_ms)
    items = reader.items(ids)
    items += reader.items([each for each in successors(items) if each not in frozenset(ids)])
    # Who asks for something may mean a commit that is gone; who begins needs none.
    gone = frozenset() if request.query else discarded(reader, items)
    offered: dict[int, tuple[float, Item]] = {}
    signals: dict[int, Signals] = {}
    for item in filter(filters.admits, items):
        if item.id in gone:
            continue
        of_item = found.signals(
            item.id,
            recency(item.created_ms, now_ms=request.now_ms),
            usefulness=known.get(item.id, UNKNOWN).weight,
        )
        is_here = item.project_id == request.project_id
        of_item = msgspec.structs.replace(of_item, project_match=1.0 if is_here else 0.5)
        worth = composite(of_item, weights, type_=item.type if is_knowledge(item) else "")
        worth *= lasting(item.standing)
        worth *= ASKING if item.category == QUESTION else 1
        offered[item.id], signals[item.id] = (worth, item), of_item
    worths = capped(_lifted(offered))
    order = sorted(worths, key=lambda one: (-worths[one], -offered[one][1].created_ms, -one))
    return [
        Hit(item=offered[one][1], score=clamped(worths[one]), signals=signals[one]) for one in order
    ]


def _lifted(offered: dict[int, tuple[float, Item]]) -> dict[int, tuple[float, Item]]:
    """Return items with what took the place of others worth as much as those were."""
    lifted = dict(offered)
    for worth, item in offered.values():
        whole = worth / (lasting(item.standing) or 1)
        for target in set(successors([item])) & offered.keys():
            lifted[target] = (max(whole, lifted[target][0]), lifted[target][1])
    return lifted


def _weights(found: Candidates) -> Weights:
    if not found.ids:
        return WITHOUT_QUERY
    return WITH_QUERY if found.has_meaning else WITH_QUERY.without_semantic()


def _newest(reader: Reader, request: PackRequest) -> Iterator[int]:
    """Yield the newest items, and the newest knowledge and notes however old they are."""
    everything = _filters(request)
    notes = msgspec.structs.replace(everything, kinds=("note",))
    knowledge = msgspec.structs.replace(notes, types=tuple(sorted(KNOWLEDGE_TYPES)))
    for filters in (everything, notes, knowledge):
        yield from reader.ids(filters, limit=_candidates(request))


def _finished(reader: Reader, request: PackRequest, fitting: Sequence[int]) -> list[Finished]:
    """Return the summaries of sessions that are over: those that fit the query, then the newest.

    Those of a question or a greeting come last.
    """
    filters = Filters(project_id=request.project_id, kinds=("summary",), owner=request.owner)
    most = 3 * SUMMARIES
    ids = list(dict.fromkeys((*fitting[:most], *reader.ids(filters, limit=most))))
    # Most are over: seldom are more looked at than are wanted.
    parts = (ids[start : start + SUMMARIES] for start in range(0, len(ids), SUMMARIES))
    items = chain.from_iterable(map(reader.items, parts))
    sessions = ((item, reader.session(item.session_id or 0)) for item in items)
    over: list[Finished] = []
    trivial: list[Finished] = []
    for item, session in sessions:
        if session is None or session.status != "active":
            is_last = session is not None and is_trivial(session)
            (trivial if is_last else over).append(
                Finished(item, session.external if session else "")
            )
        if len(over) == SUMMARIES:
            break
    return [*over, *trivial][:SUMMARIES]


def _filters(request: PackRequest, *more: ItemKind) -> Filters:
    return Filters(
        project_id=request.project_id,
        with_global=True,
        kinds=("observation", "note", *more),
        owner=request.owner,
        trusted_at_ms=request.now_ms,
    )


def _candidates(request: PackRequest) -> int:
    affordable = request.budget_tokens // TOKENS_PER_CANDIDATE
    return min(max(FEWEST_CANDIDATES, affordable), MOST_CANDIDATES)
