"""Reads about what language models wrote: what waits for one, what it wrote, what that cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from observer.model import Enrichment, Item, Spending
from observer.store.sqlite.rows import to_enrichment
from observer.store.sqlite.selecting import Selecting
from observer.store.sqlite.standing import AMONG, among

# The first halves are word for word the conditions of `item_summary` and `item_large`.
_SUMMARIES = (
    "deleted_ms IS NULL AND kind = 'summary'"
    " AND (enrichment IS NULL OR updated_ms > json_extract(enrichment, '$.as_of_ms'))"
)
_LARGE = (
    "deleted_ms IS NULL AND kind = 'observation' AND discovery_tokens >= 2000"
    " AND enrichment IS NULL"
)
_OVER = "(session_id IS NULL OR session_id NOT IN (SELECT id FROM session WHERE status = 'active'))"


class EnrichingReads(Selecting):
    """The part of `store.interface.Reader` that is about language models."""

    def unenriched(self, *, limit: int, without: Sequence[int] = ()) -> list[Item]:
        """See `Reader.unenriched`."""
        found: list[Item] = []
        apart = f"(project_id IS NULL OR project_id NOT {AMONG})"
        for waiting in (_SUMMARIES, _LARGE):
            found += self._items(
                f"{waiting} AND {_OVER} AND {apart} ORDER BY created_ms DESC, id DESC LIMIT ?",
                (among(without), limit - len(found)),
            )
        return found

    def enrichments(self, ids: Sequence[int]) -> Mapping[int, Enrichment]:
        """See `Reader.enrichments`."""
        rows = self._rows(
            f"SELECT id, enrichment FROM item WHERE id {AMONG} AND enrichment IS NOT NULL",
            (among(ids),),
        )
        return {item_id: to_enrichment(text) for item_id, text in rows}

    def spending(self, day: str) -> Spending:
        """See `Reader.spending`."""
        row = self._row("SELECT tokens, requests FROM llm_spending WHERE day = ?", (day,))
        return Spending(tokens=row[0], requests=row[1]) if row else Spending()
