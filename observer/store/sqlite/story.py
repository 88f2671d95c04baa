"""Reads of the story that items tell together: links backwards, the same error again."""

from __future__ import annotations

from collections.abc import Sequence

from observer.filters import Filters
from observer.model import Item, Link
from observer.store.sqlite.selecting import Selecting, conditions


class StoryReads(Selecting):
    """The part of `store.interface.Reader` that is about links and signatures."""

    def linked_to(self, ids: Sequence[int]) -> list[tuple[int, Link]]:
        """See `Reader.linked_to`."""
        marks = ", ".join("?" * len(ids))
        # The index holds those that lead somewhere, and serves where the statement says so too.
        rows = self._rows(
            "SELECT source, kind, target, title FROM link"
            f" WHERE target <> 0 AND target IN ({marks}) ORDER BY source, place",
            ids,
        )
        return [
            (source, Link(kind=kind, target=target, title=title))
            for source, kind, target, title in rows
        ]

    def with_signature(self, signature: str, filters: Filters, *, limit: int) -> list[Item]:
        """See `Reader.with_signature`."""
        where, values = conditions(filters)
        return self._newest(
            f"signature = ? AND signature <> '' AND {where}",
            (signature, *values),
            filters,
            limit=limit,
        )
