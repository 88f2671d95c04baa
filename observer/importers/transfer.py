"""Carries out an import: reads groups of sessions while the daemon stores what was read before."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TypeAlias

import msgspec

from observer import client
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import DaemonUnavailable
from observer.core.events import Event
from observer.core.paths import Home
from observer.importers.finished import FinishedImports
from observer.importers.plan import Plan
from observer.importers.source import FoundSession, events_of, groups
from observer.importers.work_trees import known_roots, with_repositories

BATCH = 200
BATCH_BYTES = 8 << 20
"""Events of one request, stored in one transaction, or bytes of them; what hooks spool meanwhile is
stored before the next one."""
NICENESS = 10
"""Of reading, but for the first group: somebody may wait for the newest sessions."""
WAIT_S = 120.0

FATES = ("stored", "known", "excluded", "purged", "expired")
"""What may become of an imported event."""

Counts = Counter[str]
Send: TypeAlias = Callable[[bytes], Mapping[str, int]]
"""Has a list of events stored; returns how many met which fate."""


def give_way() -> None:
    """Let everything else on the machine go first, from now on."""
    os.setpriority(os.PRIO_PROCESS, 0, max(NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))


def to_daemon(home: Home, *, starts: bool = True) -> Send:
    """Return what sends events to the daemon, and `starts` another one where it has gone."""

    def send(batch: bytes) -> Mapping[str, int]:
        try:
            receipt: Mapping[str, int] = client.call(home, "POST", "/import", batch, wait_s=WAIT_S)
        except DaemonUnavailable:
            if not starts:
                raise
            client.ensure_daemon(home, wait_s=20)  # it was replaced; ids prevent duplicates
            receipt = client.call(home, "POST", "/import", batch, wait_s=WAIT_S)
        return receipt

    return send


def end_import(home: Home) -> None:
    """Have the daemon link what was imported with what happened before and after it.

    One that is gone does so when it is back.
    """
    with suppress(DaemonUnavailable):
        client.call(home, "POST", "/import/end", wait_s=WAIT_S)


def import_planned(
    home: Home,
    plan: Plan,
    finished: FinishedImports,
    send: Send,
    *,
    advance: Callable[[int], object] = lambda _: None,
) -> Counts:
    """Import the sessions of a plan, newest first; return what became of their events.

    `advance` is called with the number of further sessions that are stored, and may raise to end
    the import: what is not stored yet is for the next one.
    """
    settings = config.load(home)
    # A session that may go on is read again, whether or not its files change.
    over_ms = now_ms() - settings.session_idle_minutes * 60_000
    counts: Counts = Counter()
    roots = known_roots(home)

    def sent(group: list[FoundSession], events: list[Event], marks: Mapping[str, str]) -> None:
        for batch in _batches(events):
            counts.update(send(batch))
        finished.add(plan.source.name, marks)
        advance(len(group))

    with ThreadPoolExecutor(1) as sender:
        waiting: Future[None] | None = None
        for group in groups(plan.new):
            # Before they are read: what is written meanwhile is for the next import.
            marks = {
                one.id: one.fingerprint()
                for one in group
                if one.last_ms < over_ms or not plan.source.is_of_sessions
            }
            read = events_of(plan.source, group, settings, plan.problems)
            events = with_repositories(read, roots)
            if waiting:
                waiting.result()
            else:
                give_way()
            waiting = sender.submit(sent, group, events, marks)
        if waiting:
            waiting.result()
    return counts


def _batches(events: Iterable[Event]) -> Iterator[bytes]:
    batch: list[bytes] = []
    size_bytes = 0
    for event in events:
        batch.append(msgspec.json.encode(event))
        size_bytes += len(batch[-1])
        if len(batch) == BATCH or size_bytes > BATCH_BYTES:
            yield b"[%b]" % b",".join(batch)
            batch, size_bytes = [], 0
    if batch:
        yield b"[%b]" % b",".join(batch)
