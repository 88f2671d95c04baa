"""Steps 2 to 8 of the way of an event: spool -> decode -> redact -> project -> items -> ack.

One thread at a time. What the spool handed out is acknowledged only after the commit that holds
it; whatever dies in between is replayed, and the event's id makes the replay a no-op.

What happens below `Home.probes` is a probe of `observer doctor`: stored and derived like any event,
read back into a file there, and rolled back, so that no reader ever sees it.
"""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from observer.core.config import Settings
from observer.core.disk import SpoolEntry, replace
from observer.core.errors import ObserverError, StoreUnavailable, Undecodable, remedy
from observer.core.events import Event, SessionEnd
from observer.core.model import Item, Place, Receipt, Recorded
from observer.core.paths import is_inside
from observer.core.routes import is_imported
from observer.core.value import Value
from observer.index import Index
from observer.ingest.append import EventAppender
from observer.ingest.prefetch import BACKLOG, Prefetcher
from observer.ingest.prepare import EventPreparer
from observer.ingest.projection import Embedder
from observer.ingest.projection import rebuild as derived_anew
from observer.local.spool import Spool
from observer.observations.analysis import EventRecord
from observer.projects import PlaceCache
from observer.redaction.redact import redact_bytes, redact_text
from observer.store.interface import Store
from observer.store.tombstones import Tombstones
from observer.store.writer import Writer

BATCH = 500
"""Entries of one commit: enough to share its fsync, few enough to be searchable soon."""
FIRST_BATCH = 32
"""Entries of the first commit: even who is killed soon after each start gets on."""
INDEXED = 50
"""Events of a batch from which on it is indexed before its commit; of fewer, whoever asks first
indexes what there is in a few milliseconds."""
IMPORT_PAUSE_S = 60.0
"""An import that sent nothing for so long is over."""

_log = logging.getLogger(__name__)


class Drained(Value):
    """What one drain did: entries taken off the spool, and the projects something was stored in."""

    entries: int = 0
    bad: int = 0
    projects: frozenset[int] = frozenset()
    is_all: bool = False
    """Whether nothing was left when it ended; False where that was not looked at."""


class Embedded(NamedTuple):
    """Vectors by item, the change that each was made of, and the last change that was looked at."""

    last_change: int
    vectors: Mapping[int, bytes]
    seen: Mapping[int, int]


ANSWER = "stored-"
"""What the names of the files begin with that hold what the store gave back: a `Probed` each."""


class Probed(Value):
    """One probe as it came back from the store, and the item that it made."""

    recorded: Recorded
    item: Item | None


class _RollBack(Exception):
    """Ends the transaction that holds the probes."""


class Pipeline:
    """Carries events from the spool, or from a front, into the store.

    Args:
        places: looks up folders; caches between calls.
        now_ms: the clock.
        ahead: reads long backlogs meanwhile, on another core.
        embedder: makes the vectors of what is stored; None stores none.
        tombstones: what was purged and is not stored again.
        probes: what happens below this folder is a probe, and never committed.
        index: gets large batches before they are committed, so that no search has to take them up.
        give_way: called before each event is stored; may block while somebody waits for an answer.
    """

    def __init__(  # noqa: PLR0913 - its parts, each named
        self,
        store: Store,
        spool: Spool,
        *,
        settings: Settings,
        places: PlaceCache,
        now_ms: Callable[[], int],
        ahead: Prefetcher | None = None,
        embedder: Embedder | None = None,
        tombstones: Tombstones | None = None,
        probes: Path | None = None,
        index: Index | None = None,
        give_way: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._spool = spool
        self._idle_ms = settings.session_idle_minutes * 60_000
        self._preparer = EventPreparer(settings, spool, places=places, now_ms=now_ms)
        self.restricted = self._preparer.policies.roots
        self._now_ms = now_ms
        self._ahead = ahead
        self._embedder = embedder
        self._tombstones = tombstones
        self._probes = probes
        self._index = index
        self._give_way = give_way
        self._at_most = FIRST_BATCH
        self._importing_until = 0.0

    def drain(self) -> Drained:
        """Store some of the oldest spooled entries; `entries` is 0 when the spool is empty.

        Raises StoreUnavailable: store or spool cannot be written; nothing was acknowledged.
        """
        if self._ahead and (drained := self._drain_ahead(self._ahead)):
            return drained
        # Each batch is larger than the one before, and what is left then is read meanwhile.
        entries = self._spool.claim(at_most=self._at_most)
        self._at_most = min(4 * self._at_most, BATCH)
        if self._ahead and len(entries) == BATCH and self._spool.left() > BATCH + BACKLOG:
            self._ahead.begin(in_hand=entries)
        self._preparer.clear_cache()
        read = [(entry, self._read(entry)) for entry in entries]
        good = [(entry, prepared) for entry, prepared in read if prepared is not None]
        try:
            projects = self._store_all(prepared for _, events in good for prepared in events)
        except ObserverError:
            raise
        except Exception:  # noqa: BLE001 - one of the four doors
            # An event that breaks the interpreter must not hold up the rest.
            _log.exception("a batch of %d entries failed; storing them one by one", len(good))
            projects = frozenset().union(*(self._store_alone(*pair) for pair in good))
        self._spool.ack(entry for entry, _ in good)
        return Drained(
            entries=len(entries),
            bad=len(entries) - len(good),
            projects=frozenset(projects),
            is_all=self._spool.is_empty(),
        )

    def close(self) -> None:
        """Stop what goes on beside it; what was not stored is in the spool."""
        if self._ahead:
            self._ahead.end()

    def ingest(self, events: Sequence[Event], project_id: int | None = None) -> list[Receipt]:
        """Store events that a front reports, not redacted yet, and return after the commit.

        Without a `project_id` it is found by their folders. Raises StoreUnavailable: nothing was
        stored.
        """
        self._preparer.clear_cache()
        prepared = [self._preparer.prepare_reported(event, project_id) for event in events]
        if any(map(is_imported, events)):
            self._importing_until = time.monotonic() + IMPORT_PAUSE_S
            self._give_way()
        with self._store.write() as writer:
            appender = self._appender(writer)
            appender.projection.expect(one.event for one in prepared if one)
            receipts = [appender.append(one) if one else Receipt() for one in prepared]
            appender.projection.finish()
        return receipts

    def is_importing(self) -> bool:
        """Return True if an import goes on, as far as can be known."""
        return time.monotonic() < self._importing_until

    def end_import(self) -> None:
        """Note that an import is over."""
        self._importing_until = 0.0

    def close_idle(self) -> frozenset[int]:
        """End the sessions that have been silent for too long; returns their projects.

        None while an import goes on, which may bring more of them.
        """
        silent = []
        if not self.is_importing():
            with self._store.read() as reader:
                silent = reader.idle_sessions(before_ms=self._now_ms() - self._idle_ms)
        if not silent:
            return frozenset()
        return self._store_all(
            EventRecord(
                event=Event(
                    id=f"idle-{session.id}-{session.last_ms}",
                    at_ms=session.last_ms + self._idle_ms,
                    client=session.client,
                    session=session.external,
                    cwd=session.cwd,
                    body=SessionEnd(reason="idle"),
                    author="system",
                ),
                place=Place(
                    root=self._preparer.place_of(session.cwd)[1].root, branch=session.branch
                ),
                project_id=session.project_id,
            )
            for session in silent
        )

    def embedded(self, after: int, *, limit: int) -> Embedded:
        """Make vectors of items that have no whole one of the model in use, from one change on.

        It only reads, and may take a while; `last_change` is `after` when nothing is left to do.
        """
        if self._embedder is None:
            return Embedded(after, {}, {})
        model = self._embedder
        with self._store.read() as reader:
            bare = reader.without_vector(
                model.id, dimensions=model.dimensions, after=after, limit=limit
            )
        vectors = model.made([change.item for change in bare if change.item])
        seen = {change.id: change.change for change in bare}
        return Embedded(bare[-1].change if bare else after, vectors, seen)

    def keep_embedded(self, made: Embedded) -> None:
        """Store vectors, but for items that have changed since they were made."""
        if self._embedder is not None and made.vectors:
            with self._store.write() as writer:
                writer.put_vectors(self._embedder.id, made.vectors, seen=made.seen)

    def drop_other_vectors(self) -> None:
        """Delete the vectors of models that are not in use."""
        if self._embedder is not None:
            with self._store.write() as writer:
                writer.drop_vectors(but=self._embedder.id)

    def rebuild(self, *, advance: Callable[[int], object] = lambda _: None) -> int:
        """Derive all items and sessions anew from the log; returns the count of readable events.

        Readers see the old ones until then. `advance` gets the number of further events.
        """
        with self._store.write() as writer:
            return derived_anew(writer, self._embedder, advance=advance)

    def _drain_ahead(self, ahead: Prefetcher) -> Drained | None:
        """Store what was read ahead; None if there is nothing, or nothing that can be stored."""
        batch = ahead.next()
        if not batch:
            return None
        entries = [entry for entry, _ in batch]
        self._spool.hold(entries)
        try:
            projects = self._store_all(prepared for _, events in batch for prepared in events)
        except ObserverError:
            ahead.end()  # what follows must not be stored before it
            raise
        except Exception:  # noqa: BLE001 - one of the four doors
            _log.exception("a batch of %d entries failed; claiming them anew", len(entries))
            ahead.end()
            return None
        self._spool.ack(entries)
        return Drained(entries=len(entries), projects=projects)

    def _store_all(self, prepared: Iterable[EventRecord]) -> frozenset[int]:
        if self._probes:
            prepared = self._answered(prepared, self._probes)
        with self._store.write() as writer:
            appender = self._appender(writer)
            receipts = []
            for one in prepared:
                self._give_way()
                receipts.append(appender.append(one))
            appender.projection.finish()
            take_up = None
            if self._index is not None and len(receipts) >= INDEXED:
                take_up = self._index.prepare(writer, pause=self._give_way)
        if take_up:  # what was indexed counts after the commit
            take_up()
        if purged := sum(receipt.is_purged for receipt in receipts):
            _log.info("%d events were left out that had been purged", purged)
        if expired := sum(receipt.is_expired for receipt in receipts):
            _log.info("%d events were left out that are older than is kept", expired)
        return frozenset(appender.touched)

    def _answered(self, prepared: Iterable[EventRecord], folder: Path) -> list[EventRecord]:
        """Return the events that are no probes, once those are answered, and rolled back."""
        sides: tuple[list[EventRecord], list[EventRecord]] = ([], [])
        folders = {str(folder), os.path.realpath(folder)}
        for one in prepared:
            sides[any(is_inside(one.event.cwd, each) for each in folders)].append(one)
        kept, probes = sides
        if not probes:
            return kept
        with suppress(_RollBack), self._store.write() as writer:
            appender = self._appender(writer)
            receipts = [appender.append(one) for one in probes]
            appender.projection.finish()
            for one, receipt in zip(probes, receipts, strict=True):
                for recorded in () if receipt.seq is None else writer.logged([receipt.seq]):
                    made = None if receipt.item is None else writer.item(receipt.item)
                    said = msgspec.json.encode(Probed(recorded=recorded, item=made))
                    name = f"{ANSWER}{secrets.token_hex(8)}"
                    with suppress(OSError, ValueError):  # who sent it may have removed the folder
                        replace(Path(one.event.cwd, name), said)
            raise _RollBack
        return kept

    def _appender(self, writer: Writer) -> EventAppender:
        return EventAppender(
            writer,
            prepare=self._preparer.prepare_reported,
            stored_ms=self._now_ms(),
            embedder=self._embedder,
            tombstones=self._tombstones,
        )

    def _store_alone(self, entry: SpoolEntry, events: Sequence[EventRecord]) -> frozenset[int]:
        try:
            return self._store_all(events)
        except ObserverError:
            raise
        except Exception as error:  # noqa: BLE001 - one of the four doors: one event
            _log.exception("entry %s cannot be interpreted", entry.id)
            self._set_aside(entry, f"cannot be interpreted: {error!r}")
            return frozenset()

    def _read(self, entry: SpoolEntry) -> list[EventRecord] | None:
        """Read one entry; None if it went to `spool/bad`."""
        try:
            return self._preparer.read(entry)
        except Undecodable as error:
            reason = str(error)
        except Exception as error:  # noqa: BLE001 - one of the four doors: one event
            _log.exception("entry %s cannot be decoded", entry.id)
            reason = f"cannot be decoded: {error!r}"
        self._set_aside(entry, reason)
        return None

    def _set_aside(self, entry: SpoolEntry, reason: str) -> None:
        # An unforeseen error may quote what it failed on.
        reason, kept = redact_text(reason), redact_bytes(entry.data)
        try:
            self._spool.quarantine(entry, reason=reason, kept=kept)
        except OSError as error:
            raise StoreUnavailable(
                f"cannot write to the spool: {error.strerror}",
                hint=remedy(error, "make its folder writable"),
            ) from error
