"""The sessions below a folder of Codex CLI's, and their events as the hooks would give them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from observer.clients.payload import inner, text
from observer.clients.shelf.codex import HOOKS
from observer.core.config import Settings
from observer.core.events import Event
from observer.importers.calls import events_of_calls
from observer.importers.codex.calls import RolloutCalls
from observer.importers.codex.layouts import ENDINGS, META, steps
from observer.importers.jsonl import Problems, files_below, last_ms
from observer.importers.source import FoundSession

_ROLLOUT = "rollout-"


def find(paths: Sequence[Path], problems: Problems) -> list[FoundSession]:
    """Return the sessions in files, and in all files below folders; of copies, the longest."""
    found: dict[str, FoundSession] = {}
    for path in dict.fromkeys(each for one in paths for each in _files(one)):
        session = _session(path)
        if session is None:
            problems.add("file without a session", path)
        elif session.id not in found or found[session.id].size_bytes < session.size_bytes:
            found[session.id] = session
    return list(found.values())


def read(found: FoundSession, settings: Settings, problems: Problems) -> Iterator[Event]:
    """Yield the events of a session."""
    calls = RolloutCalls(found.paths[0], found.id, problems)
    reported = (call for call in calls if call.event in HOOKS.reporting)
    yield from events_of_calls("codex", reported, found, settings, problems, project=found.folder)


def _files(path: Path) -> Iterator[Path]:
    for file in files_below(path, ENDINGS):
        if file == path or file.suffix != ".json" or file.name.startswith(_ROLLOUT):
            yield file


def _session(path: Path) -> FoundSession | None:
    """Return the session whose first record a file begins with."""
    first = next(steps(path, Problems()), None)
    payload = first.payload if first else {}
    name = text(payload, "id", "session_id")
    if first is None or first.kind != META or not name:
        return None
    first_ms = first.at_ms
    return FoundSession(
        id=name,
        paths=(path,),
        folder=text(payload, "cwd"),
        first_ms=first_ms,
        last_ms=max(last_ms(path), first_ms),
        size_bytes=path.stat().st_size,
        remote=text(inner(payload, "git"), "repository_url"),
    )
