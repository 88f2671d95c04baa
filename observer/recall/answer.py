"""The part of a context pack that answers a query.

What fits the query comes first, best first, whatever it is: entries and the summaries of sessions
that are over. Knowledge that matches nothing gets a share of the budget, and only once nothing
that fits the query is left. No text is paid for twice, and what was never looked at is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace

from observer.model import Item, SummaryFields
from observer.recall.distinct import content, distinct
from observer.recall.fitting import EVERY, MOST, Fitting
from observer.recall.overview import knowledge, ranked
from observer.recall.packed import Pack, PackRequest
from observer.recall.purse import KNOWLEDGE_LENGTHS, OTHER_LENGTHS, Entry, Finished, Purse
from observer.recall.rank import Hit, is_knowledge
from observer.recall.repeats import Repeats
from observer.store.interface import Reader

SUMMARY_SHARE = 0.5
"""Of the budget, for summaries, while entries that fit the query may still come."""

KNOWLEDGE_SHARE = 0.25
"""Of the budget, for knowledge that does not fit the query."""

SAID = "all of it is said above"


def answer(
    reader: Reader, request: PackRequest, fits: Fitting, purse: Purse, words: Sequence[str]
) -> Pack:
    """Buy what fits a query, then knowledge; texts are cut around the `words`."""
    basket = _Basket(purse, words)
    _buy(fits, basket, purse)
    leading = len(basket.entries)
    holding = reader.ids(knowledge(request), limit=EVERY)
    tried = {item for hit in fits.hits for item in (hit.item.id, *hit.alike)}
    if tried.issuperset(fits.every.tolist()):
        keep = purse.left - int(request.budget_tokens * KNOWLEDGE_SHARE)
        others = [each for each in holding[:MOST] if each not in tried]
        for hit in distinct(ranked(reader, request, others)):
            basket.take(hit, keep=max(0, keep))
    all_there_is = np.union1d(fits.every, np.array([*holding, *tried], np.int64))
    return Pack(
        entries=tuple(basket.entries),
        summaries=tuple(basket.summaries),
        leading=leading,
        left_out=len(np.setdiff1d(all_there_is, list(basket.settled))),
    )


def _buy(fits: Fitting, basket: _Basket, purse: Purse) -> None:
    """Buy what fits, best first; summaries beyond their share come after all entries."""
    share = int(purse.left * SUMMARY_SHARE)
    postponed = []
    for hit in fits.hits:
        if hit.item.kind != "summary":
            basket.take(hit)
            continue
        before = purse.left
        if basket.is_dear(fits.summaries[hit.item.id], share):
            postponed.append(hit)
        else:
            basket.take_summary(hit, fits.summaries[hit.item.id])
            share -= before - purse.left
    for hit in postponed:
        basket.take_summary(hit, fits.summaries[hit.item.id])


class _Basket:
    """What is bought, each text once.

    `settled` are the items of which nothing is missing: shown, or said by what is.
    """

    def __init__(self, purse: Purse, words: Sequence[str]) -> None:
        self.entries: list[Entry] = []
        self.summaries: list[Finished] = []
        self.settled: set[int] = set()
        self._purse = purse
        self._words = words
        self._repeats = Repeats()

    def take(self, hit: Hit, *, keep: int = 0) -> None:
        """Buy what an item says that was not said; `keep` tokens are left then."""
        item = hit.item
        text = self._repeats.fresh(content(item), beside=item.title)
        if not text and self._repeats.has(item.title):
            self._settle(hit)
            self._purse.name(item.id, item.title, SAID)
            return
        lengths = KNOWLEDGE_LENGTHS if is_knowledge(item) else OTHER_LENGTHS
        entry = self._purse.entry(hit, text, lengths, words=self._words, keep=keep)
        if entry:
            self.entries.append(entry)
            self._repeats.add([item.title, entry.content])
            self._settle(hit)

    def is_dear(self, summary: Finished, most: int) -> bool:
        """Return True if a summary costs more than so many tokens."""
        return self._purse.price(self._trimmed(summary)) > most

    def take_summary(self, hit: Hit, summary: Finished) -> None:
        """Buy what a summary says that was not said."""
        trimmed = self._trimmed(summary)
        if not any(_answers(trimmed.item)) and any(_answers(summary.item)):
            self._settle(hit)
            self._purse.name(hit.item.id, hit.item.title, SAID)
        elif self._purse.summary(trimmed):
            self.summaries.append(trimmed)
            self._repeats.add([hit.item.title, *_answers(trimmed.item)])
            self._settle(hit)

    def _trimmed(self, summary: Finished) -> Finished:
        fields = summary.item.summary or SummaryFields()
        left = {name: self._repeats.fresh(getattr(fields, name)) for name in _FIELDS}
        return summary._replace(item=replace(summary.item, summary=SummaryFields(**left)))

    def _settle(self, hit: Hit) -> None:
        self.settled |= {hit.item.id, *hit.alike}
        for same in hit.alike:
            self._purse.name(same, hit.item.title, f"says the same as #{hit.item.id}")


_FIELDS = SummaryFields.__struct_fields__


def _answers(item: Item) -> Iterator[str]:
    return (text for name in _FIELDS if (text := getattr(item.summary, name, "")))
