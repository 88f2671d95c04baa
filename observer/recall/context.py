"""A pack of the most useful items of a project that fits into a budget of tokens.

The budget is hard: what the front will render is what is charged. Knowledge comes first, then
the newest finished sessions, then everything else by its worth; what does not fit makes room for
something smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

import msgspec

from observer.errors import BadInput
from observer.events import Value
from observer.filters import Filters
from observer.model import KNOWLEDGE_TYPES, Item
from observer.recall.candidates import Candidates, Sources, candidates
from observer.recall.distinct import content, distinct
from observer.recall.passage import passage
from observer.recall.query import plan
from observer.recall.rank import (
    WITH_QUERY,
    WITHOUT_QUERY,
    Hit,
    Weights,
    clamped,
    composite,
    recency,
)
from observer.store.interface import Reader

TOKENS_PER_CANDIDATE = 80
FEWEST_CANDIDATES = 20
MOST_CANDIDATES = 200
"""Items of one sort that are looked at; an entry seldom costs less than 80 tokens."""

SUMMARIES = 5
SUMMARY_SHARE = 0.5
"""Of what knowledge left over, so that summaries cannot crowd out what happened last."""

MOST_MISSES = 10
"""Entries in a row that do not fit, after which no other one is tried."""

KNOWLEDGE_LENGTHS = (1_600, 400, 120)
OTHER_LENGTHS = (400, 120)
"""Characters of content that are tried in turn until an entry fits."""


class Entry(Value):
    """An item of a pack; `content` is the part of its text that is shown and was charged."""

    hit: Hit
    content: str


class Costs(NamedTuple):
    """What rendering costs, in tokens; supplied by the front, which renders.

    Each figure covers the longest form in which the front returns the thing. `overhead` is what
    a pack without any entry costs.
    """

    entry: Callable[[Entry], int]
    summary: Callable[[Item], int]
    overhead: int


class PackRequest(Value):
    """What to pack. `query` is empty where relevance is recency; `owner` sees personal notes."""

    project_id: int
    budget_tokens: int
    now_ms: int
    query: str = ""
    owner: str = ""


class Pack(Value):
    """Entries, best first, and session summaries, newest first.

    `used_tokens` never exceeds `budget_tokens`. `left_out` counts what was worth showing but did
    not fit; repetitions are not counted.
    """

    entries: tuple[Entry, ...]
    summaries: tuple[Item, ...]
    budget_tokens: int
    used_tokens: int
    left_out: int
    notice: str = ""
    degraded: str = ""


def pack(sources: Sources, request: PackRequest, costs: Costs) -> Pack:
    """Choose what fits.

    Raises:
        BadInput: the budget cannot hold even an empty answer.
    """
    if request.budget_tokens < costs.overhead:
        raise BadInput(
            f"a budget of {request.budget_tokens} tokens cannot hold even an empty answer",
            hint=f"ask for {costs.overhead} or more",
        )
    wanted = plan(request.query)
    found = candidates(sources, wanted, _filters(request))
    hits = distinct(_ranked(sources, request, found))
    knowledge = [hit for hit in hits if hit.item.type in KNOWLEDGE_TYPES]
    others = [hit for hit in hits if hit.item.type not in KNOWLEDGE_TYPES]
    purse = _Purse(request.budget_tokens - costs.overhead)
    entries = purse.entries(knowledge, KNOWLEDGE_LENGTHS, wanted.words, costs)
    summaries = purse.summaries(_finished(sources.reader, request), costs)
    entries += purse.entries(others, OTHER_LENGTHS, wanted.words, costs)
    return Pack(
        entries=tuple(entries),
        summaries=tuple(summaries),
        budget_tokens=request.budget_tokens,
        used_tokens=request.budget_tokens - purse.left,
        left_out=purse.left_out,
        notice=wanted.notice if request.query else "",
        degraded=found.degraded if request.query else "",
    )


class _Purse:
    """What is left of a budget; every purchase is checked against it."""

    def __init__(self, tokens: int) -> None:
        self.left = tokens
        self.left_out = 0

    def entries(
        self, hits: Iterable[Hit], lengths: Sequence[int], words: Sequence[str], costs: Costs
    ) -> list[Entry]:
        bought: list[Entry] = []
        misses = 0
        for hit in hits:
            if misses == MOST_MISSES:
                self.left_out += 1
                continue
            shown = _shown(content(hit.item), lengths, words)
            tries = (Entry(hit=hit, content=content) for content in shown)
            entry = next((each for each in tries if self._buy(costs.entry(each))), None)
            if entry:
                bought.append(entry)
            misses = 0 if entry else misses + 1
            self.left_out += entry is None
        return bought

    def summaries(self, items: Iterable[Item], costs: Costs) -> list[Item]:
        reserve = self.left - int(self.left * SUMMARY_SHARE)
        offered = list(items)
        bought = [item for item in offered if self._buy(costs.summary(item), keep=reserve)]
        self.left_out += len(offered) - len(bought)
        return bought

    def _buy(self, price: int, *, keep: int = 0) -> bool:
        if price > self.left - keep:
            return False
        self.left -= price
        return True


def _ranked(sources: Sources, request: PackRequest, found: Candidates) -> list[Hit]:
    reader, filters, weights = sources.reader, _filters(request), _weights(found)
    items = {item.id: item for item in _newest(reader, request)}
    best = chain(*(ids[: _candidates(request)] for ids in found.lists()))
    older = reader.items([item_id for item_id in best if item_id not in items])
    items |= {item.id: item for item in older if filters.admits(item)}
    hits = []
    for item in items.values():
        signals = found.signals(item.id, recency(item.created_ms, now_ms=request.now_ms))
        is_here = item.project_id == request.project_id
        signals = msgspec.structs.replace(signals, project_match=1.0 if is_here else 0.5)
        hits.append((composite(signals, weights, type_=item.type), item, signals))
    hits.sort(key=lambda hit: (-hit[0], -hit[1].created_ms, -hit[1].id))
    return [Hit(item=item, score=clamped(score), signals=s) for score, item, s in hits]


def _weights(found: Candidates) -> Weights:
    if not found.ids:
        return WITHOUT_QUERY
    return WITH_QUERY if found.has_meaning else WITH_QUERY.without_semantic()


def _newest(reader: Reader, request: PackRequest) -> Iterator[Item]:
    """Yield the newest items, and the newest knowledge and notes however old they are."""
    everything = _filters(request)
    notes = msgspec.structs.replace(everything, kinds=("note",))
    knowledge = msgspec.structs.replace(notes, types=tuple(sorted(KNOWLEDGE_TYPES)))
    for filters in (everything, notes, knowledge):
        yield from reader.recent(filters, limit=_candidates(request))


def _finished(reader: Reader, request: PackRequest) -> list[Item]:
    """Return the newest summaries of sessions that are over."""
    filters = Filters(project_id=request.project_id, kinds=("summary",), owner=request.owner)
    newest = reader.recent(filters, limit=3 * SUMMARIES)
    return list(islice((item for item in newest if _is_over(reader, item)), SUMMARIES))


def _is_over(reader: Reader, summary: Item) -> bool:
    session = reader.session(summary.session_id) if summary.session_id is not None else None
    return session is None or session.status != "active"


def _filters(request: PackRequest) -> Filters:
    return Filters(
        project_id=request.project_id,
        with_global=True,
        kinds=("observation", "note"),
        owner=request.owner,
    )


def _candidates(request: PackRequest) -> int:
    affordable = request.budget_tokens // TOKENS_PER_CANDIDATE
    return min(max(FEWEST_CANDIDATES, affordable), MOST_CANDIDATES)


def _shown(text: str, lengths: Sequence[int], words: Sequence[str]) -> Iterator[str]:
    """Yield passages of a text, longest first; none twice, and none before it is asked for."""
    longer = None
    for length in lengths:
        shown = passage(text, length, words=words)
        if shown != longer:
            yield shown
        longer = shown
