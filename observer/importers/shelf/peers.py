"""Stores of other memories: what they have noted of sessions, and their notes.

A project that is named without its folder is the only one of that name here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Literal, cast

from msgspec.structs import replace

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, joined, parsed, rows, text, words
from observer.core import json_text
from observer.core.config import Settings, owner
from observer.core.disk import UnexpectedFile
from observer.core.errors import BadInput
from observer.core.events import Custom, Event, Layer, Prompt, Remember
from observer.core.json_text import dump
from observer.core.model import KNOWLEDGE_TYPES
from observer.core.paths import is_inside
from observer.core.text import distinct
from observer.importers.database import files_of, opened
from observer.importers.source import (
    FoundSession,
    Origin,
    Problems,
    SessionSource,
    event_of,
    moment_ms,
)
from observer.importers.source import opened as opened_file
from observer.observations.note_reducer import METADATA_CHARS
from observer.redaction.redact import redact_text
from observer.search.handles import AGENT, check_owner
from observer.search.handles import owner as owner_named

MOST_BYTES = 256 << 20


_Kept = Iterator[tuple[str, Remember, int]]
"""Memories as another program keeps them: a project's folder or name, a note, its time."""
_Reader = Callable[[Path, Problems], _Kept]
_Events = Iterator[tuple[str, Event]]
_EventsOf = Callable[[str, Path, Problems, Settings, str], _Events]
"""Yields the events of a store with the projects that they name; those are in the last folder."""


def mem0(path: Path, problems: Problems) -> _Kept:
    """Yield what an export or mem0's history has, as it was made, and as it changed last."""
    if path.suffix == ".db":
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
    if text(row, "memory", "content", "text"):
        return row
    metadata = inner(row, "metadata")
    payload = inner(row, "payload") or metadata
    return {**row, **payload, "metadata": None if payload is metadata else dict(metadata)}


def _relations(path: Path, living: Sequence[Object]) -> Iterator[Object]:
    """Yield the relations of an export as memories: of its only owner, if they name none."""
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


def _of_owner(row: Object, path: Path, problems: Problems) -> _Kept:
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
    note = Remember(
        content=content,
        type=text(row, "type") or "fact",
        key=key,
        tags=tags,
        owner=whose.key,
        metadata=metadata,
    )
    for at_ms in sorted(filter(None, times)) if key and content.strip() else ():
        yield "", note, at_ms


def _metadata(given: Object) -> str | None:
    filled = {name: value for name, value in given.items() if value is not None}
    kept = dump(filled).decode() if filled else ""
    return kept if len(kept) <= METADATA_CHARS and redact_text(kept) == kept else None


def agentmemory(path: Path, problems: Problems) -> _Kept:
    """Yield the newest versions of memories, each with the time of its last change."""
    names = ("updated_at", "updatedAt", "created_at", "createdAt")
    for row in _listed(path, problems, "memories", "mem:memories"):
        times = (moment_ms(row.get(name)) for name in names)
        at_ms = next((at_ms for at_ms in times if at_ms is not None), None)
        key, said, title = text(row, "id"), text(row, "content"), text(row, "title")
        if row.get("isLatest") is not False and key and said.strip() and at_ms is not None:
            note = Remember(
                content=said,
                title=title if title != said else "",
                type=text(row, "type") or "fact",
                key=key,
                tags=tuple(filter(None, words(row, "concepts"))),
            )
            yield text(row, "project"), note, at_ms


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


def _kept_events(
    reader: _Reader, name: str, path: Path, problems: Problems, settings: Settings, cwd: str
) -> _Events:
    for project, note, at_ms in reader(path, problems):
        key, whose = f"{name}:{note.key}", "" if project else note.owner or owner(settings)
        scope: Literal["project", "personal"] = "project" if project else "personal"
        body = replace(note, key=key, scope=scope, owner=whose)
        yield project, event_of(Origin(name, cwd=cwd), body, at_ms, note.key)


# --- memex ----------------------------------------------------------------------------------------
#
# Seen in its schema of 2026. Notes of other programs that it only reads (`external`) are left out.
# A rule waits for a person, approved there or not: whoever can write a file must not make rules.

MEMEX = "memex"
_LAYERS = ("past", "state", "rule")


def _memex_events(
    _name: str, path: Path, problems: Problems, settings: Settings, _cwd: str
) -> _Events:
    for row, at_ms, layer in _notes(path, problems):
        body = Remember(
            content=text(row, "content"),
            title=text(row, "title"),
            type="rule" if layer == "rule" else "fact",
            key=f"{MEMEX}:{row.get('id')}",
            category=text(row, "category"),
            scope="personal",
            owner=owner(settings),
            layer=cast("Layer", layer),
            tags=words({"tags": parsed(text(row, "tags"))}, "tags"),
            confidence=None,
            metadata=json_text.dump({"source": text(row, "source")}).decode(),
        )
        made = event_of(Origin(MEMEX), body, at_ms, str(row.get("id")), body.title, body.metadata)
        is_persons = text(row, "author") == "person" and layer != "rule"
        yield "", replace(made, author="person") if is_persons else made


def _notes(path: Path, problems: Problems) -> Iterator[tuple[Object, int, str]]:
    with opened(path, problems) as database:
        for row in database.rows("notes") if database else ():
            times = (moment_ms(row.get(name)) for name in ("authored_at", "created_at"))
            at_ms, layer = next(filter(None, times), None), text(row, "layer")
            if at_ms is None:
                problems.add("note without a time", path)
            elif layer in _LAYERS and text(row, "content").strip():
                yield row, at_ms, layer


# --- claude-mem and kiro-memory -------------------------------------------------------------------
#
# Databases of prompts, observations and summaries of sessions. Seen in claude-mem 13.25.3 and
# kiro-memory 3.1.1, whose tables are alike.

_FILES = 50
_ANSWERS = ("request", "investigated", "learned", "completed", "next_steps", "notes")


_TABLES = {
    "claude-mem": ("sdk_sessions", "user_prompts", "session_summaries"),
    "kiro-memory": ("sessions", "prompts", "summaries"),
}
"""What a program calls its tables of sessions, prompts and summaries."""
_CLIENTS = {
    "claude-mem": {"": "claude-code", "claude": "claude-code", "cursor": "cursor", "codex": "codex"}
}


def _table_events(name: str, path: Path, problems: Problems, _: Settings, cwd: str) -> _Events:
    with opened(path, problems) as database:
        if database is None:
            return
        (table, prompts, summaries), sessions = _TABLES[name], dict[str, tuple[str, str, str]]()
        for row in database.rows(table):
            client = _CLIENTS.get(name, {}).get(text(row, "platform_source"), name)
            session = text(row, "content_session_id")
            for called in (session, text(row, "memory_session_id")):
                sessions[called] = (client, session, text(row, "project"))
        tables = {
            prompts: lambda row: (
                Prompt(text=said) if (said := text(row, "prompt_text")).strip() else None
            ),
            "observations": _observation,
            summaries: _summary,
        }
        for table, body_of in tables.items():
            for row in database.rows(table):
                at_ms = moment_ms(row.get("created_at_epoch")) or moment_ms(row.get("created_at"))
                body = body_of(row)
                if at_ms is None:
                    problems.add(f"row of {table} without a time", path)
                elif body is not None:
                    called = text(row, "content_session_id", "memory_session_id", "session_id")
                    client, session, project = sessions.get(called, (name, called, ""))
                    origin = Origin(name, client, session, cwd)
                    yield text(row, "project") or project, event_of(origin, body, at_ms)


def _observation(row: Object) -> Custom | Remember | None:
    """Return what was observed; knowledge that somebody entered on purpose is a note."""
    kind, title = text(row, "type"), text(row, "title")
    facts = _json(text(row, "facts"))
    said = [text(row, "subtitle"), text(row, "narrative", "text")]
    if isinstance(facts, dict):
        said += [f"{key}: {value}" for key, value in facts.items() if key != "knowledgeType"]
    elif isinstance(facts, list):
        said += [f"- {fact}" for fact in facts if isinstance(fact, str)]
    words = joined(*said)
    if isinstance(facts, dict) and facts.get("knowledgeType") in KNOWLEDGE_TYPES:
        return Remember(
            content=words or title, title=title, type=kind, tags=_parted(row, "concepts")
        )
    files = distinct((*_parted(row, "files_modified"), *_parted(row, "files_read")), _FILES)
    whole = joined(title, words)
    return Custom(name=kind or "observation", text=whole, files=files) if whole else None


def _summary(row: Object) -> Custom | None:
    said = ((name, text(row, name)) for name in _ANSWERS)
    words = "\n".join(f"{name.replace('_', ' ')}: {answer}" for name, answer in said if answer)
    return Custom(name="session-summary", text=words) if words else None


def _parted(row: Object, name: str) -> tuple[str, ...]:
    """Return a list that is JSON in claude-mem, and parted by commas in kiro-memory."""
    given = text(row, name)
    value = _json(given) if given.startswith("[") else given.split(",")
    parts = value if isinstance(value, list) else []
    return tuple(part.strip() for part in parts if isinstance(part, str) and part.strip())


def _json(given: str) -> Json:
    with suppress(RecursionError):
        return parsed(given)
    return None


def _find(
    events_of: Callable[[Path, Problems, Settings, str], _Events],
    pattern: str,
    paths: Sequence[Path],
    problems: Problems,
) -> list[FoundSession]:
    found = []
    files = (
        file
        for one in paths
        for file in (sorted(one.glob(pattern)) if one.is_dir() else [one])
        # None that a link leads out of its folder to.
        if not file.is_dir() and is_inside(str(file.resolve()), str(one.resolve()))
    )
    for path in dict.fromkeys(files):
        times: dict[str, list[int]] = {}
        for project, event in events_of(path, problems, Settings(), ""):
            times.setdefault(project, []).append(event.at_ms)
        for project, at in times.items():
            whole, size = files_of(path), path.stat().st_size
            found.append(FoundSession(f"{path}#{project}", whole, project, min(at), max(at), size))
    return found


def _read(
    events_of: Callable[[Path, Problems, Settings, str], _Events],
    found: FoundSession,
    settings: Settings,
    _: Problems,
) -> Iterator[Event]:
    cwd = found.folder if found.folder.startswith("/") else ""
    for project, event in events_of(found.paths[0], Problems(), settings, cwd):
        if found.id == f"{found.paths[0]}#{project}":
            yield event


def _source(
    name: str, variable: str, file: str, events_of: _EventsOf, pattern: str
) -> SessionSource:
    of_name = partial(events_of, name)
    return SessionSource(
        name,
        *(f".{name}", variable, file),
        find=partial(_find, of_name, pattern),
        read=partial(_read, of_name),
        is_of_sessions=False,
    )


SOURCES = (
    _source("mem0", "MEM0_DIR", "history.db", partial(_kept_events, mem0), "*.json"),
    _source("agentmemory", "", "standalone.json", partial(_kept_events, agentmemory), "*.json"),
    _source(MEMEX, "", "memex.db", _memex_events, "*.db"),
    _source("claude-mem", "CLAUDE_MEM_DATA_DIR", "claude-mem.db", _table_events, "*.db"),
    _source("kiro-memory", "KIRO_MEMORY_DATA_DIR", "kiro-memory.db", _table_events, "*.db"),
)
