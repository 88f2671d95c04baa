"""`observer export`: all that is stored, as JSON or as Markdown."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import click
import msgspec
import orjson

from observer.cli.exclusive import repair_first
from observer.cli.output import escaped, json_option, respond
from observer.cli.session import mention_damaged, open_memory, reading
from observer.core import config
from observer.core.errors import BadInput
from observer.core.filters import RECORDED_KINDS, is_visible
from observer.core.model import FORMERLY, Item, Project, Recorded, Session, iso
from observer.core.moment import day, minute
from observer.core.paths import Home, home
from observer.core.text import counted, one_line
from observer.memory.opening import refuse_unsettled
from observer.notes.folders.grammar import Field, with_fields
from observer.store.log import LogEnd
from observer.store.reader import StoreReader

VAULT_MARK = ".observer-vault"
"""A file that says that a folder is a vault, whose files may be replaced."""


@click.command("export", epilog="Example: observer export > memory.jsonl")
@click.option(
    "--vault",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write notes and sessions as Markdown files into this folder instead.",
)
@json_option
def export_command(*, vault: Path | None) -> None:
    """Print all that is stored, one JSON object a line."""
    repair_first(home())
    if vault:
        count = _write_vault(home(), vault)
        done = f"{counted(count, 'file')} in {vault}"
        respond({"folder": str(vault), "files": count}, done)
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


_RECORDS: dict[type, str] = {Project: "project", Recorded: "event", LogEnd: "log-end", Item: "item"}


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
    with reading(here) as reader:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / VAULT_MARK).touch(mode=0o600)
        for file in vault_files(reader, owner=owner):
            path = folder / file.path
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # never through a link that somebody put there
            path.touch(mode=0o600)
            path.write_text(file.text, encoding="utf-8", errors="replace")
            count += 1
    return count


_UNUSABLE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|#^\[\]]+')
_NAME_CHARS = 60
_NOWHERE = "without a project"
_OWN = "-"


class VaultFile(NamedTuple):
    """One file: its path in the vault, and its text."""

    path: str
    text: str


def vault_files(reader: StoreReader, *, owner: str) -> Iterator[VaultFile]:
    """Yield the files of a memory, but for notes that are files and personal ones of others."""
    names = _project_names(reader)
    sessions: dict[int, list[Item]] = {}
    for item in reader.all_items():
        if not is_visible(item, owner) or item.file:
            continue
        if item.kind in RECORDED_KINDS:
            yield _note(item, names.get(item.project_id or 0, _NOWHERE))
        elif item.session_id is not None:
            sessions.setdefault(item.session_id, []).append(item)
    for session_id, items in sessions.items():
        if session := reader.session(session_id):
            yield _session(session, items, names.get(session.project_id, _NOWHERE))


def _project_names(reader: StoreReader) -> Mapping[int, str]:
    """Return a folder for each project; of those with one name the later have their number."""
    found: dict[int, str] = {}
    for project in sorted(reader.projects(), key=lambda one: one.id):
        name = _usable(project.name)
        taken = {known.casefold() for known in found.values()}
        found[project.id] = f"{name} {project.id}" if name.casefold() in taken else name
    return found


def _note(item: Item, folder: str) -> VaultFile:
    fields: dict[str, Field | None] = {
        "title": one_line(item.title, 200),
        "type": item.type,
        "tags": list(item.tags),
        "created": iso(item.created_ms),
        "updated": iso(item.updated_ms),
        "id": item.uuid,
    }
    body = f"{item.narrative}\n{_links(item)}"
    return VaultFile(
        f"{folder}/notes/{_usable(item.title)} {item.id}.md", with_fields("", fields) + body
    )


def _links(item: Item) -> str:
    rows = [
        f"- {link.kind} [[{link.title}]]"
        for link in item.links
        if link.title and link.kind != FORMERLY
    ]
    return "\n" + "\n".join(rows) + "\n" if rows else ""


def _session(session: Session, items: Iterable[Item], folder: str) -> VaultFile:
    fields: dict[str, Field | None] = {
        "client": session.client,
        "session": session.external,
        "branch": session.branch,
        "started": iso(session.started_ms),
        "ended": iso(session.last_ms),
    }
    ordered = sorted(items, key=lambda one: (one.created_ms, one.id))
    # Unlike its summary's title, its first request stays the same.
    asked = next((item.title for item in ordered if item.type == "turn"), session.first_prompt)
    title = one_line(asked or f"session of {session.client}", _NAME_CHARS)
    parts = [f"# {title}\n"]
    for item in ordered:
        if said := item.summary:
            answers = ((name, getattr(said, name)) for name in said.__struct_fields__)
            parts += [f"**{name.replace('_', ' ')}**: {text}\n" for name, text in answers if text]
            continue
        lines = (f"  {line}" for line in item.narrative.splitlines() if line.strip())
        entry = f"- {minute(item.created_ms)} #{item.id} {item.type}: {item.title}"
        parts.append("\n".join((entry, *lines)))
    name = f"{day(session.started_ms)} {_usable(title)} {session.id}.md"
    return VaultFile(f"{folder}/sessions/{name}", with_fields("", fields) + "\n".join(parts) + "\n")


def _usable(name: str) -> str:
    """Return a name as a file or folder of any system may have it."""
    plain = one_line(_UNUSABLE.sub(" ", name), _NAME_CHARS).strip(" .")
    return plain or _OWN
