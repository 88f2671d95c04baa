"""Reads and writes of usage events and of the triage of signals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from observer.core.events import Triage
from observer.core.filters import Filters
from observer.core.model import NoteHeader, UsageEvent
from observer.store.sqlite.queries import Selecting, conditions
from observer.store.sqlite.rows import json_text, to_links, to_strings
from observer.store.sqlite.validity import AMONG, among

_FOLLOWED = "usage_seq"
"""Name of the fact up to which event the log was looked through for uses."""


class UsageReads(Selecting):
    """The part of `store.interface.Reader` that is about uses."""

    def uses(
        self, *, items: Sequence[int] | None = None, sessions: Sequence[int] | None = None
    ) -> list[UsageEvent]:
        """See `StoreReader.uses`."""
        where = ["1"]
        values: list[str] = []
        for column, wanted in (("item_id", items), ("session_id", sessions)):
            if wanted is not None:
                where.append(f"{column} {AMONG}")
                values.append(among(wanted))
        rows = self._rows(
            "SELECT item_id, session_id, sort, at_ms FROM usage"
            f" WHERE {' AND '.join(where)} ORDER BY at_ms, item_id, session_id, sort",
            values,
        )
        return [UsageEvent(item=row[0], session=row[1], sort=row[2], at_ms=row[3]) for row in rows]

    def followed(self) -> int | None:
        """See `StoreReader.followed`."""
        row = self._row("SELECT value FROM meta WHERE key = ?", (_FOLLOWED,))
        return int(row[0]) if row else None


class UsageWrites(UsageReads):
    """The part of `store.interface.Writer` that is about uses."""

    def put_uses(self, uses: Iterable[UsageEvent], *, followed: int | None = None) -> None:
        """See `Writer.put_uses`."""
        self._connection.executemany(
            "INSERT INTO usage (item_id, session_id, sort, at_ms) VALUES (?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET at_ms = max(at_ms, excluded.at_ms)",
            map(msgspec.structs.astuple, uses),
        )
        if followed is not None:
            self._connection.execute(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)", (_FOLLOWED, str(followed))
            )

    def drop_uses(self, items: Sequence[int] | None = None, *, before_ms: int) -> int:
        """See `Writer.drop_uses`."""
        condition, values = "", []
        if items is not None:
            condition, values = f" AND item_id {AMONG}", [among(items)]
        self._connection.execute(
            f"DELETE FROM usage WHERE at_ms < ?{condition}", (before_ms, *values)
        )
        return self._connection.changes()


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
