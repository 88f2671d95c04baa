"""Commands on the whole memory: `rebuild`, `retry`, `export`."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import click
import msgspec
import orjson

from observer.cli.exclusive import alone, open_here, repair_first
from observer.cli.output import emit, escaped, json_option, note, say
from observer.cli.redact import has_secrets, redacted
from observer.cli.session import open_memory
from observer.cli.terminal import progress
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import BadInput
from observer.core.model import Item, Project, Recorded
from observer.core.paths import Home, home
from observer.core.text import counted
from observer.ingest.pipeline import Pipeline
from observer.memory.opening import refuse_unsettled
from observer.projects import PlaceCache
from observer.purge.carry_out import complete
from observer.spool.spool import Spool
from observer.store.log import LogEnd
from observer.store.sqlite.database import SqliteStore
from observer.views.vault import vault as files_of

VAULT_MARK = ".observer-vault"
"""A file that says that a folder is a vault, whose files may be replaced."""


@click.command("rebuild", epilog="Example: observer rebuild")
@json_option
def rebuild_command(*, as_json: bool) -> None:
    """Derive all items and sessions anew from the log of events; what is lost there is found."""
    here = home()
    repair_first(here)
    with alone(here):
        # Secrets that earlier redaction rules missed must not be derived again.
        complete(here, open_here)
        receipt = redacted(here) if has_secrets(here) else None
        events = _rebuild(here)
    count = receipt.redacted_events if receipt else 0
    if as_json:
        emit({"events": events, "redacted": count})
    else:
        say(f"rebuilt from {events} events")
    if receipt and not as_json:
        say(f"{counted(count, 'event')} redacted first, by newer rules")


@click.command("retry", epilog="Example: observer retry")
@json_option
def retry_command(*, as_json: bool) -> None:
    """Read again the events that no decoder understood, as a newer observer does by itself."""
    here = home()
    events = Spool(here.spool).retry()
    if as_json:
        emit({"events": events})
    else:
        say(f"{counted(events, 'event')} put back into the queue")


@click.command("export", epilog="Example: observer export --json > memory.jsonl")
@click.option(
    "--vault",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write notes and sessions as Markdown files into this folder instead.",
)
@json_option
def export_command(*, vault: Path | None, as_json: bool) -> None:
    """Print every project, stored event and item, as one JSON object a line."""
    repair_first(home())
    if vault:
        count = _write_vault(home(), vault)
        if as_json:
            emit({"folder": str(vault), "files": count})
        else:
            say(f"{counted(count, 'file')} in {vault}")
        return
    out = sys.stdout.buffer
    with open_memory() as memory:
        events = 0
        for value in memory.export():
            kind = _RECORDS[type(value)]
            events += kind == "event"
            line = orjson.dumps({"record": kind, **msgspec.to_builtins(value)})
            out.write(escaped(line) + b"\n")
        _mention_damaged(memory.totals().events - events)


_RECORDS: dict[type, str] = {
    Project: "project",
    Recorded: "event",
    LogEnd: "log-end",
    Item: "item",
}


def _rebuild(here: Home) -> int:
    with closing(open_here(here.database, here.backups)) as store:
        pipeline = Pipeline(
            store,
            Spool(here.spool),
            settings=config.load(here),
            places=PlaceCache(),
            now_ms=now_ms,
        )
        with store.read() as reader:
            total = reader.totals().events
        with progress("rebuilding", total) as advance:
            events = pipeline.rebuild(advance=advance)
        _mention_damaged(total - events)
        return events


def _mention_damaged(count: int) -> None:
    if count > 0:
        note(f"note: {counted(count, 'event')} left out, damaged; which ones says: observer doctor")


def _write_vault(here: Home, folder: Path) -> int:
    """Write all files of a memory; return how many. Files that somebody added stay.

    Raises:
        BadInput: the folder holds other files.
        StoreUnavailable: the memory cannot be read.
        OSError: a file cannot be written.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / VAULT_MARK).is_file():
        raise BadInput(f"{folder} holds other files", hint="name a new folder")
    refuse_unsettled(here)
    owner = config.owner(config.load(here))
    count = 0
    with closing(SqliteStore(here.database, read_only=True)) as store, store.read() as reader:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / VAULT_MARK).touch(mode=0o600)
        for file in files_of(reader, owner=owner):
            path = folder / file.path
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # never through a link that somebody put there
            path.touch(mode=0o600)
            path.write_text(file.text, encoding="utf-8", errors="replace")
            count += 1
    return count
