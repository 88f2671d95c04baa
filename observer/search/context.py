"""Context packs: the most useful items of a project within a hard budget of tokens.

The lines of a session's start come first where a card is asked for. With a query follows what a
search for it finds, and what holds here gets a share of the rest. Without one, and where nothing is
found, it is what holds here, then the newest finished sessions, then everything else by worth. No
text is charged twice; what does not fit makes room for something smaller, and is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from msgspec.structs import replace

from observer.core.errors import BadInput
from observer.core.model import Item, SummaryFields
from observer.core.value import Value
from observer.observations.summary import is_trivial
from observer.search.candidates import Sources
from observer.search.find import SearchHits, search
from observer.search.query import plan
from observer.search.rank import Hit, HitSignals, is_knowledge
from observer.search.recent_sessions import Uncommitted
from observer.search.snippet import Repeats, content, snippet
from observer.search.start import (
    CardFact,
    ContextRequest,
    OmittedItem,
    StartRequest,
    TokenBudget,
    holding,
    start,
    worth_showing,
)
from observer.store.reader import StoreReader

CARD_TOKENS = 600
CARD_SHARE = 0.5
"""Most of a budget that a card may take: what helps beyond the last session needs room too."""
KNOWLEDGE_SHARE = 0.25
"""Of the budget, for what holds here and does not fit the query."""
SUMMARY_SHARE = 0.5
"""Of what is left, for summaries, while entries may still come that say more for less."""

KNOWLEDGE_LENGTHS = (1_600, 400, 120)
OTHER_LENGTHS = (400, 120)
"""Characters of content that are tried in turn until an entry fits."""
MOST_MISSES = 10
"""Entries in a row that do not fit, after which no other one is tried."""
TOKENS_PER_ENTRY = 80
FEWEST, MOST = 20, 200
"""Items of one sort that are looked at; an entry seldom costs less than 80 tokens."""
SUMMARIES = 5

SAID = "all of it is said above"
NO_ROOM = "not tried: hardly anything would fit"
NOTHING_FITS = "shown instead: what is newest"


class PackRequest(ContextRequest):
    """What to pack; lines of the start cost `card_tokens` and `CARD_SHARE` of it at most."""

    query: str = ""
    card_tokens: int = 0

    @property
    def most(self) -> int:
        """How many items of a sort are looked at."""
        return min(max(FEWEST, self.budget_tokens // TOKENS_PER_ENTRY), MOST)


class PackEntry(Value):
    """An item of a pack; `content` is the part of its text that is shown and was charged."""

    hit: Hit
    content: str


class FinishedSession(NamedTuple):
    """The summary of a session that is over, and the client's own id of that session."""

    item: Item
    session: str


class TokenCosts(NamedTuple):
    """What rendering costs a front, in tokens, in its longest form; `overhead`: an empty pack."""

    entry: Callable[[PackEntry], int]
    summary: Callable[[FinishedSession], int]
    line: Callable[[CardFact], int]
    overhead: int


class Pack(Value):
    """The lines of the start, entries and session summaries, best first; without a query newest.

    The first `leading` entries are worth more than the summaries. `left_out` counts what did not
    fit, and `omitted` names the first of it; repetitions are named, but not counted.
    """

    entries: tuple[PackEntry, ...] = ()
    summaries: tuple[FinishedSession, ...] = ()
    budget_tokens: int = 0
    used_tokens: int = 0
    left_out: int = 0
    leading: int = 0
    card: tuple[CardFact, ...] = ()
    omitted: tuple[OmittedItem, ...] = ()
    notice: str = ""
    degraded: str = ""


def pack(
    sources: Sources,
    request: PackRequest,
    costs: TokenCosts,
    *,
    uncommitted: Uncommitted | None = None,
) -> Pack:
    """Choose what fits; `uncommitted` asks git about files that sessions left dirty.

    Raises: BadInput (the budget cannot hold even an empty answer).
    """
    if request.budget_tokens < costs.overhead:
        raise BadInput(
            f"a budget of {request.budget_tokens} tokens cannot hold even an empty answer",
            hint=f"ask for {costs.overhead} or more",
        )
    budget = TokenBudget(request.budget_tokens - costs.overhead)
    basket = _Basket(budget, costs, plan(request.query).words)
    card = _card(sources.reader, request, basket, uncommitted)
    found = SearchHits()
    if request.query:
        found = search(
            sources, request.query, request.filters(), limit=request.most, now_ms=request.now_ms
        )
    if found.hits:
        leading = _answer(sources.reader, request, basket, found.hits)
    else:
        leading = _overview(sources.reader, request, basket)
    is_missed = request.query and not found.hits
    return Pack(
        entries=tuple(basket.entries),
        summaries=tuple(basket.summaries),
        budget_tokens=request.budget_tokens,
        used_tokens=request.budget_tokens - budget.left,
        left_out=budget.left_out,
        leading=leading,
        card=card,
        omitted=tuple(budget.omitted),
        notice="; ".join(filter(None, (found.notice, NOTHING_FITS if is_missed else ""))),
        degraded=found.degraded,
    )


def _card(
    reader: StoreReader, request: PackRequest, basket: _Basket, uncommitted: Uncommitted | None
) -> tuple[CardFact, ...]:
    """Buy the lines of a session's start, but for notes: the pack's entries say what holds."""
    most = min(request.card_tokens, int(basket.budget.left * CARD_SHARE))
    if not most:
        return ()
    asked = StartRequest(
        project_id=request.project_id,
        budget_tokens=most,
        now_ms=request.now_ms,
        owner=request.owner,
        with_notes=False,
    )
    card = start(reader, asked, basket.costs.line, uncommitted=uncommitted)
    basket.budget.left -= card.used_tokens
    for one in card.omitted:
        basket.budget.omit(one.item, one.title, one.why)
    basket.repeats.add(line.text for line in card.lines)
    return card.lines


def _answer(reader: StoreReader, request: PackRequest, basket: _Basket, hits: Sequence[Hit]) -> int:
    """Buy what fits a query, best first, then what holds here; return how many entries fit.

    Summaries beyond their share come after all entries.
    """
    budget = basket.budget
    over = _finished(reader, [hit.item for hit in hits if hit.item.kind == "summary"])
    least = budget.left - int(budget.left * SUMMARY_SHARE)
    postponed = []
    for hit in hits:
        if hit.item.kind != "summary":
            before = budget.left
            basket.take(hit)
            least = max(0, least - before + budget.left)
            continue
        basket.name_alike(hit)
        if hit.item.id in over and not basket.take_summary(over[hit.item.id], keep=least):
            postponed.append(hit.item)
    for item in postponed:
        if not basket.take_summary(over[item.id]):
            budget.omit(item.id, item.title, NO_ROOM)
    leading = len(basket.entries)
    keep = max(0, budget.left - int(request.budget_tokens * KNOWLEDGE_SHARE))
    tried = {one for hit in hits for one in (hit.item.id, *hit.alike)}
    for hit in holding(reader, request):
        if hit.item.id not in tried:
            basket.take(hit, keep=keep)
    return leading


def _overview(reader: StoreReader, request: PackRequest, basket: _Basket) -> int:
    """Buy what is worth showing where nothing is asked, or nothing fits what is.

    Return how many of the entries hold until somebody says otherwise.
    """
    budget = basket.budget
    share = KNOWLEDGE_SHARE if request.query else 1.0
    keep = max(0, budget.left - int(request.budget_tokens * share))
    for hit in holding(reader, request):
        basket.take(hit, keep=keep)
    leading = len(basket.entries)
    keep = budget.left - int(budget.left * SUMMARY_SHARE)
    ids = reader.ids(replace(request.filters("summary"), with_global=False), limit=3 * SUMMARIES)
    for shown in list(_finished(reader, reader.items(ids)).values())[:SUMMARIES]:
        if not basket.take_summary(shown, keep=keep):
            price = basket.costs.summary(shown)
            budget.refuse(shown.item.id, shown.item.title, price, keep=keep)
    basket.misses = 0  # of another sort
    for hit in worth_showing(reader, request, limit=request.most):
        basket.take(hit)
    return leading


def _finished(reader: StoreReader, summaries: Iterable[Item]) -> dict[int, FinishedSession]:
    """Return by id the summaries of sessions that are over, those of a mere greeting last."""
    ran = [(item, reader.session(item.session_id or 0)) for item in summaries]
    over = [(item, session) for item, session in ran if not session or session.status != "active"]
    over.sort(key=lambda pair: pair[1] is not None and is_trivial(pair[1]))
    return {
        item.id: FinishedSession(item, session.external if session else "")
        for item, session in over
    }


class _Basket:
    """What is bought within a budget, each text once."""

    def __init__(self, budget: TokenBudget, costs: TokenCosts, words: Sequence[str]) -> None:
        self.budget = budget
        self.costs = costs
        self.entries: list[PackEntry] = []
        self.summaries: list[FinishedSession] = []
        self._words = words
        self.repeats = Repeats()
        self.misses = 0

    @cached_property
    def _least(self) -> int:
        """Tokens below which no entry fits, however short."""
        blank = Item(id=0, uuid="", kind="note", type="", title="")
        return self.costs.entry(
            PackEntry(hit=Hit(item=blank, score=0, signals=HitSignals()), content="")
        )

    def name_alike(self, hit: Hit) -> None:
        """Name what was left out for saying the same as an item."""
        for same in hit.alike:
            self.budget.name(same, hit.item.title, f"says the same as #{hit.item.id}")

    def take(self, hit: Hit, *, keep: int = 0) -> None:
        """Buy what an item says that was not said; `keep` tokens are left then."""
        item = hit.item
        self.name_alike(hit)
        if self.budget.left < self._least or self.misses >= MOST_MISSES:
            self.budget.omit(item.id, item.title, NO_ROOM)
            return
        text = self.repeats.fresh(content(item), beside=item.title)
        if not text and self.repeats.has(item.title):
            self.budget.name(item.id, item.title, SAID)
        elif entry := self._entry(hit, text, keep):
            self.entries.append(entry)
            self.repeats.add([item.title, entry.content])

    def _entry(self, hit: Hit, text: str, keep: int) -> PackEntry | None:
        """Buy an entry with as much of a text as fits, around the words asked for."""
        price, longer = 0, None
        for length in KNOWLEDGE_LENGTHS if is_knowledge(hit.item) else OTHER_LENGTHS:
            shown = snippet(text, length, words=self._words)
            if shown != longer:
                entry = PackEntry(hit=hit, content=shown)
                price = self.costs.entry(entry)
                if self.budget.buy(price, keep=keep):
                    self.misses = 0
                    return entry
            longer = shown
        self.misses += 1
        self.budget.refuse(hit.item.id, hit.item.title, price, keep=keep)
        return None

    def take_summary(self, summary: FinishedSession, *, keep: int = 0) -> bool:
        """Buy what a summary says that was not said; return False if that costs too much."""
        item = summary.item
        fields = item.summary or SummaryFields()
        left = {name: self.repeats.fresh(getattr(fields, name)) for name in _FIELDS}
        trimmed = summary._replace(item=replace(item, summary=SummaryFields(**left)))
        if not any(_answers(trimmed.item)) and any(_answers(item)):
            self.budget.name(item.id, item.title, SAID)
        elif self.budget.buy(self.costs.summary(trimmed), keep=keep):
            self.summaries.append(trimmed)
            self.repeats.add([item.title, *_answers(trimmed.item)])
        else:
            return False
        return True


_FIELDS = SummaryFields.__struct_fields__


def _answers(item: Item) -> Iterator[str]:
    return (text for name in _FIELDS if (text := getattr(item.summary, name, "")))
