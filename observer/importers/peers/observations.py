"""claude-mem and kiro-memory: databases of prompts, observations and summaries of sessions.

Seen in claude-mem 13.25.3 and kiro-memory 3.1.1, whose tables are alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from observer.clients.envelope import Json, Object
from observer.clients.payload import joined, parsed, text
from observer.core.config import Settings
from observer.core.events import Custom, Event, Prompt, Remember
from observer.core.model import KNOWLEDGE_TYPES
from observer.core.text import distinct
from observer.importers.database import Database, files_of, opened
from observer.importers.jsonl import Problems
from observer.importers.source import FoundSession, SessionSource
from observer.importers.words import Origin, event_of, moment_ms

_FILES = 50
_ANSWERS = ("request", "investigated", "learned", "completed", "next_steps", "notes")


class _Tables(NamedTuple):
    """What a program calls its tables, and which client its sessions are of."""

    sessions: str
    prompts: str
    summaries: str
    clients: Mapping[str, str]


_TABLES = {
    "claude-mem": _Tables(
        "sdk_sessions",
        "user_prompts",
        "session_summaries",
        {"": "claude-code", "claude": "claude-code", "cursor": "cursor", "codex": "codex"},
    ),
    "kiro-memory": _Tables("sessions", "prompts", "summaries", {}),
}


class _Sessions:
    """The sessions of a database, by the names that its other tables call them by."""

    def __init__(self, name: str, database: Database) -> None:
        self._name = name
        clients = _TABLES[name].clients
        self._known: dict[str, tuple[str, str, str]] = {}
        for row in database.rows(_TABLES[name].sessions):
            client = clients.get(text(row, "platform_source"), name)
            known = (client, text(row, "content_session_id"), text(row, "project"))
            for called in (text(row, "content_session_id"), text(row, "memory_session_id")):
                self._known[called] = known

    def origin(self, row: Object, cwd: str) -> Origin:
        """Return where a row is from."""
        client, session, _ = self._known.get(_session(row), (self._name, _session(row), ""))
        return Origin(self._name, client, session, cwd)

    def project(self, row: Object) -> str:
        """Return the name of the project of a row."""
        return text(row, "project") or self._known.get(_session(row), ("", "", ""))[2]


def _session(row: Object) -> str:
    return text(row, "content_session_id", "memory_session_id", "session_id")


def _find(name: str, paths: Sequence[Path], problems: Problems) -> list[FoundSession]:
    """Return what databases have, by project."""
    found = []
    for path in dict.fromkeys(paths):
        times: dict[str, list[int]] = {}
        for project, event in _events(name, path, problems, cwd=""):
            times.setdefault(project, []).append(event.at_ms)
        size = path.stat().st_size if path.is_file() else 0
        for project, at in times.items():
            files = files_of(path)
            called = f"{path}#{project}"
            found.append(FoundSession(called, files, project, min(at), max(at), size))
    return found


def _read(name: str, found: FoundSession, _: Settings, _problems: Problems) -> Iterator[Event]:
    cwd = found.folder if found.folder.startswith("/") else ""
    for project, event in _events(name, found.paths[0], Problems(), cwd=cwd):
        if found.id == f"{found.paths[0]}#{project}":
            yield event


def _events(name: str, path: Path, problems: Problems, *, cwd: str) -> Iterator[tuple[str, Event]]:
    """Yield events with the names of their projects."""
    with opened(path, problems) as database:
        if database is None:
            return
        sessions = _Sessions(name, database)
        tables = {
            _TABLES[name].prompts: _prompt,
            "observations": _observation,
            _TABLES[name].summaries: _summary,
        }
        for table, body_of in tables.items():
            for row in database.rows(table):
                at_ms = moment_ms(row.get("created_at_epoch")) or moment_ms(row.get("created_at"))
                body = body_of(row)
                if at_ms is None:
                    problems.add(f"row of {table} without a time", path)
                elif body is not None:
                    origin = sessions.origin(row, cwd)
                    yield sessions.project(row), event_of(origin, body, at_ms)


def _prompt(row: Object) -> Prompt | None:
    said = text(row, "prompt_text")
    return Prompt(text=said) if said.strip() else None


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
            content=words or title, title=title, type=kind, tags=_listed(row, "concepts")
        )
    files = distinct((*_listed(row, "files_modified"), *_listed(row, "files_read")), _FILES)
    whole = joined(title, words)
    return Custom(name=kind or "observation", text=whole, files=files) if whole else None


def _summary(row: Object) -> Custom | None:
    said = ((name, text(row, name)) for name in _ANSWERS)
    words = "\n".join(f"{name.replace('_', ' ')}: {answer}" for name, answer in said if answer)
    return Custom(name="session-summary", text=words) if words else None


def _listed(row: Object, name: str) -> tuple[str, ...]:
    """Return a list that is JSON in claude-mem, and parted by commas in kiro-memory."""
    given = text(row, name)
    value = _json(given) if given.startswith("[") else given.split(",")
    parts = value if isinstance(value, list) else []
    return tuple(part.strip() for part in parts if isinstance(part, str) and part.strip())


def _json(given: str) -> Json:
    try:
        return parsed(given) if given else None
    except RecursionError:
        return None


def _source(name: str, folder: str, variable: str, file: str) -> SessionSource:
    return SessionSource(
        name,
        folder,
        variable,
        file,
        find=partial(_find, name),
        read=partial(_read, name),
        is_of_sessions=False,
    )


OBSERVATIONS = (
    _source("claude-mem", ".claude-mem", "CLAUDE_MEM_DATA_DIR", "claude-mem.db"),
    _source("kiro-memory", ".kiro-memory", "KIRO_MEMORY_DATA_DIR", "kiro-memory.db"),
)
