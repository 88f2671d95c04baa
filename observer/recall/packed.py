"""What a context pack is asked for, and what it is: plain values."""

from __future__ import annotations

from observer.events import Value
from observer.filters import Filters
from observer.model import ItemKind
from observer.recall.card import Line
from observer.recall.purse import Entry, Finished, Omitted


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

    entries: tuple[Entry, ...] = ()
    summaries: tuple[Finished, ...] = ()
    budget_tokens: int = 0
    used_tokens: int = 0
    left_out: int = 0
    leading: int = 0
    card: tuple[Line, ...] = ()
    omitted: tuple[Omitted, ...] = ()
    notice: str = ""
    degraded: str = ""
