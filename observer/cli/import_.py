"""`observer import`: bring in events from before observer was installed."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from observer.cli import output
from observer.cli.commands import Given, command
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import BadInput, NotFound
from observer.core.model import iso
from observer.core.moment import day, moment_ms
from observer.core.paths import Home, home, working_folder
from observer.core.text import counted, did_you_mean, listed, size_text
from observer.git.log import count_commits
from observer.importers import run
from observer.importers.source import SessionSource, commits, source_called, sources
from observer.ingest.duplicates import LIVE_MS
from observer.local import client

GIT = "git"
"""A source beside those of sessions: the history of a repository."""


@command("import", "observer import --since 90d --dry-run")
@click.argument("words", nargs=-1, metavar="[SOURCE]... [PATH]...")
@click.option("--since", default="", help="Only sessions since: 2026-11-21, or 7d for ago.")
@output.named_project("Only sessions in this folder.")
@click.option("--dry-run", is_flag=True, help="Show what would be read, import nothing.")
@click.option("--background", is_flag=True, help="Leave the import to the daemon.")
@click.option("--follow", is_flag=True, help="Go on with what sessions add, until Ctrl-C.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask before importing what was found.")
@click.option("--stop", is_flag=True, help="Give up the import in the background.")
@click.option("--worker", is_flag=True, hidden=True)
def import_command(*, words: tuple[str, ...], stop: bool, worker: bool, **options: Given) -> None:
    """Import earlier sessions, notes and git history; nothing twice."""
    if worker:
        work(home(), sources())
    elif stop:
        output.say("the import was given up" if run.drop(home()) else "no import goes on")
    elif words[:1] == (GIT,):
        _import_history(words[1:], **options)
    else:
        _import_sources(words, **options)


def _import_sources(  # noqa: PLR0913 - one of each option
    words: tuple[str, ...],
    *,
    since: str,
    project: str | None,
    yes: bool,
    dry_run: bool,
    background: bool,
    follow: bool,
) -> None:
    """Import the sessions of the sources that are named, else of all after asking once."""
    named, paths = _named(words)
    chosen = named or list(sources().values())
    choice = run.Choice(paths, moment_ms(since, now_ms=now_ms()) or 0, project or "")
    _refuse(chosen, choice, background=background, follow=follow)
    finished = run.FinishedImports(home().imports)
    plans = run.plan_import(home(), chosen, choice, finished, os.environ)
    # What the paths hold may only be of another time or folder.
    whole = run.Choice(paths) if paths and not plans and not follow else None
    if whole and not run.plan_import(home(), chosen, whole, finished, os.environ):
        of = ", ".join(each.name for each in chosen)
        hint = "name another source: observer import --help lists them"
        raise NotFound(f"{', '.join(map(str, paths))}: nothing there is of {of}", hint=hint)
    if not output.wants_json():
        _show(plans)
    outcomes: Outcomes = [(plan, Counter()) for plan in plans]
    if dry_run or not any(plan.new for plan in plans):
        elsewhere = "if it lies elsewhere, name where: observer import SOURCE PATH"
        more = "leave out an option" if choice.since_ms or choice.project else elsewhere
        why = "nothing new to import" if plans else f"nothing was found: {more}"
        said = "" if dry_run and plans else why
    else:
        asked = f"Import {_contents(plans)}?"
        output.confirm_once(asked, yes=yes or bool(named), refusal="nothing was imported")
        client.ensure_daemon(home(), wait_s=20)
        if background:
            said = _hand_over(plans, choice)
        else:
            outcomes, said = _imported(plans, finished)
    output.respond([_outcome(*each) for each in outcomes], said)
    if follow and not dry_run:
        client.ensure_daemon(home(), wait_s=20)
        _follow(chosen, choice, finished)


def _named(words: tuple[str, ...]) -> tuple[list[SessionSource], tuple[Path, ...]]:
    names = [word for word in words if not Path(word).exists() and source_called(word)]
    names = names or [word for word in words[:1] if source_called(word)]
    paths = tuple(Path(word) for word in words if word not in names)
    if paths and len(names) > 1:
        raise BadInput("sources and paths at once", hint="import each in its own call")
    if paths and not names:
        known, is_there = [GIT, *sources()], Path(words[0]).exists()
        near = () if is_there else get_close_matches(words[0], known, n=1)
        what = "is of no source that is named" if is_there else "is no source and no file"
        hint = did_you_mean(near, f"name a source first: {', '.join(known)}")
        raise BadInput(f"{words[0][:80]!r} {what}", hint=hint)
    return [source for name in names if (source := source_called(name))], paths


Chosen = Sequence[SessionSource]
Sources = Mapping[str, SessionSource]
Outcomes = list[tuple[run.Plan, run.Counts]]


def _imported(plans: Sequence[run.Plan], finished: run.FinishedImports) -> tuple[Outcomes, str]:
    outcomes = []
    for plan in plans:
        with output.progress(plan.source.name, len(plan.new)) as advance:
            counts = run.import_planned(
                home(), plan, finished, run.to_daemon(home()), advance=advance
            )
        outcomes.append((plan, counts))
        for reason, count in plan.problems.counts.items():
            output.note(f"left out: {counted(count, reason)}, first {plan.problems.places[reason]}")
    run.end_import(home())
    recent = [one for plan in plans if plan.source.is_of_sessions for one in plan.new]
    if left := sum(now_ms() - one.last_ms < LIVE_MS for one in recent):
        output.note(f"the last minute of {counted(left, 'session')} is left to a later import")
    return outcomes, "\n".join(_became(plan, counts) for plan, counts in outcomes if plan.new)


def _hand_over(plans: Sequence[run.Plan], choice: run.Choice) -> str:
    asked = tuple(
        run.QueuedSource(
            name=plan.source.name, paths=tuple(str(one.absolute()) for one in plan.paths)
        )
        for plan in plans
        if plan.new
    )
    todo = run.QueuedImport(
        sources=asked, since_ms=choice.since_ms, project=choice.project, sessions=_sessions(plans)
    )
    run.queue(home(), todo)
    return f"handed to the daemon: {_contents(plans)}; see: observer status"


def _import_history(paths: Sequence[str], **options: object) -> None:
    """Import the commits of a repository, one observation each; break off and resume freely."""
    if len(paths) > 1 or any(value for name, value in options.items() if name != "yes"):
        raise BadInput("a history is imported whole", hint="observer import git [FOLDER]")
    folder = str((working_folder() / (paths[0] if paths else ".")).resolve())
    if paths and not Path(folder).is_dir():
        raise BadInput(f"there is no folder {paths[0]}", hint="name one that is there")
    events = commits(folder)
    client.ensure_daemon(home(), wait_s=20)
    counts: run.Counts = Counter()
    send = run.to_daemon(home())
    with output.progress(Path(folder).name, count_commits(folder)) as advance:
        for batch in run.batches(events):
            met = send(batch)
            counts.update(met)
            advance(sum(met.values()))
    fates = {name: counts[name] for name in run.FATES}
    text = f"{counted(counts['stored'], 'commit')} stored{_others(counts)}"
    output.respond({"folder": folder, "commits": counts.total(), **fates}, text)


def _refuse(chosen: Chosen, choice: run.Choice, *, background: bool, follow: bool) -> None:
    if missing := [path for path in choice.paths if not path.exists()]:
        raise BadInput(f"there is no {missing[0]}", hint="name files and folders that are there")
    if background and (before := run.queued(home())):
        message = f"an import of {counted(before.sessions, 'session')} goes on in the background"
        hint = "see how far it is: observer status, or give it up: observer import --stop"
        raise BadInput(message, hint=hint)
    if follow and not any(each.can_follow() for each in chosen):
        raise BadInput(f"{chosen[0].name} cannot be followed", hint="import it again instead")


def _followers(
    chosen: Chosen, finished: run.FinishedImports, *, since_ms: int, paths: tuple[Path, ...] = ()
) -> list[run.Follower]:
    """Return what reads on in sources, in what did not end before `since_ms`."""
    idle_ms = config.load(home()).session_idle_minutes * 60_000
    return [
        run.Follower(
            each, paths or (each.folder(os.environ),), finished, since_ms=since_ms, idle_ms=idle_ms
        )
        for each in chosen
        if each.can_follow()
    ]


def _follow(chosen: Chosen, choice: run.Choice, finished: run.FinishedImports) -> None:
    """Import what sessions add while they go on, until interrupted.

    An interrupt ends it between two looks: as an exception it would be lost where it meets SQLite
    reading a page, which is Python's own code.
    """
    interrupted = threading.Event()

    def stop(number: int, _frame: object) -> None:
        interrupted.set()
        signal.signal(number, signal.default_int_handler)  # a second one does not wait

    signal.signal(signal.SIGINT, stop)
    idle_ms = config.load(home()).session_idle_minutes * 60_000
    since_ms = max(choice.since_ms, now_ms() - idle_ms)
    followers = _followers(chosen, finished, paths=choice.paths, since_ms=since_ms)
    while True:
        for each in followers:
            plan = each.look(now_ms())
            counts = run.import_planned(home(), plan, finished, run.to_daemon(home()))
            if counts["stored"]:
                output.respond([_outcome(plan, counts)], _became(plan, counts))
            sys.stdout.flush()
        if interrupted.wait(run.LOOK_EVERY_S):
            raise KeyboardInterrupt


def _show(plans: Sequence[run.Plan]) -> None:
    rows = []
    for plan in plans:
        of_each = Counter(one.folder for one in plan.found if one.folder).most_common()
        names = list(dict.fromkeys(Path(folder).name for folder, _ in of_each))
        counts = ("", "", "yes" if plan.new else "no")
        if plan.source.is_of_sessions:
            counts = (str(len(plan.found)), str(plan.known), str(len(plan.new)))
        span = (min(one.first_ms for one in plan.found), max(one.last_ms for one in plan.found))
        size = size_text(run.size_of(plan.new)) if plan.new else ""
        rows.append((plan.source.name, *counts, *map(day, span), size, listed(names)))
    if rows:
        columns = ("source", "sessions", "known", "to read", "first", "last", "size", "folders")
        output.table(columns, rows, spare=("known", "size", "first", "folders"))


def _sessions(plans: Iterable[run.Plan]) -> int:
    return sum(len(plan.new) for plan in plans if plan.source.is_of_sessions)


def _contents(plans: Sequence[run.Plan]) -> str:
    sessions = _sessions(plans)
    others = [plan.source.name for plan in plans if plan.new and not plan.source.is_of_sessions]
    parts = (
        counted(sessions, "session") if sessions else "",
        f"what {listed(others, 99)} {'has' if len(others) == 1 else 'have'}" if others else "",
    )
    return " and ".join(filter(None, parts))


def _became(plan: run.Plan, counts: run.Counts) -> str:
    text = f"{plan.source.name}: {counted(counts['stored'], 'event')}"
    text += f" of {counted(len(plan.new), 'session')}" if plan.source.is_of_sessions else ""
    return f"{text} stored{_others(counts)}"


def _others(counts: run.Counts) -> str:
    text = f", {counts['known']:,} known already"
    for name, why in (
        ("excluded", "excluded or paused"),
        ("purged", "purged and left out"),
        ("expired", "older than is kept and left out"),
    ):
        text += f", {counts[name]:,} {why}" if counts[name] else ""
    return text


def _outcome(plan: run.Plan, counts: run.Counts) -> dict[str, Any]:
    return {
        "source": plan.source.name,
        "sessions": len(plan.found),
        "known": plan.known,
        "to_read": len(plan.new),
        "first_at": iso(min(one.first_ms for one in plan.found)),
        "last_at": iso(max(one.last_ms for one in plan.found)),
        "size_bytes": run.size_of(plan.new),
        "folders": sorted({one.folder for one in plan.found}),
        "events": {name: counts[name] for name in run.FATES},
        "left_out": plan.problems.counts,
    }


class _Ended(Exception):
    """The daemon is going, or the import was given up."""


def work(home: Home, sources: Sources) -> None:
    """Import what is queued, then follow what settings name. Raises BadInput, DaemonUnavailable."""
    run.give_way()
    follow = config.load(home).follow
    known = [name for name, source in sources.items() if source.can_follow()]
    if unknown := [name for name in follow if name not in known]:
        raise BadInput(f"cannot follow {unknown[0]!r}", hint=f"one of: {', '.join(known)}")
    finished = run.FinishedImports(home.imports)
    chosen = [sources[name] for name in follow]
    # What ended a week before the daemon came up is left to `observer import`.
    followers = _followers(chosen, finished, since_ms=now_ms() - 7 * 86_400_000)
    send = run.to_daemon(home, starts=False)
    try:
        while True:
            _import_queued(home, sources, finished)
            for each in followers:
                plan = each.look(now_ms())
                run.import_planned(home, plan, finished, send, advance=_goes_on)
            if not followers:
                return
            _goes_on(wait_s=run.LOOK_EVERY_S)
    except _Ended:
        return


def _import_queued(home: Home, sources: Sources, finished: run.FinishedImports) -> None:
    asked = run.queued(home)
    if asked is None:
        run.drop(home)
        return
    done = 0

    def advance(sessions: int) -> None:
        nonlocal done
        done += sessions
        output.emit({"done": done})
        sys.stdout.flush()
        _goes_on()
        if run.queued(home) != asked:
            raise _Ended

    for source, choice in asked.choices(sources):
        plan = run.plan_source(home, source, choice, finished)
        run.import_planned(home, plan, finished, run.to_daemon(home, starts=False), advance=advance)
    run.end_import(home)
    run.drop(home)


def _goes_on(_sessions: int = 0, *, wait_s: float = 0.0) -> None:
    if select.select([sys.stdin], [], [], wait_s)[0]:
        raise _Ended
