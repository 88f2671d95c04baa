"""`observer import`: bring in events from before observer was installed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from observer import client
from observer.cli.import_sessions import Manner, import_sessions
from observer.cli.import_worker import work
from observer.cli.options import named_project
from observer.cli.output import emit, json_option, progress, say
from observer.core.clock import now_ms
from observer.core.errors import BadInput, DaemonUnavailable
from observer.core.events import Event, kind_of
from observer.core.paths import home, working_folder
from observer.core.text import counted
from observer.git.log import count_commits
from observer.importers import git
from observer.importers.registry import source_called, sources
from observer.importers.run import Choice, drop
from observer.views.moment import moment_ms

BATCH = 200
"""Commits in one request, stored in one transaction."""
EARLIEST_MS = 10**11
"""`POST /events` reads times before 1973 as seconds; clocks of old commits may say 1970."""


GIT = "git"
"""A source beside those of sessions: the history of a repository."""


@click.command("import", epilog="Example: observer import --since 90d --dry-run")
@click.argument("words", nargs=-1, metavar="[SOURCE]... [PATH]...")
@click.option("--since", default="", help="Only sessions since: 2026-11-21, or 7d for ago.")
@named_project("Only sessions in this folder.")
@click.option("--dry-run", is_flag=True, help="Show what would be read, import nothing.")
@click.option("--background", is_flag=True, help="Leave the import to the daemon.")
@click.option("--follow", is_flag=True, help="Go on with what sessions add, until Ctrl-C.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask before importing what was found.")
@click.option("--stop", is_flag=True, help="Give up the import in the background.")
@click.option("--worker", is_flag=True, hidden=True)
@json_option
def import_command(
    *,
    words: tuple[str, ...],
    stop: bool,
    worker: bool,
    **options: Any,  # noqa: ANN401 - the options above
) -> None:
    """Import earlier sessions, notes and git history; nothing twice."""
    if worker:
        work(home(), sources())
    elif stop:
        say("the import was given up" if drop(home()) else "no import goes on")
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
    as_json: bool,
) -> None:
    """Import the sessions of the sources that are named, else of all after asking once."""
    names = [word for word in words if not Path(word).exists() and source_called(word)]
    names = names or [word for word in words[:1] if source_called(word)]
    paths = tuple(Path(word) for word in words if word not in names)
    if paths and len(names) != 1:
        if names:
            raise BadInput("sources and paths at once", hint="import each in its own call")
        known = ", ".join([GIT, *sources()])
        place = Path(words[0])
        what = "is of no source that is named" if place.exists() else "is no source and no file"
        raise BadInput(f"{words[0][:80]!r} {what}", hint=f"name a source first: {known}")
    chosen = Choice(paths, moment_ms(since, now_ms=now_ms()) or 0, project or "")
    how = Manner(
        asks=not (names or yes),
        dry_run=dry_run,
        background=background,
        follow=follow,
        as_json=as_json,
    )
    named = [source for name in names if (source := source_called(name))]
    import_sessions(home(), named or list(sources().values()), chosen, how)


def _import_history(paths: Sequence[str], *, as_json: bool, **options: object) -> None:
    """Import the commits of a repository, one observation each; break off and resume freely."""
    if len(paths) > 1 or any(value for name, value in options.items() if name != "yes"):
        raise BadInput("a history is imported whole", hint="observer import git [FOLDER]")
    folder = str((working_folder() / (paths[0] if paths else ".")).resolve())
    if paths and not Path(folder).is_dir():
        raise BadInput(f"there is no folder {paths[0]}", hint="name one that is there")
    events = git.commits(folder)
    client.ensure_daemon(home(), wait_s=20)
    seen = stored = purged = expired = 0
    with progress(Path(folder).name, count_commits(folder)) as advance:
        for batch in _batches(events):
            receipts = _post([_report(event) for event in batch])
            seen += len(batch)
            stored += sum(receipt["stored"] for receipt in receipts)
            purged += sum(receipt.get("purged", False) for receipt in receipts)
            expired += sum(receipt.get("expired", False) for receipt in receipts)
            advance(len(batch))
    if as_json:
        counts = {"commits": seen, "stored": stored, "purged": purged, "expired": expired}
        emit({"folder": folder, **counts})
        return
    known = seen - stored - purged - expired
    text = f"{counted(stored, 'commit')} stored, {known:,} known already"
    text += f", {purged:,} purged and left out" if purged else ""
    say(text + (f", {expired:,} older than is kept and left out" if expired else ""))


def _report(event: Event) -> dict[str, Any]:
    """Return an event as `POST /events` takes it, its time within the accepted range."""
    return {
        **msgspec.to_builtins(event.body),
        "kind": kind_of(event.body),
        "client": event.client,
        "cwd": event.cwd,
        "author": event.author,
        "at": min(max(event.at_ms, EARLIEST_MS), now_ms()),
    }


def _post(reports: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    try:
        receipts = client.call(home(), "POST", "/events", reports, wait_s=120)
    except DaemonUnavailable:
        client.ensure_daemon(home(), wait_s=20)  # it was replaced meanwhile; ids prevent duplicates
        receipts = client.call(home(), "POST", "/events", reports, wait_s=120)
    return list(receipts)


def _batches(events: Iterable[Event]) -> Iterator[list[Event]]:
    waiting = iter(events)
    while batch := list(itertools.islice(waiting, BATCH)):
        yield batch
