"""Records the use of items: which a session start showed, and which sessions used or fetched.

Reads the log behind the drain and writes in the writer's thread; a fetch only appends to a list.
The context files are read before they are rewritten, so `follow` runs before that.
"""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Mapping, Sequence

from observer.core.clock import now_ms
from observer.core.model import Item, UsageEvent
from observer.core.paths import Home
from observer.daemon.writer import WriterThread
from observer.search.usage import KEPT_MS, usage_events
from observer.store.interface import Store, StoreReader
from observer.views.hook_output import shown

BATCH = 200
"""Events read at a time; their texts may be long."""
MARK_EVERY = 1_000
"""Events without any use after which the position in the log is stored."""
SHOWN_WITHIN_MS = 12 * 3_600_000
"""A fetch counts for the session that was last shown the item, if that was within this time."""
_FOR_EVER_MS = (1 << 63) - 1


class FeedbackRecorder:
    """Implements `memory.usage.Feedback` for one daemon; safe to share between threads.

    Args:
        store: whose log is followed.
        writer: the thread that writes.
        home: where the context files are.
        on_fetch: called, in any thread, when there is something to write.
    """

    def __init__(
        self, store: Store, writer: WriterThread, home: Home, *, on_fetch: Callable[[], None]
    ) -> None:
        self._store = store
        self._writer = writer
        self._home = home
        self._on_fetch = on_fetch
        self._following = threading.Lock()
        self._fetched: deque[tuple[int, int]] = deque()
        self._seq: int | None = None

    def fetched(self, ids: Sequence[int]) -> None:
        """Record that items were fetched in full; returns at once, written later."""
        at_ms = now_ms()
        self._fetched.extend((item, at_ms) for item in ids)
        self._on_fetch()

    def reset(self, ids: Sequence[int] | None) -> int:
        """Delete the uses of items, or of all; return how many there were."""
        self.follow()
        return self._writer.call(self._drop, ids)

    def follow(self) -> None:
        """Write the uses of items since the last call; blocks.

        The very first call begins at the end of the log: what was shown before is not known.

        Raises:
            StoreUnavailable: the store cannot be read or written; recorded fetches are lost.
        """
        with self._following:
            with self._store.read() as reader:
                newest = reader.newest_seq()
                since = reader.followed() if self._seq is None else self._seq
                begun = newest if since is None else min(since, newest)
                uses = [*self._started(reader, begun, newest), *self._fetches(reader)]
            if uses or since is None:
                self._writer.call(self._put, uses, begun)
            used = self._used(begun, newest)
            if uses or used or newest - begun >= MARK_EVERY:
                self._writer.call(self._put, used, newest)
            self._seq = newest

    def _started(self, reader: StoreReader, after: int, until: int) -> list[UsageEvent]:
        """Return what session-start hooks showed between two events."""
        starts = reader.log_of_kind("session-start", after_seq=after, until_seq=until)
        return [
            UsageEvent(item=item, session=start.session_id, sort="shown", at_ms=start.event.at_ms)
            for start in starts
            if start.session_id is not None
            for item in shown(self._home, start.root, start.event.client)
        ]

    def _fetches(self, reader: StoreReader) -> list[UsageEvent]:
        """Return the recorded fetches, each in the session that was shown the item last."""
        fetched = {}
        while self._fetched:
            item, at_ms = self._fetched.popleft()
            fetched[item] = at_ms
        sessions = {
            use.item: use.session
            for use in reader.uses(items=list(fetched))
            if use.sort == "shown" and fetched[use.item] - use.at_ms <= SHOWN_WITHIN_MS
        }
        return [
            UsageEvent(item=item, session=sessions.get(item, 0), sort="fetched", at_ms=at_ms)
            for item, at_ms in fetched.items()
        ]

    def _used(self, after: int, until: int) -> list[UsageEvent]:
        """Return the uses, between two events, of items that sessions were shown."""
        used: list[UsageEvent] = []
        while True:
            with self._store.read() as reader:
                events = reader.log_of_shown(after_seq=after, until_seq=until, limit=BATCH)
                items = _shown_to(reader, {event.session_id or 0 for event in events})
            for event in events:
                used += usage_events(event, items[event.session_id or 0])
            if len(events) < BATCH:
                return used
            after = events[-1].seq

    def _put(self, uses: Sequence[UsageEvent], followed: int) -> None:
        with self._store.write() as writer:
            writer.put_uses(uses, followed=followed)
            if any(use.sort == "shown" for use in uses):
                writer.drop_uses(before_ms=now_ms() - KEPT_MS)

    def _drop(self, ids: Sequence[int] | None) -> int:
        with self._store.write() as writer:
            return writer.drop_uses(ids, before_ms=_FOR_EVER_MS)


def _shown_to(reader: StoreReader, sessions: Collection[int]) -> Mapping[int, list[Item]]:
    """Return the items that sessions were shown, by session."""
    uses = [use for use in reader.uses(sessions=list(sessions)) if use.sort == "shown"]
    items = {item.id: item for item in reader.items(list({use.item for use in uses}))}
    shown_to: dict[int, list[Item]] = defaultdict(list)
    for use in uses:
        if use.item in items:
            shown_to[use.session].append(items[use.item])
    return shown_to
