"""Takes out what is older than is kept, with all that is derived of it, while the daemon goes on.

What is left is what a rebuild would make of the log without those events: it is derived so in a
database beside, and the living one takes over what differs. Notes are never expired. The same,
without any event that goes, puts in order what an import brought newest first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec

from observer.core.config import Settings
from observer.core.paths import Home, make_private
from observer.ingest.projection import derive_after, rebuild
from observer.policy.policies import DAY_MS, FOR_EVER, Policies, Retention
from observer.purge import recognised, size_cap
from observer.purge.choose import with_dependents
from observer.purge.databases import (
    APPLIED,
    Cleaned,
    Open,
    change_backups,
    is_clean,
    named,
)
from observer.purge.reach import reached_projects
from observer.purge.redact import Redacted
from observer.purge.shred import discard, shred
from observer.store.maintenance import (
    ALL_MS,
    AgedEvent,
    OwnedStore,
    PurgeableStore,
    PurgeReader,
    PurgeWriter,
)
from observer.store.tombstones import Tombstones

UNDERIVED = "underived"
"""Name of the fact that a copy holds events only, and has to be derived when it is used."""
UNFINISHED = "expiring"
"""Name of the fact that copies and write-ahead log may still hold what is gone from the tables."""
WIPED = "wiped"
"""Name of the fact that no free page holds what was deleted before pages were overwritten."""


def expired(reader: PurgeReader, retention: Retention, *, now_ms: int) -> frozenset[int]:
    """Return the `seq` of each event that is older than is kept, and of those about them."""
    most = {project.id: retention.of_project(project) for project in reader.projects()}
    before_ms = retention.before_ms(now_ms, at_most=most.values())
    found = {
        one.seq
        for one, kind, at_ms in _paired(reader.aged_events(before_ms=before_ms))
        if retention.is_expired(
            kind, at_ms, now_ms=now_ms, at_most=most.get(one.project_id, FOR_EVER)
        )
    }
    return all_about(reader, found) if found else frozenset()


class Deletions(NamedTuple):
    """What settings delete: the `seq` of events, and copies with rotated logs."""

    seqs: frozenset[int]
    files: list[Path]


def going(reader: PurgeReader, home: Home, settings: Settings, *, now_ms: int) -> Deletions:
    """Return what a daemon with these settings deletes by age and by size; nothing is touched."""
    before = size_cap.read(home)
    cap = size_cap.measured(home, before, settings.max_home_mb, at_ms=now_ms)
    files: list[Path] = []
    if settings.max_home_mb and cap.is_above:
        files = size_cap.surplus(home, cap)
        used_bytes = cap.used_bytes - sum(map(size_cap.file_bytes, files))
        cap = msgspec.structs.replace(cap, used_bytes=used_bytes)
        cap = size_cap.chosen(reader, home, cap) if cap.is_above else cap
    retention = Retention(settings, Policies(), cap.dropped)
    return Deletions(expired(reader, retention, now_ms=now_ms), files)


def all_about(reader: PurgeReader, going: Collection[int]) -> frozenset[int]:
    """Return events that go, and those that say nothing without them."""
    sessions = {one.seq: one.session_id for one in reader.aged_events(before_ms=ALL_MS)}
    return with_dependents(reader, going, sessions)


def _paired(rows: Iterator[AgedEvent]) -> Iterator[tuple[AgedEvent, str, int]]:
    """Yield events with the type and the time that count: an outcome has those of its intent."""
    open_intents: dict[tuple[int | None, str], deque[AgedEvent]] = {}
    for one in rows:
        waiting = open_intents.setdefault((one.session_id, one.tool), deque())
        if one.kind == "intent":
            waiting.append(one)
            yield one, one.of, one.at_ms
        elif one.kind == "outcome" and waiting:
            asked = waiting.popleft()
            yield one, asked.of, asked.at_ms
        else:
            yield one, one.kind, one.at_ms


class Rederivation:
    """What some projects would be derived into without some events, in a database beside.

    Args:
        home: where that database lies for the time being.
        open_store: opens it.
        store: the living one, which goes on meanwhile.
        gone: the `seq` of each event that goes; there may be none.
        projects: those that are derived, beside those that what goes bears on.
    """

    def __init__(
        self,
        home: Home,
        open_store: Open,
        store: OwnedStore,
        gone: frozenset[int],
        projects: Collection[int] = (),
    ) -> None:
        self._folder = home.expiring
        self._path = self._folder / home.database.name
        self._open = open_store
        self._store = store
        self._gone = gone
        self._projects = frozenset(projects)
        self._seen = 0

    def derive(self, *, advance: Callable[[int], object] = lambda _: None) -> None:
        """Derive them from what stays; takes as long as a rebuild, and blocks nobody."""
        discard(self._folder)
        make_private(self._folder)
        with closing(self._opened()) as beside, beside.write() as writer:
            with self._store.read() as reader:
                self._seen = reader.newest_seq()
                self._projects |= reached_projects(reader, self._gone)
                self._restore(reader, writer)
            rebuild(writer, advance=advance)

    def adopt(self) -> int:
        """Take it over, with what came meanwhile; return how many events went.

        No event may be stored while it runs.
        """
        try:
            with closing(self._opened()) as beside, beside.write() as writer:
                with self._store.read() as reader:
                    self._restore(reader, writer, after_seq=self._seen)
                derive_after(writer, self._seen)
            if self._gone:
                with self._store.write() as living:
                    living.put_meta(UNFINISHED, "1")
            return self._store.adopt(self._path, self._projects, gone=self._gone)
        finally:
            discard(self._folder)

    def _restore(self, reader: PurgeReader, writer: PurgeWriter, *, after_seq: int = 0) -> None:
        rows = reader.remaining_rows(self._projects, but=self._gone, after_seq=after_seq)
        writer.restore_rows(rows, newer=True)

    def _opened(self) -> PurgeableStore:
        return self._open(self._path, self._folder / "backups")


def is_unfinished(reader: PurgeReader) -> bool:
    """Return True if `finish` has to be called, also of what a killed daemon began."""
    return bool(reader.meta(UNFINISHED))


def finish_backups(
    home: Home, open_store: Open, retention: Retention, tombstones: Tombstones, *, now_ms: int
) -> dict[str, str]:
    """Take what is expired or has a tombstone out of the copies; return what became of each.

    Known values are redacted in them. A copy keeps its events alone: what they derive into is made
    when it is used.
    """

    def cleaning(store: PurgeableStore) -> Cleaned:
        with store.read() as reader:
            gone = expired(reader, retention, now_ms=now_ms)
            if not is_clean(reader, tombstones):
                gone |= set(named(reader, tombstones, None))
        known = set(recognised.found(store)) - gone
        if gone or known:
            with store.write() as writer:
                recognised.redact(writer, known)
                writer.delete_events(gone)
                writer.put_meta(APPLIED, str(len(tombstones)))
                writer.drop_unused_projects()
                writer.clear_projection()
                writer.put_meta(UNDERIVED, "1")
            store.compact()
        return Cleaned(len(gone), Redacted(len(known)))

    return change_backups(home, open_store, cleaning)


def expire_bad(home: Home, retention: Retention, *, now_ms: int) -> int:
    """Delete what no decoder understood once any event of its age is expired; count it."""
    before_ms = now_ms - retention.days("") * DAY_MS
    old = [
        path
        for path in sorted((home.spool / "bad").glob("*"))
        if path.is_file() and path.stat().st_mtime * 1000 < before_ms
    ]
    for path in old:
        shred(path)
    return len(old)


def derive_if_needed(store: PurgeableStore) -> None:
    """Derive a copy that was put in place, and holds events alone."""
    with store.read() as reader:
        if not reader.meta(UNDERIVED):
            return
    with store.write() as writer:
        rebuild(writer)
        writer.put_meta(UNDERIVED, "")


def wipe(store: OwnedStore) -> bool:
    """Overwrite free pages and log frames with deleted content; False while somebody reads.

    With True nothing that expired is left in the database's files, and that is noted.
    """
    with store.read() as reader:
        is_wiped = bool(reader.meta(WIPED))
    if not is_wiped:
        # Once: free pages may hold what was deleted before pages were overwritten.
        store.compact()
        put_fact(store, WIPED, "1")
    if not store.empty_log():
        return False
    put_fact(store, UNFINISHED, "")
    return True


def put_fact(store: OwnedStore, name: str, value: str) -> None:
    """Write one of the facts above."""
    with store.write() as writer:
        writer.put_meta(name, value)


def finish_files(home: Home) -> None:
    """Delete the context files; the daemon writes those that are left anew."""
    for path in sorted(home.context.rglob("*")):
        if path.is_file() or path.is_symlink():
            shred(path)
