"""Context packs: the most useful items of a project within a budget of tokens.

The budget is hard: what the front will render is what is charged. The resume card comes first
where one is asked for. With a query, matching entries and summaries of finished sessions follow,
best first; knowledge that matches nothing gets a share of the budget, after all matches. Without
one, and where nothing matches, it is knowledge, then the newest finished sessions, then everything
else by score. No text is charged twice; what does not fit makes room for something smaller, and is
named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace

from observer.core.errors import BadInput
from observer.core.model import Item, SummaryFields
from observer.search.candidates import Sources
from observer.search.dedupe import Repeats, content, without_duplicates
from observer.search.overview import (
    MOST,
    Fitting,
    fitting,
    newest,
    newest_summaries,
    rows,
)
from observer.search.rank import Hit, is_knowledge, leads
from observer.search.recent_sessions import Uncommitted
from observer.search.start import StartRequest, start
from observer.search.token_budget import (
    KNOWLEDGE_LENGTHS,
    MOST_MISSES,
    OTHER_LENGTHS,
    CardFact,
    FinishedSession,
    Pack,
    PackEntry,
    PackRequest,
    TokenBudget,
    TokenCosts,
)
from observer.search.unasked import ranked
from observer.store.reader import StoreReader

ANSWER_SUMMARY_SHARE = 0.5
"""Of the budget, for summaries, while entries that fit the query may still come."""

KNOWLEDGE_SHARE = 0.25
"""Of the budget, for knowledge that does not fit the query."""

SAID = "all of it is said above"
NO_ROOM = "not tried: hardly anything would fit"


def answer(reader: StoreReader, request: PackRequest, fits: Fitting, budget: TokenBudget) -> Pack:
    """Buy what fits a query, then knowledge."""
    basket = _Basket(budget, fits.wanted.words)
    _buy(fits, basket, budget)
    leading = len(basket.entries)
    tried = rows(
        fits.view, request, (item for hit in fits.hits for item in (hit.item.id, *hit.alike))
    )
    if not basket.is_full and not (fits.every & ~tried).any():
        keep = max(0, budget.left - int(request.budget_tokens * KNOWLEDGE_SHARE))
        others = np.sort(fits.view.items(fits.knowledge & ~tried))[-MOST:]
        for hit in without_duplicates(ranked(reader, request, others.tolist())):
            basket.take(hit, keep=keep)
    settled = rows(fits.view, request, basket.settled)
    left_out = (fits.every | fits.knowledge | tried) & ~settled
    return Pack(
        entries=tuple(basket.entries),
        summaries=tuple(basket.summaries),
        leading=leading,
        left_out=int(np.count_nonzero(left_out)),
    )


def _buy(fits: Fitting, basket: _Basket, budget: TokenBudget) -> None:
    """Buy what fits, best first; summaries beyond their share come after all entries."""
    least = budget.left - int(budget.left * ANSWER_SUMMARY_SHARE)
    postponed = []
    for hit in fits.hits:
        if hit.item.kind != "summary":
            before = budget.left
            basket.take(hit)
            least = max(0, least - before + budget.left)
        elif not basket.take_summary(hit, fits.summaries[hit.item.id], keep=least):
            postponed.append(hit)
    for hit in postponed:
        if not basket.take_summary(hit, fits.summaries[hit.item.id]):
            budget.omit(hit.item.id, hit.item.title, NO_ROOM)


class _Basket:
    """What is bought, each text once.

    `settled` are the items of which nothing is missing: shown, or said by what is.
    """

    def __init__(self, budget: TokenBudget, words: Sequence[str]) -> None:
        self.entries: list[PackEntry] = []
        self.summaries: list[FinishedSession] = []
        self.settled: set[int] = set()
        self._budget = budget
        self._words = words
        self._repeats = Repeats()
        self._misses = 0

    @property
    def is_full(self) -> bool:
        """Whether nothing more is tried: hardly anything would fit."""
        return self._budget.is_spent or self._misses >= MOST_MISSES

    def take(self, hit: Hit, *, keep: int = 0) -> None:
        """Buy what an item says that was not said; `keep` tokens are left then."""
        item = hit.item
        if self.is_full:
            self._budget.omit(item.id, item.title, NO_ROOM)
            return
        text = self._repeats.fresh(content(item), beside=item.title)
        if not text and self._repeats.has(item.title):
            self._settle(hit)
            self._budget.name(item.id, item.title, SAID)
            return
        lengths = KNOWLEDGE_LENGTHS if is_knowledge(item) else OTHER_LENGTHS
        entry = self._budget.entry(hit, text, lengths, words=self._words, keep=keep)
        self._misses = 0 if entry else self._misses + 1
        if entry:
            self.entries.append(entry)
            self._repeats.add([item.title, entry.content])
            self._settle(hit)

    def take_summary(self, hit: Hit, summary: FinishedSession, *, keep: int = 0) -> bool:
        """Buy what a summary says that was not said; return False if that costs too much."""
        if self.is_full:
            return False
        trimmed = self._trimmed(summary)
        if not any(_answers(trimmed.item)) and any(_answers(summary.item)):
            self._budget.name(hit.item.id, hit.item.title, SAID)
        elif self._budget.summary(trimmed, keep=keep):
            self.summaries.append(trimmed)
            self._repeats.add([hit.item.title, *_answers(trimmed.item)])
        else:
            return False
        self._settle(hit)
        return True

    def _trimmed(self, summary: FinishedSession) -> FinishedSession:
        fields = summary.item.summary or SummaryFields()
        left = {name: self._repeats.fresh(getattr(fields, name)) for name in _FIELDS}
        return summary._replace(item=replace(summary.item, summary=SummaryFields(**left)))

    def _settle(self, hit: Hit) -> None:
        self.settled |= {hit.item.id, *hit.alike}
        for same in hit.alike:
            self._budget.name(same, hit.item.title, f"says the same as #{hit.item.id}")


_FIELDS = SummaryFields.__struct_fields__


def _answers(item: Item) -> Iterator[str]:
    return (text for name in _FIELDS if (text := getattr(item.summary, name, "")))


CARD_TOKENS = 600
CARD_SHARE = 0.5
"""Most of a budget that a card may take: what helps beyond the last session needs room too."""

SUMMARY_SHARE = 0.5
"""Of what knowledge left over, so that summaries cannot crowd out what happened last."""

NOTHING_FITS = "nothing recorded here fits the query; this is what is newest"


def pack(
    sources: Sources,
    request: PackRequest,
    costs: TokenCosts,
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
    budget = TokenBudget(request.budget_tokens - costs.overhead, costs)
    lines = _card(sources.reader, request, budget, uncommitted)
    packed = _answer(sources, request, budget) if request.query else None
    return replace(
        packed or _overview(sources.reader, request, budget),
        budget_tokens=request.budget_tokens,
        used_tokens=request.budget_tokens - budget.left,
        card=lines,
        omitted=tuple(budget.omitted),
    )


def _answer(sources: Sources, request: PackRequest, budget: TokenBudget) -> Pack:
    """Pack what fits the query; where nothing does, what is worth showing without one."""
    fits = fitting(sources, request)
    if fits.hits:
        packed = answer(sources.reader, request, fits, budget)
    else:
        packed = _overview(sources.reader, request, budget)
    notices = (fits.wanted.notice, "" if fits.hits else NOTHING_FITS)
    return replace(packed, notice="; ".join(filter(None, notices)), degraded=fits.degraded)


def _overview(reader: StoreReader, request: PackRequest, budget: TokenBudget) -> Pack:
    """Pack what is worth showing where nothing is asked, or nothing fits what is."""
    hits = without_duplicates(ranked(reader, request, list(dict.fromkeys(newest(reader, request)))))
    knowledge = [hit for hit in hits if leads(hit.item)]
    others = [hit for hit in hits if not leads(hit.item)]
    most = int(request.budget_tokens * KNOWLEDGE_SHARE) if request.query else None
    entries = budget.entries(knowledge, KNOWLEDGE_LENGTHS, at_most=most)
    summaries = budget.summaries(newest_summaries(reader, request), share=SUMMARY_SHARE)
    rest = budget.entries(others, OTHER_LENGTHS)
    return Pack(
        entries=(*entries, *rest),
        summaries=tuple(summaries),
        leading=len(entries),
        left_out=budget.left_out,
    )


def _card(
    reader: StoreReader, request: PackRequest, budget: TokenBudget, uncommitted: Uncommitted | None
) -> tuple[CardFact, ...]:
    """Buy the lines of a session's start, but for notes: the pack's entries say what holds."""
    most = min(request.card_tokens, int(budget.left * CARD_SHARE))
    if not most:
        return ()
    asked = StartRequest(
        project_id=request.project_id,
        budget_tokens=most,
        now_ms=request.now_ms,
        owner=request.owner,
        with_notes=False,
    )
    card = start(reader, asked, budget.costs.line, uncommitted=uncommitted)
    budget.left -= card.used_tokens
    for one in card.omitted:
        budget.omit(one.item, one.title, one.why)
    return card.lines
