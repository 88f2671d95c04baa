"""The sessions below a folder of Claude Code's, and their events as the hooks would give them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from observer.clients.payload import text
from observer.clients.shelf.claude_code import HOOKS
from observer.core import json_text
from observer.core.config import Settings
from observer.core.events import Event
from observer.importers.calls import events_of_calls
from observer.importers.claude_code.calls import HookCalls
from observer.importers.claude_code.records import KINDS, Records
from observer.importers.jsonl import Problems, files_below, last_ms, lines, parse, time_of
from observer.importers.source import FoundSession

_AGENT = "agent-"
_GLANCED = 40
"""Lines at the beginning of a file that are looked at; bookkeeping comes first."""


class _Glance(NamedTuple):
    """What the first lines of a file and its last ones say."""

    session: str
    folder: str
    first_ms: int
    last_ms: int
    first_id: str


def find(paths: Sequence[Path], problems: Problems) -> list[FoundSession]:
    """Return the sessions in files, and in all files below folders."""
    files: dict[str, list[tuple[Path, _Glance]]] = defaultdict(list)
    for path in dict.fromkeys(each for one in paths for each in files_below(one)):
        if glance := _glance(path, problems):
            files[glance.session].append((path, glance))
    found = {name: _session(name, group) for name, group in files.items()}
    return list(_with_forks(found, files))


def read(found: FoundSession, settings: Settings, problems: Problems) -> Iterator[Event]:
    """Yield the events of a session; those of a turn's end may come after later ones."""
    known = frozenset(_ids(found.before))
    records = Records(found.paths, found.id, problems=problems, known=known)
    project, _ = records.folder()
    calls = HookCalls(records, found.id, _agent_types(found.paths))
    reported = (call for call in calls if call.event in HOOKS.reporting)
    yield from events_of_calls("claude-code", reported, found, settings, problems, project=project)


def _glance(path: Path, problems: Problems) -> _Glance | None:
    session = folder = first_id = ""
    first_ms = 0
    for line in lines(path, Problems()):
        record = parse(line, path, Problems()) or {}
        session = session or text(record, "sessionId")
        folder = folder or text(record, "cwd")
        if text(record, "type") in KINDS:
            first_ms = first_ms or time_of(record) or 0
            first_id = first_id or text(record, "uuid")
        if (session and folder and first_ms and first_id) or line.number >= _GLANCED:
            break
    if not (session and first_ms):
        problems.add("file without a session", path)
        return None
    return _Glance(session, folder, first_ms, max(last_ms(path), first_ms), first_id)


def _session(name: str, group: Sequence[tuple[Path, _Glance]]) -> FoundSession:
    main = min(group, key=lambda one: (one[0].name.startswith(_AGENT), one[1].first_ms))[1]
    return FoundSession(
        id=name,
        paths=tuple(path for path, _ in group),
        folder=main.folder,
        first_ms=min(glance.first_ms for _, glance in group),
        last_ms=max(glance.last_ms for _, glance in group),
        size_bytes=sum(path.stat().st_size for path, _ in group),
    )


def _with_forks(
    found: dict[str, FoundSession], files: dict[str, list[tuple[Path, _Glance]]]
) -> Iterator[FoundSession]:
    """Yield the sessions, those that begin with the records of others with their files."""
    alike: dict[str, list[str]] = defaultdict(list)
    for name, group in files.items():
        for first in {glance.first_id for _, glance in group if glance.first_id}:
            alike[first].append(name)
    before: dict[str, list[Path]] = defaultdict(list)
    for names in alike.values():
        # Whoever forks goes on in the fork: the file that was written first is the original.
        in_order = sorted(names, key=lambda name: (found[name].last_ms, name))
        for number, name in enumerate(in_order):
            before[name] += [path for other in in_order[:number] for path in found[other].paths]
    for name, session in found.items():
        yield session._replace(before=tuple(before[name]))


def _ids(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        for line in lines(path, Problems()):
            yield text(parse(line, path, Problems()) or {}, "uuid")


def _agent_types(paths: Iterable[Path]) -> dict[str, str]:
    """Return the types of sub-agents by their ids, which files beside their transcripts say."""
    types: dict[str, str] = {}
    for path in paths:
        if path.name.startswith(_AGENT):
            agent = path.name.partition(".")[0].removeprefix(_AGENT)
            with suppress(OSError, ValueError, RecursionError):
                said = json_text.load(path.with_name(f"{_AGENT}{agent}.meta.json").read_bytes())
                if isinstance(said, dict) and (sort := text(said, "agentType")):
                    types[agent] = sort
    return types
