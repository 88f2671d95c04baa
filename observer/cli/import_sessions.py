"""`observer import` of sessions: what is found, what it would bring, one question, the import.

Reading goes on in this process at low priority while the daemon stores what was read before.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from observer import client
from observer.cli.consent import confirm_once
from observer.cli.output import emit, note, say, table
from observer.cli.terminal import progress
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import DaemonUnavailable
from observer.core.events import Event
from observer.core.paths import Home
from observer.core.text import counted
from observer.importers.finished import FinishedImports
from observer.importers.jsonl import Problems
from observer.importers.source import FoundSession, SessionSource, events_of, groups
from observer.importers.work_trees import known_roots, work_trees
from observer.store.sqlite.database import SqliteStore
from observer.views.moment import day, moment_ms

BATCH = 200
BATCH_BYTES = 8 << 20
"""Events of one request, stored in one transaction, or bytes of them; what hooks spool meanwhile is
stored before the next one."""
NICENESS = 10
"""Of reading, but for the first group: somebody may wait for the newest sessions."""

FATES = ("stored", "known", "excluded", "purged", "expired")
"""What may become of an imported event."""

Counts = Counter[str]


class Choice(NamedTuple):
    """Which sessions are imported: those of files, since a time, in a folder."""

    paths: tuple[Path, ...] = ()
    since: str = ""
    project: str = ""


class Plan(NamedTuple):
    """What was found of a source: all sessions, those in the memory, those that are to be read."""

    source: SessionSource
    found: list[FoundSession]
    known: int
    new: list[FoundSession]
    problems: Problems


def import_sessions(
    home: Home,
    sources: Iterable[SessionSource],
    choice: Choice,
    *,
    asks: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Import the sessions of sources, newest first; importing again stores nothing twice.

    Raises:
        BadInput: there is nobody to ask.
        click.Abort: the answer was no.
    """
    finished = FinishedImports(home.imports)
    plans = _plans(home, sources, choice, finished)
    new = sum(len(plan.new) for plan in plans)
    if not as_json:
        _show(plans)
    if dry_run or not new:
        if as_json:
            emit([_outcome(plan, Counter()) for plan in plans])
        elif not dry_run:
            say("nothing to import" if plans else "no sessions were found")
        return
    if asks:
        confirm_once(
            f"Import {counted(new, 'session')}?",
            refusal="nothing was imported: there is no terminal to ask on",
            as_json=as_json,
        )
    client.ensure_daemon(home, wait_s=20)
    outcomes = [(plan, _import(home, plan, finished)) for plan in plans]
    if as_json:
        emit([_outcome(plan, counts) for plan, counts in outcomes])
        return
    for plan, counts in outcomes:
        _report(plan, counts)


def _plans(
    home: Home, sources: Iterable[SessionSource], choice: Choice, finished: FinishedImports
) -> list[Plan]:
    """Return what sources have; those that look in work trees come after those that name some."""
    roots = known_roots(home)
    plans = []
    for source in sources:
        plan = _plan(home, source, choice, finished, roots)
        roots |= work_trees(one.folder for one in plan.found)
        plans.append(plan)
    return [plan for plan in plans if plan.found]


def _plan(
    home: Home,
    source: SessionSource,
    choice: Choice,
    finished: FinishedImports,
    roots: Collection[str],
) -> Plan:
    problems = Problems()
    paths = choice.paths or source.paths(os.environ, sorted(roots))
    since_ms = moment_ms(choice.since, now_ms=now_ms()) or 0
    found = [
        one
        for one in source.find(paths, problems)
        if one.last_ms >= since_ms and _is_inside(one.folder, choice.project)
    ]
    recorded = _recorded(home, source, [one.id for one in found], finished)
    new = [
        one
        for one in found
        if not (one.id in recorded and finished.holds(source.name, one.id, one.fingerprint()))
    ]
    return Plan(source, found, len(recorded), new, problems)


def _is_inside(folder: str, project: str) -> bool:
    return not project or f"{folder}/".startswith(f"{project.rstrip('/')}/")


def _recorded(
    home: Home, source: SessionSource, names: Sequence[str], finished: FinishedImports
) -> frozenset[str]:
    """Return those of which something is in the memory."""
    if not home.database.exists():
        return frozenset()
    if not source.is_of_sessions:
        return finished.names(source.name) & frozenset(names)
    with closing(SqliteStore(home.database, read_only=True)) as store, store.read() as reader:
        return frozenset(one for one in names if reader.session_called(one))


def _import(home: Home, plan: Plan, finished: FinishedImports) -> Counts:
    settings = config.load(home)
    # A session that may go on is read again, whether or not its files change.
    over_ms = now_ms() - settings.session_idle_minutes * 60_000
    counts: Counts = Counter()
    with (
        progress(plan.source.name, len(plan.new)) as advance,
        ThreadPoolExecutor(1) as sender,
    ):

        def sent(group: list[FoundSession], events: list[Event], marks: Mapping[str, str]) -> None:
            counts.update(_sent(home, events))
            finished.add(plan.source.name, marks)
            advance(len(group))

        waiting: Future[None] | None = None
        for group in groups(plan.new):
            # Before they are read: what is written meanwhile is for the next import.
            marks = {one.id: one.fingerprint() for one in group if one.last_ms < over_ms}
            events = events_of(plan.source, group, settings, plan.problems)
            if waiting:
                waiting.result()
            else:
                os.nice(NICENESS)
            waiting = sender.submit(sent, group, events, marks)
        if waiting:
            waiting.result()
    return counts


def _sent(home: Home, events: Iterable[Event]) -> Counts:
    counts: Counts = Counter()
    for batch in _batches(events):
        try:
            receipt = client.call(home, "POST", "/import", batch, wait_s=120)
        except DaemonUnavailable:
            client.ensure_daemon(home, wait_s=20)  # it was replaced; ids prevent duplicates
            receipt = client.call(home, "POST", "/import", batch, wait_s=120)
        counts.update(receipt)
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


def _show(plans: Sequence[Plan]) -> None:
    rows = [
        (
            plan.source.name,
            len(plan.found),
            plan.known,
            len(plan.new),
            day(min(one.first_ms for one in plan.found)),
            day(max(one.last_ms for one in plan.found)),
            f"{sum(one.size_bytes for one in plan.new) / 1e6:,.1f} MB",
            _projects(plan.found),
        )
        for plan in plans
    ]
    if rows:
        columns = ("source", "sessions", "known", "to read", "first", "last", "size", "folders")
        table(columns, rows)


def _projects(found: Iterable[FoundSession]) -> str:
    folders = Counter(one.folder for one in found if one.folder).most_common()
    names = ", ".join(Path(folder).name for folder, _ in folders[:3])
    return f"{names} and {len(folders) - 3} more" if len(folders) > 3 else names


def _report(plan: Plan, counts: Counts) -> None:
    text = f"{counted(counts['stored'], 'event')} of {counted(len(plan.new), 'session')} stored"
    text += f", {counts['known']:,} known already"
    for name, why in (
        ("excluded", "excluded or paused"),
        ("purged", "purged and left out"),
        ("expired", "older than is kept and left out"),
    ):
        text += f", {counts[name]:,} {why}" if counts[name] else ""
    say(f"{plan.source.name}: {text}")
    for reason, count in plan.problems.counts.items():
        note(f"left out: {counted(count, reason)}, first {plan.problems.places[reason]}")


def _outcome(plan: Plan, counts: Counts) -> dict[str, Any]:
    return {
        "source": plan.source.name,
        "sessions": len(plan.found),
        "known": plan.known,
        "to_read": len(plan.new),
        "first_ms": min(one.first_ms for one in plan.found),
        "last_ms": max(one.last_ms for one in plan.found),
        "size_bytes": sum(one.size_bytes for one in plan.new),
        "folders": sorted({one.folder for one in plan.found}),
        "events": {name: counts[name] for name in FATES},
        "left_out": plan.problems.counts,
    }
