"""A memory as Markdown files: a folder for each project, a file for each note and each session.

For people, in an editor of notes. A file's name stays the same as long as what it is named for
does, so that a second export replaces the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from observer.core.filters import RECORDED_KINDS, is_visible
from observer.core.model import FORMERLY, Item, Session, SummaryFields, iso
from observer.core.text import one_line
from observer.note_files.grammar import Field, with_fields
from observer.store.reader import StoreReader
from observer.views.moment import day, minute

_UNUSABLE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|#^\[\]]+')
_NAME_CHARS = 60
_NOWHERE = "without a project"
_OWN = "-"


class VaultFile(NamedTuple):
    """One file: its path in the vault, and its text."""

    path: str
    text: str


def vault(reader: StoreReader, *, owner: str) -> Iterator[VaultFile]:
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
    title = one_line(_first_request(session, ordered), _NAME_CHARS)
    parts = [f"# {title}\n"]
    for item in ordered:
        parts += _summary(item.summary) if item.summary else [_entry(item)]
    name = f"{day(session.started_ms)} {_usable(title)} {session.id}.md"
    return VaultFile(f"{folder}/sessions/{name}", with_fields("", fields) + "\n".join(parts) + "\n")


def _first_request(session: Session, ordered: Iterable[Item]) -> str:
    """Return what a session is named for: unlike its summary's title, that stays the same."""
    asked = next((item.title for item in ordered if item.type == "turn"), "")
    return asked or session.first_prompt or f"session of {session.client}"


def _summary(said: SummaryFields) -> list[str]:
    answers = ((name, getattr(said, name)) for name in said.__struct_fields__)
    return [f"**{name.replace('_', ' ')}**: {text}\n" for name, text in answers if text]


def _entry(item: Item) -> str:
    text = "\n".join(f"  {line}" for line in item.narrative.splitlines() if line.strip())
    return f"- {minute(item.created_ms)} #{item.id} {item.type}: {item.title}\n{text}".rstrip()


def _usable(name: str) -> str:
    """Return a name as a file or folder of any system may have it."""
    plain = one_line(_UNUSABLE.sub(" ", name), _NAME_CHARS).strip(" .")
    return plain or _OWN
