"""The token budget of a context pack, and the values that a pack is asked for and made of.

Every purchase is checked against what is left; what does not fit is counted and named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from observer.core.filters import Filters
from observer.core.model import Item, ItemKind
from observer.core.value import Value
from observer.search.dedupe import content
from observer.search.rank import Hit, HitSignals
from observer.search.snippet import snippet

MOST_MISSES = 10
"""Entries in a row that do not fit, after which no other one is tried."""
KNOWLEDGE_LENGTHS = (1_600, 400, 120)
OTHER_LENGTHS = (400, 120)
"""Characters of content that are tried in turn until an entry fits."""

MOST_OMITTED = 50
"""Most items named of those that did not fit."""
LINE_CHARS = 280
"""Of a line's text that are shown; the rest is one fetch away."""


class PackEntry(Value):
    """An item of a pack; `content` is the part of its text that is shown and was charged."""

    hit: Hit
    content: str


class CardFact(Value):
    """One fact of a card. `item` is what to fetch, `why` what put it there.

    An `item` of 0 has nothing to fetch. Of `text` so many characters are shown. `red` is the
    command that is said to fail on the branch of the last session.
    """

    item: int
    why: str
    text: str
    at_ms: int = 0
    most_chars: int = LINE_CHARS
    red: str = ""


class FinishedSession(NamedTuple):
    """The summary of a session that is over, and the client's own id of that session."""

    item: Item
    session: str


class OmittedItem(Value):
    """An item that was considered but is not shown, and why."""

    item: int
    title: str
    why: str


class TokenCosts(NamedTuple):
    """What rendering costs, in tokens; supplied by the front, which renders.

    Each figure covers the longest form in which the front returns the thing. `overhead` is what
    a pack without any entry costs.
    """

    entry: Callable[[PackEntry], int]
    summary: Callable[[FinishedSession], int]
    line: Callable[[CardFact], int]
    overhead: int


class TokenBudget:
    """Tokens to spend on parts of a pack; what does not fit is counted, the first of it named."""

    def __init__(self, tokens: int, costs: TokenCosts) -> None:
        self.left = tokens
        self.left_out = 0
        self.omitted: list[OmittedItem] = []
        self.costs = costs

    @cached_property
    def _least(self) -> int:
        """Tokens below which nothing can be bought."""
        blank = Item(id=0, uuid="", kind="note", type="", title="")
        return self.costs.entry(
            PackEntry(hit=Hit(item=blank, score=0, signals=HitSignals()), content="")
        )

    @property
    def is_spent(self) -> bool:
        """Whether no entry fits any more, however short."""
        return self.left < self._least

    def entries(
        self, hits: Iterable[Hit], lengths: Sequence[int], *, at_most: int | None = None
    ) -> list[PackEntry]:
        """Buy entries in order for `at_most` tokens in total; return those bought."""
        bought: list[PackEntry] = []
        keep = 0 if at_most is None else max(0, self.left - at_most)
        misses = 0
        for hit in hits:
            for same in hit.alike:
                self.name(same, hit.item.title, f"says the same as #{hit.item.id}")
            if misses == MOST_MISSES:
                self.omit(hit.item.id, hit.item.title, "not tried: too many before it did not fit")
                continue
            entry = self.entry(hit, content(hit.item), lengths, keep=keep)
            if entry:
                bought.append(entry)
            misses = 0 if entry else misses + 1
        return bought

    def entry(
        self,
        hit: Hit,
        text: str,
        lengths: Sequence[int],
        *,
        words: Sequence[str] = (),
        keep: int = 0,
    ) -> PackEntry | None:
        """Buy an entry with as much of a text as fits, of these lengths, around these words."""
        price = 0
        for shown in _shown(text, lengths, words):
            entry = PackEntry(hit=hit, content=shown)
            price = self.costs.entry(entry)
            if self._buy(price, keep=keep):
                return entry
        self.omit(hit.item.id, hit.item.title, _dear(price, self.left - keep))
        return None

    def summaries(
        self, offered: Iterable[FinishedSession], *, share: float
    ) -> list[FinishedSession]:
        """Buy summaries for a share of what is left."""
        keep = self.left - int(self.left * share)
        bought: list[FinishedSession] = []
        for each in offered:
            if self.summary(each, keep=keep):
                bought.append(each)
            else:
                price = self.costs.summary(each)
                self.omit(each.item.id, each.item.title, _dear(price, self.left - keep))
        return bought

    def summary(self, offered: FinishedSession, *, keep: int = 0) -> bool:
        """Buy a summary if at least `keep` tokens are left then; return whether it was bought."""
        return self._buy(self.costs.summary(offered), keep=keep)

    def _buy(self, price: int, *, keep: int = 0) -> bool:
        if price > self.left - keep:
            return False
        self.left -= price
        return True

    def omit(self, item: int, title: str, why: str) -> None:
        """Count and name what is not shown."""
        self.left_out += 1
        self.name(item, title, why)

    def name(self, item: int, title: str, why: str) -> None:
        """Name what is not shown, and why, without counting it."""
        if len(self.omitted) < MOST_OMITTED:
            self.omitted.append(OmittedItem(item=item, title=title, why=why))


def _dear(price: int, left: int) -> str:
    return f"costs {price} tokens, {left} were left"


def _shown(text: str, lengths: Sequence[int], words: Sequence[str]) -> Iterator[str]:
    """Yield snippets of a text lazily, longest first, none twice."""
    longer = None
    for length in lengths:
        shown = snippet(text, length, words=words)
        if shown != longer:
            yield shown
        longer = shown


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

    def filters(self, *kinds: ItemKind) -> Filters:
        """Return what items of these kinds must be to be packed."""
        return Filters(
            project_id=self.project_id,
            with_global=True,
            kinds=kinds,
            owner=self.owner,
            trusted_at_ms=self.now_ms,
        )


class Pack(Value):
    """The resume card, entries and session summaries, best first; without a query newest first.

    The first `leading` entries are worth more than the summaries, the others less.

    `used_tokens` never exceeds `budget_tokens`. With a query, `left_out` counts all that fits it,
    and all knowledge, that is neither shown nor repeats what is; looked at or not. Without one, it
    counts what was worth showing but did not fit. `omitted` names the first of it; repetitions are
    named, but not counted.
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
