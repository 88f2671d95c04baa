"""`observer import`: bring in events from before observer was installed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from observer import client
from observer.cli.commands import Group
from observer.cli.import_sessions import Manner, import_sessions
from observer.cli.import_worker import work
from observer.cli.options import named_project
from observer.cli.output import F, emit, json_option, say
from observer.cli.terminal import progress
from observer.core.clock import now_ms
from observer.core.errors import BadInput, DaemonUnavailable
from observer.core.events import Event, kind_of
from observer.core.paths import home, working_folder
from observer.core.text import counted
from observer.git.log import count_commits
from observer.importers import git
from observer.importers.plan import Choice
from observer.importers.queued import drop
from observer.importers.registry import SOURCES
from observer.importers.source import SessionSource
from observer.views.moment import moment_ms

BATCH = 200
"""Commits in one request, stored in one transaction."""
EARLIEST_MS = 10**11
"""`POST /events` reads times before 1973 as seconds; clocks of old commits may say 1970."""


def choice_options(command: F) -> F:
    """Add the options that say which sessions are imported, and how."""
    for option in (
        json_option,
        click.option("--follow", is_flag=True, help="Go on with what sessions add, until Ctrl-C."),
        click.option("--background", is_flag=True, help="Leave the import to the daemon."),
        click.option("--dry-run", is_flag=True, help="Show what would be read, import nothing."),
        named_project("Only sessions in this folder."),
        click.option("--since", default="", help="Only sessions since: 2026-11-21, or 7d for ago."),
    ):
        command = option(command)
    return command


def _choice(since: str, project: str | None, paths: tuple[Path, ...] = ()) -> Choice:
    return Choice(paths, moment_ms(since, now_ms=now_ms()) or 0, project or "")


@click.group(
    "import",
    cls=Group,
    invoke_without_command=True,
    epilog="Example: observer import --since 90d --dry-run",
)
@choice_options
@click.option("--yes", "-y", is_flag=True, help="Do not ask before importing what was found.")
@click.option("--stop", is_flag=True, help="Give up the import in the background.")
@click.option("--worker", is_flag=True, hidden=True)
@click.pass_context
def import_command(
    context: click.Context,
    /,
    *,
    yes: bool,
    stop: bool,
    worker: bool,
    since: str,
    project: str | None,
    **options: Any,  # noqa: ANN401 - the options above
) -> None:
    """Import what clients, shells and other memories keep, after asking once; nothing twice."""
    if context.invoked_subcommand is not None:
        return
    if worker:
        work(home(), SOURCES)
    elif stop:
        say("the import was given up" if drop(home()) else "no import goes on")
    else:
        how = Manner(asks=not yes, **options)
        import_sessions(home(), tuple(SOURCES.values()), _choice(since, project), how)


def is_source(path: Path) -> bool:
    """Return True if a path that is not there names another source."""
    return str(path) in SOURCES and not path.exists()


def _source_command(source: SessionSource) -> click.Command:
    """Return the command that imports the sessions of one source."""

    @click.command(source.name, epilog=f"Example: observer import {source.name} --since 30d")
    @click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
    @choice_options
    def command(
        *,
        paths: tuple[Path, ...],
        since: str,
        project: str | None,
        **options: Any,  # noqa: ANN401 - the options above
    ) -> None:
        others = [SOURCES[str(path)] for path in paths if is_source(path)]
        if others and len(others) < len(paths):
            raise BadInput("sources and paths at once", hint="import each in its own call")
        chosen = _choice(since, project, () if others else paths)
        import_sessions(home(), [source, *others], chosen, Manner(**options))

    else_from = f", or from {places}" if (places := source.places()) else ""
    what = "sessions" if source.is_of_sessions else f"what {source.name} has kept"
    command.help = f"Import {what} from files or folders{else_from}; newest first."
    return command


for _source in SOURCES.values():
    import_command.add_command(_source_command(_source))


@import_command.command("git", epilog="Example: observer import git ~/src/app")
@click.argument("path", default=".", type=click.Path(exists=True, file_okay=False))
@json_option
def git_command(*, path: str, as_json: bool) -> None:
    """Import the history of a repository, one observation a commit; break off and resume freely."""
    folder = str((working_folder() / path).resolve())
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
