"""mem0, agentmemory, engram and beads: what they keep becomes notes under its own ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from observer.clients.envelope import Object
from observer.clients.payload import inner, joined, parsed, rows, text, words
from observer.core.config import Settings, owner
from observer.core.errors import BadInput
from observer.core.events import Event, Remember
from observer.core.json_text import dump
from observer.importers.database import files_of, opened
from observer.importers.jsonl import Problems, lines, parse
from observer.importers.jsonl import opened as opened_file
from observer.importers.source import FoundSession, SessionSource
from observer.importers.words import Origin, event_of, files_matching, moment_ms
from observer.observations.note_reducer import METADATA_CHARS
from observer.redaction.redact import redact_text
from observer.search.owners import AGENT, check_owner
from observer.search.owners import owner as owner_named
from observer.spool.files import UnexpectedFile

MOST_BYTES = 256 << 20
_SQLITE = b"SQLite format 3\0"


class Kept(NamedTuple):
    """A memory as another program keeps it; `project` is its folder or its name, if it has one.

    `owner` is whose it is, where it says so; `metadata` is a JSON object as text.
    """

    key: str
    content: str
    at_ms: int
    title: str = ""
    type: str = "fact"
    tags: tuple[str, ...] = ()
    project: str = ""
    owner: str = ""
    metadata: str = ""


_Reader = Callable[[Path, Problems], Iterator[Kept]]


def mem0(path: Path, problems: Problems) -> Iterator[Kept]:
    """Yield the memories and relations of an export, or of mem0's history, which has no users.

    Each has the time at which it was made, and comes once more with that of its last change.
    Deleted ones are left out.
    """
    if _is_database(path):
        current: dict[str, Object] = {}
        with opened(path, problems) as database:
            for row in database.rows("history") if database else ():
                first = current.get(text(row, "memory_id"), row)
                begun = {"created_at": first.get("created_at")} if first is not row else {}
                current[text(row, "memory_id")] = {**row, **begun}
        living: list[Object] = [
            {**last, "id": name, "memory": text(last, "new_memory")}
            for name, last in current.items()
            if text(last, "event") != "DELETE" and not last.get("is_deleted")
        ]
        if not all(text(row, "user_id", "agent_id") for row in living):
            problems.add("history that does not say whose memories they are: now yours", path)
        related: Iterable[Object] = ()
    else:
        living = [_payload(row) for row in _listed(path, problems, "results", "memories")]
        related = _relations(path, living)
    for given in (*living, *related):
        yield from _of_owner(given, path, problems)


_HELD = frozenset((
    "id", "memory", "data", "text", "content", "hash", "created_at", "updated_at", "user_id",
    "agent_id", "categories", "metadata", "payload", "vector", "embedding", "score", "type",
    "memory_id", "old_memory", "new_memory", "event", "is_deleted",
))  # fmt: skip
"""What a memory says in fields of its own; all else is metadata."""


def _payload(row: Object) -> Object:
    """Return a memory as mem0 returns it, of a row of one of its vector stores too."""
    if text(row, "memory", "content", "text"):
        return row
    metadata = inner(row, "metadata")
    payload = inner(row, "payload") or metadata
    return {**row, **payload, "metadata": None if payload is metadata else dict(metadata)}


def _relations(path: Path, living: Sequence[Object]) -> Iterator[Object]:
    """Yield the relations of an export as memories: of its only owner, if they name none.

    One without a time has that of the first memory.
    """
    owners = {(text(row, "user_id"), text(row, "agent_id")) for row in living}
    user, agent = owners.pop() if len(owners) == 1 else ("", "")
    times = sorted(filter(None, (text(row, "created_at") for row in living)))
    known = {"user_id": user, "agent_id": agent, "created_at": times[0] if times else None}
    for row in _listed(path, Problems(), "relations"):
        said = {name: text(row, name) for name in ("source", "relationship")}
        said["target"] = text(row, "target", "destination")
        if all(said.values()):
            whole = " ".join(said.values())
            yield {**known, **row, "id": whole, "memory": whole, "type": "relation", **said}


def _of_owner(row: Object, path: Path, problems: Problems) -> Iterator[Kept]:
    """Yield a memory of mem0 as its owner's: as it was made, and as it was changed last."""
    user, agent = text(row, "user_id"), text(row, "agent_id")
    whose = owner_named(user, agent, otherwise="")
    try:
        if whose.key:
            check_owner(whose.key)
        tags = (*words(row, "categories"), *whose.tags)
    except BadInput as error:
        problems.add(f"memory that is left out, since {error.message}", path)
        return
    other = {name: value for name, value in row.items() if name not in _HELD}
    said = {AGENT: whose.agent} if whose.agent else {}
    metadata = _metadata({**other, **inner(row, "metadata"), **said})
    if metadata is None:
        problems.add("metadata that is too long, or holds a secret, and is left out", path)
        metadata = _metadata(said) or ""
    key, content = text(row, "id"), text(row, "memory", "data", "content", "text")
    times = {moment_ms(row.get(name)) for name in ("created_at", "updated_at")}
    for at_ms in sorted(filter(None, times)) if key and content.strip() else ():
        kind = text(row, "type") or "fact"
        yield Kept(key, content, at_ms, "", kind, tags, owner=whose.key, metadata=metadata)


def _metadata(given: Object) -> str | None:
    """Return metadata as it is kept; None for what cannot be."""
    filled = {name: value for name, value in given.items() if value is not None}
    kept = dump(filled).decode() if filled else ""
    return kept if len(kept) <= METADATA_CHARS and redact_text(kept) == kept else None


def agentmemory(path: Path, problems: Problems) -> Iterator[Kept]:
    """Yield the newest versions of memories, of agentmemory's local file or of an export."""
    for row in _listed(path, problems, "memories", "mem:memories"):
        if row.get("isLatest") is not False:
            tags, said = words(row, "concepts"), text(row, "content")
            title, kind = text(row, "title"), text(row, "type")
            named = title if title != said else ""
            project = text(row, "project")
            yield from _kept(
                text(row, "id"), said, row, title=named, type=kind, tags=tags, project=project
            )


def engram(path: Path, problems: Problems) -> Iterator[Kept]:
    """Yield the observations of engram's database, those of a topic under that."""
    with opened(path, problems) as database:
        if database is None:
            return
        sessions = {text(row, "id"): text(row, "directory") for row in database.rows("sessions")}
        for row in database.rows("observations"):
            if not row.get("deleted_at"):
                folder = sessions.get(text(row, "session_id"), "") or text(row, "project")
                yield from _kept(
                    text(row, "topic_key", "sync_id", "id"),
                    text(row, "content"),
                    row,
                    title=text(row, "title"),
                    type=text(row, "type"),
                    project=folder,
                )


def beads(path: Path, problems: Problems) -> Iterator[Kept]:
    """Yield the issues of a project."""
    for line in lines(path, problems):
        row = parse(line, path, problems) or {}
        if text(row, "status") == "tombstone" or not text(row, "id"):
            continue
        state = " ".join(filter(None, (text(row, "status"), text(row, "close_reason"))))
        links = (
            f"{text(each, 'type')} {text(each, 'depends_on_id')}"
            for each in rows(row, "dependencies")
        )
        said = joined(
            f"{text(row, 'id')}: {text(row, 'title')} ({state})",
            *(
                text(row, name)
                for name in ("description", "design", "acceptance_criteria", "notes")
            ),
            *links,
            *(f"{text(one, 'author')}: {text(one, 'text')}" for one in rows(row, "comments")),
        )
        yield from _kept(
            text(row, "id"),
            said,
            row,
            title=text(row, "title"),
            type="issue",
            tags=(text(row, "issue_type"), *words(row, "labels")),
            project=str(path.absolute().parent.parent),
        )


def _kept(  # noqa: PLR0913 - the fields of a memory, each named
    key: str,
    content: str,
    row: Object,
    *,
    title: str = "",
    type: str = "",  # noqa: A002 - as the field
    tags: tuple[str, ...] = (),
    project: str = "",
) -> Iterator[Kept]:
    """Yield a memory with the time of its last change; none without words or a time."""
    names = ("updated_at", "updatedAt", "created_at", "createdAt")
    times = (moment_ms(row.get(name)) for name in names)
    at_ms = next((at_ms for at_ms in times if at_ms is not None), None)
    if key and content.strip() and at_ms is not None:
        some = tuple(filter(None, tags))
        yield Kept(key, content, at_ms, title, type or "fact", some, project)


def _listed(path: Path, problems: Problems, *names: str) -> list[Object]:
    """Return the objects of a JSON file: of its list, or of the first of these fields."""
    try:
        with opened_file(path) as file:
            data = file.read(MOST_BYTES + 1)
        value = parsed(data.decode("utf-8", "replace")) if len(data) <= MOST_BYTES else None
    except (OSError, EOFError, UnexpectedFile, RecursionError) as error:
        problems.add(f"unreadable file ({error})", path)
        return []
    whole = value if isinstance(value, dict) else {"": value}
    for name in (*names, ""):
        if isinstance(whole.get(name), list):
            return list(rows(whole, name))
        if found := inner(whole, name):
            return [one for one in found.values() if isinstance(one, dict)]
    problems.add("file without memories", path)
    return []


def _is_database(path: Path) -> bool:
    try:
        with opened_file(path) as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except (OSError, EOFError, UnexpectedFile):
        return False


def _find(
    reader: _Reader, pattern: str, paths: Sequence[Path], problems: Problems
) -> list[FoundSession]:
    """Return what stores have, by project."""
    found = []
    for path in dict.fromkeys(file for one in paths for file in files_matching(one, pattern)):
        times: dict[str, list[int]] = {}
        for one in reader(path, problems):
            times.setdefault(one.project, []).append(one.at_ms)
        for project, at in times.items():
            files, size = files_of(path), path.stat().st_size
            found.append(FoundSession(f"{path}#{project}", files, project, min(at), max(at), size))
    return found


def _read(
    name: str, reader: _Reader, found: FoundSession, settings: Settings, _: Problems
) -> Iterator[Event]:
    cwd = found.folder if found.folder.startswith("/") else ""
    for one in reader(found.paths[0], Problems()):
        if found.id == f"{found.paths[0]}#{one.project}":
            body = Remember(
                content=one.content,
                title=one.title,
                type=one.type,
                key=f"{name}:{one.key}",
                scope="project" if one.project else "personal",
                owner="" if one.project else one.owner or owner(settings),
                tags=one.tags,
                metadata=one.metadata,
            )
            yield event_of(Origin(name, cwd=cwd), body, one.at_ms, one.key)


def _source(
    name: str,
    place: tuple[str, str, str],
    reader: _Reader,
    *,
    pattern: str = "*.json",
    inside: tuple[str, ...] = (),
) -> SessionSource:
    return SessionSource(
        name,
        *place,
        find=partial(_find, reader, pattern),
        read=partial(_read, name, reader),
        inside=inside,
        is_of_sessions=False,
    )


NOTE_STORES = (
    _source("mem0", (".mem0", "MEM0_DIR", "history.db"), mem0),
    _source("agentmemory", (".agentmemory", "", "standalone.json"), agentmemory),
    _source("engram", (".engram", "ENGRAM_DATA_DIR", "engram.db"), engram),
    _source("beads", (".beads", "", "issues.jsonl"), beads, pattern="*.jsonl", inside=(".beads",)),
)
