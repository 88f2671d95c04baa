"""`observer note folder`: which folders with Markdown files are notes."""

from __future__ import annotations

import time

import click
import msgspec

from observer.cli.commands import Group
from observer.cli.output import as_json, json_option, limit_option, named_project, respond, table
from observer.cli.session import open_memory
from observer.core.errors import BadInput
from observer.core.model import iso
from observer.core.moment import minute
from observer.core.paths import home, working_folder
from observer.local import client
from observer.notes.folders.writing import NoteChange
from observer.tools.status import current

FIRST_WITHIN_S = 10.0
"""How long `add` waits until the files are read, about 4,000 of them, and `remove` until none is
found any more."""
LOOK_S = 0.1


@click.group(
    "folder", cls=Group, invoke_without_command=True, epilog="Example: observer note folder"
)
@json_option
@click.pass_context
def folder_command(context: click.Context) -> None:
    """List folders whose Markdown files are notes, or add one."""
    if context.invoked_subcommand is not None:
        return
    with open_memory() as memory:
        counts = memory.files.counts()
        names = {project.uuid: project.name for project in memory.projects()}
        found = [
            (each.name, counts.get(each.path, 0), names.get(each.project, ""), each.path)
            for each in memory.files.listed.all()
        ]
    columns = ("name", "notes", "project", "path")
    if as_json([dict(zip(columns, row, strict=True)) for row in found]):
        return
    table(columns, found, none="no note folders; add one with: observer note folder add PATH")


@folder_command.command("add", epilog="Example: observer note folder add docs/decisions")
@click.argument("path")
@click.option("--name", help="What to call it; the folder's own name without.")
@named_project("Project of the notes; that of the repository around the folder without.")
@json_option
def add_command(*, path: str, name: str | None, project: str | None) -> None:
    """Make notes of a folder's Markdown files, and follow them."""
    if name == "" or not path:
        what = "folder" if name is None else "--name"
        raise BadInput(f"the {what} is empty", hint="observer note folder add PATH [--name NAME]")
    client.ensure_daemon(home())
    with open_memory() as memory:
        chosen = memory.project(project).uuid if project else ""
        made = memory.files.listed.add(
            str(working_folder() / path), name=name or "", project=chosen
        )
    files, unread = _first_scan(made.path)
    named = {"name": made.name, "path": made.path, "project": made.project}
    done = f"{files - unread:,} of {files:,} files" if files else "nothing"
    so_far = f"{done} read so far; see how far with: observer status"
    respond(
        {**named, "files": files, "unread": unread},
        f"{made.path} is the note folder {made.name} now",
        remark=so_far if files is None or unread else "",
    )


def _first_scan(path: str) -> tuple[int | None, int]:
    """Return how many files a new note folder has, and how many are not read after some time."""
    until_s = time.monotonic() + FIRST_WITHIN_S
    while True:
        known = {each.path: each for each in current(home()).note_folders}
        seen = known.get(path)
        is_read = seen is not None and seen.files is not None and not seen.unread
        if seen and (is_read or time.monotonic() > until_s):
            return seen.files, seen.unread
        if time.monotonic() > until_s:
            return None, 0
        time.sleep(LOOK_S)


@folder_command.command("remove", epilog="Example: observer note folder remove vault")
@click.argument("name", metavar="NAME|PATH")
@json_option
def remove_command(*, name: str) -> None:
    """Forget the notes of a folder; its files stay as they are."""
    client.ensure_daemon(home())
    with open_memory() as memory:
        gone = memory.files.remove(name)
        until_s = time.monotonic() + FIRST_WITHIN_S
        while gone.path in memory.files.counts() and time.monotonic() < until_s:
            time.sleep(LOOK_S)
    done = f"{gone.path} is no note folder any more; its files stay"
    respond({"name": gone.name, "path": gone.path}, done)


@folder_command.command("default", epilog="Example: observer note folder default vault")
@click.argument("name", metavar="[NAME|PATH]", required=False)
@click.option("--unset", is_flag=True, help="Set none.")
@json_option
def default_command(*, name: str | None, unset: bool) -> None:
    """Show or set the folder that is meant where none is named."""
    with open_memory() as memory:
        listed = memory.files.listed
        is_change = unset or name is not None
        shown = listed.set_default("" if unset else name or "") if is_change else listed.default()
    none = "none is set: that of the repository is meant, or the only one"
    respond({"default": shown}, shown or none)


@folder_command.command("history", epilog="Example: observer note folder history vault")
@click.argument("name", metavar="[NAME|PATH]", required=False)
@limit_option(20, "Most changes listed.")
@json_option
def history_command(*, name: str | None, limit: int) -> None:
    """List what agents changed in note folders, the latest first."""
    with open_memory() as memory:
        path = memory.files.listed.named(name).path if name else ""
        found = [each for each in memory.files.versions.all() if path in {"", each.folder}][:limit]
    if as_json([_change_row(each) for each in found]):
        return
    rows = ((one.number, minute(one.at_ms), one.act, f"{one.folder}/{one.path}") for one in found)
    none = "no changes; what is older than 30 days is not kept"
    table(("number", "when", "what", "path"), rows, none=none)


def _change_row(change: NoteChange) -> dict[str, object]:
    fields: dict[str, object] = msgspec.to_builtins(change)
    del fields["at_ms"]
    return {**fields, "created_at": iso(change.at_ms)}


@folder_command.command("undo", epilog="Example: observer note folder undo 12")
@click.argument("number", type=click.IntRange(min=1), required=False)
@json_option
def undo_command(*, number: int | None) -> None:
    """Bring back what an agent changed: the latest, or by number."""
    client.ensure_daemon(home())
    with open_memory() as memory:
        done = memory.files.versions.undo(number)
    text = f"{done.folder}/{done.path} is as it was before it was {done.act}"
    respond(_change_row(done), text)
