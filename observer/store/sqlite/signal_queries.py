"""Reads and writes of signals and their triage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from observer.core.events import Triage
from observer.core.filters import Filters
from observer.core.model import NoteHeader
from observer.store.sqlite.queries import Selecting, conditions
from observer.store.sqlite.rows import json_text, to_links, to_strings

_numbers = msgspec.json.Decoder(tuple[int, ...]).decode


class SignalReads(Selecting):
    """The part of `store.interface.Reader` that is about signals."""

    def newest_note_change(self) -> int:
        """See `StoreReader.newest_note_change`."""
        row = self._row("SELECT max(change) FROM item WHERE kind = 'note'")
        return (row and row[0]) or 0

    def sketches(self, filters: Filters) -> Iterator[NoteHeader]:
        """See `StoreReader.sketches`."""
        where, values = conditions(filters)
        rows = self._connection.execute(
            "SELECT id, title, project_id, layer, tags, links, created_ms, updated_ms"
            # Else all items would be looked at, most of which are observations.
            " FROM item INDEXED BY item_note_change"
            f" WHERE kind = 'note' AND {where} ORDER BY id",
            values,
        )
        for number, title, project, layer, tags, links, created_ms, updated_ms in rows:
            yield NoteHeader(
                id=number,
                title=title,
                project_id=project,
                layer=layer,
                tags=to_strings(tags),
                links=to_links(links),
                created_ms=created_ms,
                updated_ms=updated_ms,
            )

    def gone_titles(self) -> frozenset[str]:
        """See `StoreReader.gone_titles`."""
        rows = self._rows(
            "SELECT title_key FROM item INDEXED BY item_note_change"
            " WHERE kind = 'note' AND deleted_ms IS NOT NULL"
        )
        return frozenset(key for (key,) in rows)

    def triages(self, owner: str) -> Mapping[int, Triage]:
        """See `StoreReader.triages`."""
        rows = self._rows(
            "SELECT signal, owner, status, type, text, evidence FROM triage WHERE owner = ?"
            " ORDER BY at_ms DESC, signal",
            (owner,),
        )
        return {
            row[0]: Triage(
                signal=row[0],
                owner=row[1],
                status=row[2],
                type=row[3],
                text=row[4],
                evidence=_numbers(row[5]),
            )
            for row in rows
        }


class SignalWrites(Selecting):
    """The part of `store.interface.Writer` that is about signals."""

    def put_triage(self, triage: Triage, *, at_ms: int) -> None:
        """See `Writer.put_triage`."""
        self._connection.execute(
            "INSERT OR REPLACE INTO triage VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                triage.signal,
                triage.owner,
                triage.status,
                triage.type,
                triage.text,
                json_text(triage.evidence),
                at_ms,
            ),
        )
