"""Reads of enrichments, of notes, and across items: backlinks, commits, repeated errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from observer.core.filters import Filters
from observer.core.model import (
    FORMERLY,
    Enrichment,
    Item,
    Link,
    LlmUsage,
    Recorded,
    item_id,
    title_key,
)
from observer.store.interface import Grouping
from observer.store.sqlite.queries import Selecting, conditions, homes
from observer.store.sqlite.rows import RECORDED_COLUMNS, to_enrichment, to_recorded
from observer.store.sqlite.validity import AMONG, among

# The first halves are word for word the conditions of `item_summary` and `item_large`.
_SUMMARIES = (
    "deleted_ms IS NULL AND kind = 'summary'"
    " AND (enrichment IS NULL OR updated_ms > json_extract(enrichment, '$.as_of_ms'))"
)
_LARGE = (
    "deleted_ms IS NULL AND kind = 'observation' AND discovery_tokens >= 2000"
    " AND enrichment IS NULL"
)
# Joined by OR, all notes would be read.
_TITLED = (
    "SELECT id FROM item WHERE title_key = ? AND kind = 'note' AND deleted_ms IS NULL"
    " UNION ALL SELECT item FROM note_alias WHERE title_key = ?"
    " UNION ALL SELECT source FROM link"
    f" WHERE title_key = ? AND title_key <> '' AND kind = '{FORMERLY}'"
)
_OVER = "(session_id IS NULL OR session_id NOT IN (SELECT id FROM session WHERE status = 'active'))"


class EnrichingReads(Selecting):
    """The part of `store.interface.Reader` that is about language models."""

    def unenriched(self, *, limit: int, without: Sequence[int] = ()) -> list[Item]:
        """See `StoreReader.unenriched`."""
        found: list[Item] = []
        apart = f"(project_id IS NULL OR project_id NOT {AMONG})"
        for waiting in (_SUMMARIES, _LARGE):
            found += self._items(
                f"{waiting} AND {_OVER} AND {apart} ORDER BY created_ms DESC, id DESC LIMIT ?",
                (among(without), limit - len(found)),
            )
        return found

    def enrichments(self, ids: Sequence[int]) -> Mapping[int, Enrichment]:
        """See `StoreReader.enrichments`."""
        rows = self._rows(
            f"SELECT id, enrichment FROM item WHERE id {AMONG} AND enrichment IS NOT NULL",
            (among(ids),),
        )
        return {item_id: to_enrichment(text) for item_id, text in rows}

    def spending(self, day: str) -> LlmUsage:
        """See `StoreReader.spending`."""
        row = self._row("SELECT tokens, requests FROM llm_spending WHERE day = ?", (day,))
        return LlmUsage(tokens=row[0], requests=row[1]) if row else LlmUsage()


class NoteReads(Selecting):
    """The part of `store.interface.Reader` that is about notes."""

    def item(self, item_id: int, *, deleted: bool = False) -> Item | None:
        """See `StoreReader.item`."""
        # A reader may ask for any number, and SQLite takes none of more than 64 bits as a value.
        values = (among([item_id]), deleted)
        found = self._items(f"id {AMONG} AND (? OR deleted_ms IS NULL)", values)
        return found[0] if found else None

    def distrusted(self, now_ms: int) -> list[int]:
        """See `StoreReader.distrusted`."""
        rows = self._rows(
            "SELECT id FROM item INDEXED BY item_doubtful WHERE deleted_ms IS NULL"
            # As the index has it, which is not chosen else.
            " AND (suspicion <> '' OR approval = 'provisional' OR expires_ms IS NOT NULL)"
            " AND (suspicion <> '' OR approval = 'provisional' OR expires_ms <= ?) ORDER BY id",
            (now_ms,),
        )
        return [row[0] for row in rows]

    def history(self, item_id: int) -> list[Recorded]:
        """See `StoreReader.history`."""
        rows = self._rows(
            f"SELECT {RECORDED_COLUMNS} FROM event"
            " WHERE seq IN (SELECT seq FROM note_event WHERE item_id = ?) ORDER BY seq",
            (item_id,),
        )
        return [to_recorded(row) for row in rows]

    def titled(self, title: str, filters: Filters) -> list[Item]:
        """See `StoreReader.titled`."""
        key = title_key(title)
        where, values = _chosen(filters)
        return self._items(
            f"id IN ({_TITLED}) AND {where}"
            " ORDER BY project_id IS NULL, title_key <> ?, id LIMIT 10",
            (key, key, key, *values, key),
        )

    def naming(self, title: str, filters: Filters, *, limit: int) -> list[Item]:
        """See `StoreReader.naming`."""
        where, values = conditions(filters)
        found = self._newest(
            "id IN (SELECT source FROM link WHERE title_key = ? AND title_key <> ''"
            f" AND kind <> '{FORMERLY}') AND {where}",
            (title_key(title), *values),
            homes(filters),
            limit=limit,
        )
        return self.items(found)

    def counts(self, grouping: Grouping, filters: Filters) -> Mapping[str, int]:
        """See `StoreReader.counts`."""
        where, values = _chosen(filters)
        source = "item, json_each(item.tags) AS each" if grouping == "tags" else "item"
        column = "each.value" if grouping == "tags" else f"item.{grouping}"
        return dict(
            self._rows(
                f"SELECT {column}, count(*) FROM {source} WHERE {where} AND {column} <> ''"
                " GROUP BY 1 ORDER BY 2 DESC, 1",
                values,
            )
        )


def _chosen(filters: Filters) -> tuple[str, list[object]]:
    """Return the whole condition of filters, their projects included."""
    where, values = conditions(filters)
    places = homes(filters)
    place = " OR ".join(text for text, _ in places)
    return f"({place}) AND {where}", [*(v for _, given in places for v in given), *values]


class ProjectStateReads(Selecting):
    """The part of `store.interface.Reader` that is about links, signatures, stories and times."""

    def sessions_between(self, from_ms: int, to_ms: int, clients: Sequence[str] = ()) -> list[int]:
        """See `StoreReader.sessions_between`."""
        rows = self._rows(
            f"SELECT id FROM session WHERE (? OR client {AMONG})"
            " AND started_ms <= ? AND last_ms >= ? ORDER BY id",
            (not clients, among(clients), to_ms, from_ms),
        )
        return [number for (number,) in rows]

    def linked_to(self, ids: Sequence[int]) -> list[tuple[int, Link]]:
        """See `StoreReader.linked_to`."""
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
        """See `StoreReader.commits`."""
        rows = self._rows(
            "SELECT dedup, seq FROM event"
            f" WHERE project_id = ? AND dedup {AMONG} AND dedup <> '' AND seq < ?",
            (project_id, among(f"commit:{one}" for one in hashes), before),
        )
        return {dedup.removeprefix("commit:"): item_id(seq) for dedup, seq in rows}

    def project_state(self, project_id: int) -> bytes:
        """See `StoreReader.project_state`."""
        row = self._row("SELECT state FROM project_state WHERE project_id = ?", (project_id,))
        return row[0] if row else b""

    def with_signature(self, signature: str, filters: Filters, *, limit: int) -> list[Item]:
        """See `StoreReader.with_signature`."""
        where, values = conditions(filters)
        found = self._newest(
            f"signature = ? AND signature <> '' AND {where}",
            (signature, *values),
            homes(filters),
            limit=limit,
        )
        return self.items(found)
