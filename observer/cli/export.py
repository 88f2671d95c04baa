"""`observer export`: all that is stored, as JSON or as Markdown, and which lines agents wrote."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import click
import msgspec
import orjson

from observer.cli.commands import Group
from observer.cli.exclusive import repair_first
from observer.cli.output import emit, escaped, json_option, note, say
from observer.cli.session import mention_damaged, open_memory
from observer.core import config
from observer.core.errors import BadInput, NotFound
from observer.core.model import Item, Project, Recorded
from observer.core.paths import Home, home, working_folder
from observer.core.text import counted
from observer.git.log import commits_between
from observer.memory.attribution import commit_shares
from observer.memory.opening import refuse_unsettled
from observer.projects import detect_place
from observer.store.database import SqliteStore
from observer.store.log import LogEnd
from observer.views.attribution import agent_trace, git_ai_note
from observer.views.vault import vault as files_of

VAULT_MARK = ".observer-vault"
"""A file that says that a folder is a vault, whose files may be replaced."""


@click.group(
    "export",
    cls=Group,
    invoke_without_command=True,
    epilog="Example: observer export > memory.jsonl",
)
@click.option(
    "--vault",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write notes and sessions as Markdown files into this folder instead.",
)
@json_option
@click.pass_context
def export_command(context: click.Context, *, vault: Path | None, as_json: bool) -> None:
    """Print all that is stored, one JSON object a line."""
    if context.invoked_subcommand is not None:
        return
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
        mention_damaged(memory.totals().events - events)


_RECORDS: dict[type, str] = {
    Project: "project",
    Recorded: "event",
    LogEnd: "log-end",
    Item: "item",
}


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


@export_command.command("attribution", epilog="Example: observer export attribution main..HEAD")
@click.argument("revision", default="HEAD")
@click.option(
    "--format",
    "shape",
    type=click.Choice(["agent-trace", "git-ai"]),
    default="agent-trace",
    show_default=True,
    help="Trace records, one a line; or the note of one commit for refs/notes/ai.",
)
@json_option
def attribution_command(*, revision: str, shape: str, as_json: bool) -> None:
    """Print which lines of commits agents wrote."""
    here, root = home(), detect_place(str(working_folder())).root
    if not root:
        raise NotFound("no git repository around this folder", hint="go into one")
    commits = commits_between(root, revision)
    if shape == "git-ai" and len(commits) != 1:
        raise BadInput(f"{revision} is not one commit", hint="a note is of one commit: name it")
    refuse_unsettled(here)
    owner = config.owner(config.load(here))
    empty = 0
    with closing(SqliteStore(here.database, read_only=True)) as store, store.read() as reader:
        for commit in commits:
            made = commit_shares(reader, root, commit, owner=owner)
            empty += not made.shares
            if made.shares and shape == "git-ai":
                text = git_ai_note(made)
                emit({"commit": commit, "note": text}) if as_json else say(
                    text.rstrip("\n"), is_exact=True
                )
            elif made.shares:
                emit(agent_trace(made))
    if empty:
        note(f"{counted(empty, 'commit')} without lines that recorded edits hold")
