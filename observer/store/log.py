"""Reads of the log of events; where nothing else is said, in the order of the log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from operator import attrgetter

from msgspec.structs import replace

from observer.core.errors import StoreUnavailable
from observer.core.model import Recorded
from observer.core.routes import COPIED, SAID, Order, first_id
from observer.core.value import Value
from observer.store.connection import Reads
from observer.store.rows import AMONG, EVENT_JSON, RECORDED_COLUMNS, among, to_recorded


class LogEnd(Value):
    """Where a log ends: the `seq` of its newest event, which may have been purged since."""

    last_seq: int


NEWEST = 3_000
"""Events among which those of a time are looked for: no index leads from a time to them."""

_BATCH = 1000
# What was imported has an id of the import's making.
_TIMES = """
SELECT seq, project_id, at_ms, kind, client, session_id IS NOT NULL,
    id GLOB 'import-*' AND client <> 'git'
FROM event ORDER BY seq
"""


class LogReads(Reads):
    """Reads of events."""

    def recorded_near(
        self, session_id: int, *, from_ms: int, to_ms: int, kind: str = "", newest: int = -1
    ) -> list[Recorded]:
        """Return a session's `newest` (all) events of a `kind` (any) of that time, by `seq`.

        The newest are those that happened last.
        """
        found = self._recorded(
            "session_id = ? AND at_ms BETWEEN ? AND ? AND ? IN ('', kind)"
            " ORDER BY at_ms DESC, seq DESC LIMIT ?",
            (session_id, from_ms, to_ms, kind, newest),
        )
        return sorted(found, key=attrgetter("seq"))

    def _recorded(self, where: str, values: Sequence[object]) -> list[Recorded]:
        """Return events for which a condition holds; those whose data was damaged are left out."""
        found = []
        for row in self._rows(f"SELECT {RECORDED_COLUMNS} FROM event WHERE {where}", values):
            with suppress(StoreUnavailable):
                found.append(to_recorded(row))
        return found

    def copies(self, seq: int) -> list[int]:
        """Return the `seq` of an event, of what it is a copy of, and of all copies of that."""
        first = first_id(self._value("SELECT id FROM event WHERE seq = ?", (seq,), ""))
        return self._column(
            # What begins with the separator, as a range, so that the index of ids serves.
            "SELECT seq FROM event WHERE id = ?1 OR id BETWEEN ?2 AND ?3 ORDER BY seq",
            (first, f"{first}{COPIED}", f"{first}{COPIED}\x7f"),
        )

    def has_imported(self, session_id: int, *, from_ms: int, to_ms: int) -> bool:
        """Return True if an import brought an event of a session of that time."""
        where = "session_id = ? AND at_ms BETWEEN ? AND ? AND id GLOB 'import-*'"
        values = (session_id, from_ms, to_ms)
        return bool(self._rows(f"SELECT 1 FROM event WHERE {where} LIMIT 1", values))

    def written_near(self, *, from_ms: int, to_ms: int) -> list[Recorded]:
        """Return writes of files, and intents, of that time among the newest events, by `seq`."""
        return self._recorded(
            "seq > (SELECT coalesce(max(seq), 0) FROM event) - ?"
            " AND kind IN ('file-write', 'intent') AND at_ms BETWEEN ? AND ? ORDER BY seq",
            (NEWEST, from_ms, to_ms),
        )

    def log(self, *, after_seq: int = 0, limit: int = 1000) -> list[Recorded]:
        """Return events after `after_seq` in log order, without damaged ones."""
        found = self._recorded("seq > ? ORDER BY seq LIMIT ?", (after_seq, limit))
        if found:
            return found
        # None would say that the log is at its end.
        seen = "SELECT seq FROM event WHERE seq > ? ORDER BY seq LIMIT ?"
        damaged = self._column(seen, (after_seq, limit))
        return self.log(after_seq=damaged[-1], limit=limit) if damaged else []

    def by_time(self, projects: Collection[int] | None = None) -> Iterator[list[Recorded]]:
        """Yield all events, or those of projects, in batches, in the order of `core.routes`.

        Each carries its `order`; damaged ones are left out.
        """
        placed = self._placed()
        order = (
            (seq, place)
            for place, (_, seq, project) in zip(
                sorted(one[1] for one in placed), placed, strict=True
            )
            if projects is None or project in projects
        )
        while batch := dict(islice(order, _BATCH)):
            found = self.logged(batch)
            yield sorted(
                (replace(one, order=batch[one.seq]) for one in found), key=lambda one: one.order
            )

    def _placed(self) -> list[tuple[int, int, int]]:
        """Return the time by which each event is ordered, its `seq` and its project, in order."""
        projects: defaultdict[int, Order] = defaultdict(Order)
        placed, newest_ms = [], 0
        for seq, project, at_ms, kind, client, in_session, is_imported in self._rows(_TIMES):
            where = {"in_session": in_session, "is_imported": is_imported}
            place_ms, _ = projects[project].place(at_ms, kind, client, **where)
            if kind in SAID:  # of whatever project
                place_ms = max(place_ms, newest_ms)
            if not is_imported:
                newest_ms = max(place_ms, newest_ms)
            placed.append((place_ms, seq, project))
        return sorted(placed)

    def damaged(self) -> list[StoreUnavailable]:
        """Return what is wrong with each event that cannot be read; reads the whole log."""
        found = []
        for row in self._connection.execute(f"SELECT {RECORDED_COLUMNS} FROM event ORDER BY seq"):
            try:
                to_recorded(row)
            except StoreUnavailable as error:
                found.append(error)
        return found

    def newest_seq(self) -> int:
        """Return the `seq` of the newest event; 0 without any."""
        return int(self._value("SELECT max(seq) FROM event", default=0))

    def next_seq(self) -> int:
        """Return the `seq` that the next appended event must carry; used ones never come again."""
        return 1 + int(self._value("SELECT seq FROM sqlite_sequence WHERE name = 'event'", (), 0))

    def logged(self, seqs: Collection[int]) -> list[Recorded]:
        """Return the events of some `seq`, in log order, without unknown ones."""
        return self._recorded(f"seq {AMONG} ORDER BY seq", (among(seqs),))

    def log_of_kind(self, kind: str) -> list[Recorded]:
        """Return the events of a kind, in log order."""
        return self._recorded("kind = ? ORDER BY seq", (kind,))

    def commands(
        self, *, after_seq: int = 0, before_seq: int | None = None, limit: int
    ) -> list[Recorded]:
        """Return the reported commands between two `seq`, without both; newest first.

        Of those after `after_seq` they are the oldest, else those before `before_seq`.
        """
        if after_seq:
            which, place = "seq > ? ORDER BY seq", after_seq
        else:
            which, place = "seq < ? ORDER BY seq DESC", before_seq or 1 << 62
        found = self._recorded(f"kind = 'command' AND {which} LIMIT ?", (place, limit))
        return sorted(found, key=attrgetter("seq"), reverse=True)

    def log_naming(self, kind: str, words: Sequence[str], *, newest: int) -> list[Recorded]:
        """Return those of the `newest` events that have a kind and one of some lower-case words.

        Newest first.
        """
        # Read first: `json_each` has columns of the same names, such as `id`.
        return self._recorded(
            f"seq IN (WITH said AS (SELECT seq, lower(CAST({EVENT_JSON} AS TEXT)) AS words"
            " FROM event WHERE seq > (SELECT coalesce(max(seq), 0) FROM event) - ? AND kind = ?)"
            " SELECT seq FROM said"
            " WHERE EXISTS (SELECT 1 FROM json_each(?) WHERE instr(words, value)))"
            " ORDER BY seq DESC",
            (newest, kind, among(words)),
        )
