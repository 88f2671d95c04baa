"""The commands `backup`, `restore` and `export`: the memory in files."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import click
import msgspec
from msgspec.structs import asdict

from observer.cli import output
from observer.cli.commands import command
from observer.cli.config import write_setting
from observer.cli.exclusive import TRIES, alone, open_here, repair_first
from observer.cli.session import mention_damaged, open_memory, reading
from observer.clients.config_files.context import current_context
from observer.clients.installers import installable, installed_parts
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import BadInput
from observer.core.filters import RECORDED_KINDS, is_visible
from observer.core.model import FORMERLY, Item, Recorded, Session, iso
from observer.core.moment import day, minute
from observer.core.paths import Home, home
from observer.core.text import counted, one_line, size_text
from observer.memory.opening import refuse_unsettled
from observer.memory.values import exported_line
from observer.notes.folders.grammar import Field, with_fields
from observer.store.database import SqliteStore
from observer.store.reader import StoreReader
from observer.upkeep.bundle import pack, restore
from observer.upkeep.carry_out import complete


@command("backup", "observer backup --to ~/observer-home.tar.gz")
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option(
    "--to",
    "bundle",
    type=click.Path(path_type=Path),
    help="Write the whole home into this file, to move it: settings too, nothing of clients.",
)
@click.option("--yes", "-y", is_flag=True, help="Make the folder of the file, if there is none.")
def backup_command(*, path: Path | None, bundle: Path | None, yes: bool) -> None:
    """Write a verified copy of the database, or of the whole home."""
    here = home()
    if path and bundle:
        raise BadInput("two files are named", hint="give either FILE or --to FILE")
    target = (bundle or path or here.backups / f"{here.database.stem}-{_stamp()}.db").absolute()
    if target.exists():
        raise BadInput(f"{target} exists", hint="name another file, or move it away")
    if target.parent != here.backups and not target.parent.exists():
        # A name with a typing error hides a backup.
        gone = f"there is no folder {target.parent}"
        refusal, hint = f"nothing was written, {gone}", "make it, or add --yes"
        output.confirm_once(f"{gone}. Make it?", yes=yes, refusal=refusal, hint=hint)
    refuse_unsettled(here)
    repair_first(here)
    target.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    if bundle:
        events = pack(here, target, config.owner(config.load(here))).events
    else:
        with closing(SqliteStore(here.database, read_only=True)) as store:
            store.backup(target)
            with store.read() as reader:
                events = reader.totals().events
    size = target.stat().st_size
    output.respond(
        {"path": str(target), "bytes": size, "events": events},
        f"{target}: {counted(events, 'event')}, {size_text(size)}, verified",
        remark=f"to use it: observer restore {target}",
    )


@command("restore", "observer restore ~/observer-home.tar.gz")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--replace", is_flag=True, help="Take the place of a memory; a copy of it is kept.")
def restore_command(*, path: Path, replace: bool) -> None:
    """Restore a file of backup or export, of any machine."""
    output.refuse_agents("an agent restores nothing")
    here = home()
    with alone(here, tries=TRIES):
        done = restore(here, path, replaces=replace, stamp=_stamp())
        purged = complete(here, open_here)
        # Personal notes stay with whom they belong to, though the user has another name here.
        settings, owner = config.load(here), done.manifest.owner
        is_other = bool(owner) and not settings.owner and config.owner(settings) != owner
        if is_other:
            write_setting(here, "owner", owner)
    gone = purged.events if purged else 0
    manifest = msgspec.structs.replace(done.manifest, events=done.manifest.events - gone)
    if output.as_json(asdict(msgspec.structs.replace(done, manifest=manifest))):
        return
    left = f"; {counted(gone, 'event')} left out, purged since" if gone else ""
    output.say(f"restored {counted(manifest.events, 'event')} into {here.root}{left}")
    if done.replaced:
        output.say(f"what was there before: {done.replaced}")
    if is_other:
        output.say(f"setting owner = {done.manifest.owner}, whose personal notes it holds")
    context = current_context(here)
    if not any(installed_parts(name, context) for name in installable()):
        output.note("connect your clients here: observer install")


def _stamp() -> str:
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now_ms() / 1000))


VAULT_MARK = ".observer-vault"
"""A file that says that a folder is a vault, whose files may be replaced."""


@command("export", "observer export > memory.jsonl")
@click.option(
    "--vault",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write notes and sessions as Markdown files into this folder instead.",
)
def export_command(*, vault: Path | None) -> None:
    """Print all that is stored, one JSON object a line."""
    repair_first(home())
    if vault:
        _export_vault(home(), vault)
        return
    out = sys.stdout.buffer
    with open_memory() as memory:
        events = 0
        for value in memory.export():
            events += isinstance(value, Recorded)
            out.write(output.escaped(exported_line(value)) + b"\n")
        mention_damaged(memory.totals().events - events)


def _export_vault(here: Home, folder: Path) -> None:
    """Write all files of a memory; those that somebody added stay."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / VAULT_MARK).is_file():
        raise BadInput(f"{folder} holds other files", hint="name a new folder")
    refuse_unsettled(here)
    owner, count = config.owner(config.load(here)), 0
    with reading(here) as reader:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / VAULT_MARK).touch(mode=0o600)
        for name, text in vault_files(reader, owner=owner):
            path = folder / name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # never through a link that somebody put there
            path.touch(mode=0o600)
            path.write_text(text, encoding="utf-8", errors="replace")
            count += 1
    done = f"{counted(count, 'file')} in {folder}"
    output.respond({"folder": str(folder), "files": count}, done)


_UNUSABLE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|#^\[\]]+')
_NAME_CHARS = 60
_NOWHERE = "without a project"
VaultFile = tuple[str, str]
"""The path of a file in the vault, and its text."""


def vault_files(reader: StoreReader, *, owner: str) -> Iterator[VaultFile]:
    """Yield the files of a memory, but for notes that are files and personal ones of others."""
    names: dict[int, str] = {}  # folders; of projects with one name the later have their number
    for project in sorted(reader.projects(), key=lambda one: one.id):
        name = _usable(project.name)
        taken = {known.casefold() for known in names.values()}
        names[project.id] = f"{name} {project.id}" if name.casefold() in taken else name
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


def _note(item: Item, folder: str) -> VaultFile:
    fields: dict[str, Field | None] = {
        "title": one_line(item.title, 200),
        "type": item.type,
        "tags": list(item.tags),
        "created": iso(item.created_ms),
        "updated": iso(item.updated_ms),
        "id": item.uuid,
    }
    known = (link for link in item.links if link.title and link.kind != FORMERLY)
    links = "".join(f"- {link.kind} [[{link.title}]]\n" for link in known)
    text = with_fields("", fields) + f"{item.narrative}\n" + (f"\n{links}" if links else "")
    return f"{folder}/notes/{_usable(item.title)} {item.id}.md", text


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
    return f"{folder}/sessions/{name}", with_fields("", fields) + "\n".join(parts) + "\n"


def _usable(name: str) -> str:
    plain = one_line(_UNUSABLE.sub(" ", name), _NAME_CHARS).strip(" .")
    return plain or "-"
