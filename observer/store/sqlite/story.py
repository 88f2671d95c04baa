"""Reads of the story that items tell together: links backwards, the same error again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from observer.filters import Filters
from observer.model import Item, Link, item_id
from observer.store.sqlite.selecting import Selecting, conditions, homes
from observer.store.sqlite.standing import AMONG, among


class StoryReads(Selecting):
    """The part of `store.interface.Reader` that is about links, signatures and stories."""

    def linked_to(self, ids: Sequence[int]) -> list[tuple[int, Link]]:
        """See `Reader.linked_to`."""
        # The index holds those that lead somewhere, and serves where the statement says so too.
        rows = self._rows(
            "SELECT source, kind, target, title FROM link"
            f" WHERE target <> 0 AND target {AMONG} ORDER BY source, place",
            (among(ids),),
        )
        return [
            (source, Link(kind=kind, target=target, title=title))
            for source, kind, target, title in rows
        ]

    def commits(self, project_id: int, hashes: Sequence[str], *, before: int) -> Mapping[str, int]:
        """See `Reader.commits`."""
        rows = self._rows(
            "SELECT dedup, seq FROM event"
            f" WHERE project_id = ? AND dedup {AMONG} AND dedup <> '' AND seq < ?",
            (project_id, among(f"commit:{one}" for one in hashes), before),
        )
        return {dedup.removeprefix("commit:"): item_id(seq) for dedup, seq in rows}

    def story(self, project_id: int) -> bytes:
        """See `Reader.story`."""
        row = self._row("SELECT state FROM story WHERE project_id = ?", (project_id,))
        return row[0] if row else b""

    def with_signature(self, signature: str, filters: Filters, *, limit: int) -> list[Item]:
        """See `Reader.with_signature`."""
        where, values = conditions(filters)
        found = self._newest(
            f"signature = ? AND signature <> '' AND {where}",
            (signature, *values),
            homes(filters),
            limit=limit,
        )
        return self.items(found)
