"""mem0, agentmemory, engram and beads: what they keep becomes notes under its own ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from observer.clients.envelope import Object
from observer.clients.payload import inner, joined, parsed, rows, text, words
from observer.core.config import Settings, owner
from observer.core.events import Event, Remember
from observer.importers.database import files_of, opened
from observer.importers.jsonl import Problems, lines, parse
from observer.importers.jsonl import opened as opened_file
from observer.importers.source import FoundSession, SessionSource
from observer.importers.words import Origin, event_of, files_matching, moment_ms
from observer.spool.files import UnexpectedFile

MOST_BYTES = 256 << 20
_SQLITE = b"SQLite format 3\0"


class Kept(NamedTuple):
    """A memory as another program keeps it; `project` is its folder or its name, if it has one."""

    key: str
    content: str
    at_ms: int
    title: str = ""
    type: str = "fact"
    tags: tuple[str, ...] = ()
    project: str = ""


_Reader = Callable[[Path, Problems], Iterator[Kept]]


def mem0(path: Path, problems: Problems) -> Iterator[Kept]:
    """Yield the memories of mem0's own history, or of an export; deleted ones are left out."""
    if _is_database(path):
        current: dict[str, Object] = {}
        with opened(path, problems) as database:
            for row in database.rows("history") if database else ():
                current[text(row, "memory_id")] = row
        for name, last in current.items():
            if text(last, "event") != "DELETE" and not last.get("is_deleted"):
                yield from _kept(name, text(last, "new_memory"), last)
        return
    for given in _listed(path, problems, "results", "memories"):
        said = text(given, "memory", "content", "text")
        yield from _kept(text(given, "id"), said, given, tags=words(given, "categories"))


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
                owner="" if one.project else owner(settings),
                tags=one.tags,
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
