"""`observer import` of sessions: what is found, what it would bring, one question, the import.

Reading goes on in this process at low priority while the daemon stores what was read before; in
the background, in one that the daemon starts.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from observer import client
from observer.cli.consent import confirm_once
from observer.cli.output import emit, note, progress, say, table
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import BadInput, NotFound
from observer.core.model import iso
from observer.core.paths import Home
from observer.core.text import counted, size_text
from observer.importers.finished import FinishedImports
from observer.importers.follow import LOOK_EVERY_S, Follower
from observer.importers.plan import Choice, Plan, plan_import, size_of
from observer.importers.queued import QueuedImport, QueuedSource, queue, queued
from observer.importers.source import FoundSession, SessionSource
from observer.importers.transfer import FATES, Counts, end_import, import_planned, to_daemon
from observer.ingest.duplicates import LIVE_MS
from observer.views.moment import day


class Manner(NamedTuple):
    """How an import goes on: whether it asks, only shows, runs in the background, follows."""

    asks: bool = False
    dry_run: bool = False
    background: bool = False
    follow: bool = False
    as_json: bool = False


def import_sessions(
    home: Home, sources: Sequence[SessionSource], choice: Choice, how: Manner
) -> None:
    """Import the sessions of sources, newest first; importing again stores nothing twice.

    Raises:
        BadInput: a path does not exist, there is nobody to ask, another import goes on in the
            background, or no source can be followed.
        NotFound: the paths hold nothing of the sources.
        click.Abort: the answer was no.
    """
    _refuse_impossible(home, sources, choice, how)
    finished = FinishedImports(home.imports)
    plans = plan_import(home, sources, choice, finished, os.environ)
    if choice.paths and not plans and not how.follow:
        _refuse_strange(home, sources, choice.paths, finished)
    new = [plan for plan in plans if plan.new]
    if not how.as_json:
        _show(plans)
    if how.dry_run or not new:
        _leave(plans, choice, how)
    else:
        if how.asks:
            confirm_once(
                f"Import {_contents(new)}?",
                refusal="nothing was imported: there is no terminal to ask on",
                as_json=how.as_json,
            )
        client.ensure_daemon(home, wait_s=20)
        if how.background:
            _hand_over(home, plans, choice, how)
        else:
            _import(home, plans, finished, how)
    if how.follow and not how.dry_run:
        client.ensure_daemon(home, wait_s=20)
        _follow(home, sources, choice, how)


def _refuse_impossible(
    home: Home, sources: Sequence[SessionSource], choice: Choice, how: Manner
) -> None:
    if missing := [path for path in choice.paths if not path.exists()]:
        raise BadInput(f"there is no {missing[0]}", hint="name files and folders that are there")
    if how.background and (before := queued(home)):
        raise BadInput(
            f"an import of {counted(before.sessions, 'session')} goes on in the background",
            hint="see how far it is: observer status, or give it up: observer import --stop",
        )
    if how.follow and not any(each.can_follow() for each in sources):
        raise BadInput(f"{sources[0].name} cannot be followed", hint="import it again instead")


def _refuse_strange(
    home: Home, sources: Sequence[SessionSource], paths: tuple[Path, ...], finished: FinishedImports
) -> None:
    """Return if it is only of another time or folder what the paths hold."""
    if not plan_import(home, sources, Choice(paths), finished, os.environ):
        named = ", ".join(each.name for each in sources)
        raise NotFound(
            f"{', '.join(map(str, paths))}: nothing there is of {named}",
            hint="name another source: observer import --help lists them",
        )


def _leave(plans: Sequence[Plan], choice: Choice, how: Manner) -> None:
    if how.as_json:
        emit([_outcome(plan, Counter()) for plan in plans])
    elif not (how.dry_run and plans):
        elsewhere = "if it lies elsewhere, name where: observer import SOURCE PATH"
        more = "leave out an option" if choice.since_ms or choice.project else elsewhere
        say("nothing new to import" if plans else f"nothing was found: {more}")


def _import(home: Home, plans: Sequence[Plan], finished: FinishedImports, how: Manner) -> None:
    outcomes = []
    for plan in plans:
        with progress(plan.source.name, len(plan.new)) as advance:
            counts = import_planned(home, plan, finished, to_daemon(home), advance=advance)
        outcomes.append((plan, counts))
    end_import(home)
    if how.as_json:
        emit([_outcome(plan, counts) for plan, counts in outcomes])
        return
    for plan, counts in outcomes:
        if plan.new or plan.problems.counts:
            _report(plan, counts)
    recent = [one for plan in plans if plan.source.is_of_sessions for one in plan.new]
    if left := sum(now_ms() - one.last_ms < LIVE_MS for one in recent):
        note(f"the last minute of {counted(left, 'session')} is left to a later import")


def _hand_over(home: Home, plans: Sequence[Plan], choice: Choice, how: Manner) -> None:
    """Leave an import to the daemon, which does not know this process's variables."""
    asked = QueuedImport(
        sources=tuple(
            QueuedSource(
                name=plan.source.name, paths=tuple(str(one.absolute()) for one in plan.paths)
            )
            for plan in plans
            if plan.new
        ),
        since_ms=choice.since_ms,
        project=choice.project,
        sessions=_sessions(plans),
    )
    queue(home, asked)
    if how.as_json:
        emit([_outcome(plan, Counter()) for plan in plans])
    else:
        say(f"handed to the daemon: {_contents(plans)}; see: observer status")


def _follow(home: Home, sources: Iterable[SessionSource], choice: Choice, how: Manner) -> None:
    """Import what sessions add while they go on, until interrupted."""
    finished = FinishedImports(home.imports)
    idle_ms = config.load(home).session_idle_minutes * 60_000
    followers = [
        Follower(
            each,
            choice.paths or (each.folder(os.environ),),
            finished,
            since_ms=max(choice.since_ms, now_ms() - idle_ms),
            idle_ms=idle_ms,
        )
        for each in sources
        if each.can_follow()
    ]
    while True:
        for each in followers:
            plan = each.look(now_ms())
            counts = import_planned(home, plan, finished, to_daemon(home))
            if counts["stored"] and how.as_json:
                emit([_outcome(plan, counts)])
            elif counts["stored"]:
                _report(plan, counts)
            sys.stdout.flush()
        time.sleep(LOOK_EVERY_S)


def _show(plans: Sequence[Plan]) -> None:
    rows = [
        (
            plan.source.name,
            *(
                (len(plan.found), plan.known, len(plan.new))
                if plan.source.is_of_sessions
                else ("", "", "yes" if plan.new else "no")
            ),
            day(min(one.first_ms for one in plan.found)),
            day(max(one.last_ms for one in plan.found)),
            size_text(size_of(plan.new)) if plan.new else "",
            _projects(plan.found),
        )
        for plan in plans
    ]
    if rows:
        columns = ("source", "sessions", "known", "to read", "first", "last", "size", "folders")
        table(columns, rows, spare=("known", "size", "first", "folders"))


def _sessions(plans: Iterable[Plan]) -> int:
    return sum(len(plan.new) for plan in plans if plan.source.is_of_sessions)


def _contents(plans: Sequence[Plan]) -> str:
    """Return in words what is to be read."""
    sessions = _sessions(plans)
    others = [plan.source.name for plan in plans if plan.new and not plan.source.is_of_sessions]
    names = " and ".join(filter(None, (", ".join(others[:-1]), *others[-1:])))
    parts = (
        counted(sessions, "session") if sessions else "",
        f"what {names} {'has' if len(others) == 1 else 'have'}" if others else "",
    )
    return " and ".join(filter(None, parts))


def _projects(found: Iterable[FoundSession]) -> str:
    folders = Counter(one.folder for one in found if one.folder).most_common()
    names = list(dict.fromkeys(Path(folder).name for folder, _ in folders))
    shown = ", ".join(names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown


def _report(plan: Plan, counts: Counts) -> None:
    text = counted(counts["stored"], "event")
    text += f" of {counted(len(plan.new), 'session')}" if plan.source.is_of_sessions else ""
    text += f" stored, {counts['known']:,} known already"
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
        "first_at": iso(min(one.first_ms for one in plan.found)),
        "last_at": iso(max(one.last_ms for one in plan.found)),
        "size_bytes": size_of(plan.new),
        "folders": sorted({one.folder for one in plan.found}),
        "events": {name: counts[name] for name in FATES},
        "left_out": plan.problems.counts,
    }
