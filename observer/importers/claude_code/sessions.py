"""The sessions below a folder of Claude Code's, and their events as the hooks would give them."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from observer.clients.claude_code.decode import NAME
from observer.clients.claude_code.install import HOOKS
from observer.clients.envelope import Envelope
from observer.clients.payload import text
from observer.core import json_text
from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.errors import Undecodable
from observer.core.events import Event
from observer.core.routes import import_route
from observer.importers.claude_code.calls import HookCall, HookCalls
from observer.importers.claude_code.records import KINDS, Records, time_of
from observer.importers.jsonl import Problems, lines, opened, parse
from observer.importers.source import FoundSession
from observer.ingest.decode import decode_call

_SUFFIXES = (".jsonl", ".jsonl.gz")
_AGENT = "agent-"
_GLANCED = 40
"""Lines at the beginning of a file that are looked at; bookkeeping comes first."""
_LIVE_MS = 60_000
"""What happened so short ago is left to the hooks, whose reports may not be stored yet."""
_TAIL_BYTES = 64 << 10
_TIME = re.compile(rb'"timestamp" ?: ?"([^"\\]{10,40})"')


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
    for path in dict.fromkeys(each for one in paths for each in _files(one)):
        if glance := _glance(path, problems):
            files[glance.session].append((path, glance))
    found = {name: _session(name, group) for name, group in files.items()}
    return list(_with_forks(found, files))


def read(found: FoundSession, settings: Settings, problems: Problems) -> Iterator[Event]:
    """Yield the events of a session; those of a turn's end may come after later ones.

    A session that may still go on has no end, and the last minute is left to the hooks.
    """
    known = frozenset(_ids(found.before))
    records = Records(found.paths, found.id, problems=problems, known=known)
    project, _ = records.folder()
    at_ms = now_ms()
    idle_ms = settings.session_idle_minutes * 60_000
    for call in HookCalls(records, found.id, _agent_types(found.paths)):
        is_recent = at_ms - call.at_ms < (idle_ms if call.event == "SessionEnd" else _LIVE_MS)
        if is_recent or call.event not in HOOKS.reporting:
            continue
        try:
            yield from _events(call, found.id, project, settings.event_cap_bytes)
        except Undecodable as error:
            problems.add(f"unreadable {call.event} ({error.message})", found.paths[0])


def _events(call: HookCall, session: str, project: str, cap_bytes: int) -> Iterator[Event]:
    identity = f"{NAME}\0{session}\0{call.key}".encode(errors="replace")
    envelope = Envelope(
        id=f"import-{blake2b(identity, digest_size=16).hexdigest()}",
        at_ms=call.at_ms,
        client=NAME,
        event=call.event,
        env={"CLAUDE_PROJECT_DIR": project} if project else {},
    )
    branch = "" if call.branch == "HEAD" else call.branch
    for event in decode_call(envelope, call.payload, cap_bytes=cap_bytes):
        yield structs.replace(event, route=import_route(NAME), branch=branch)


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for folder, below, names in os.walk(path):
        below.sort()
        yield from (Path(folder, name) for name in sorted(names) if name.endswith(_SUFFIXES))


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
    return _Glance(session, folder, first_ms, max(_last_ms(path), first_ms), first_id)


def _last_ms(path: Path) -> int:
    """Return the last time that a file names; of a packed one, when it was written."""
    if path.suffix == ".gz":
        return path.stat().st_mtime_ns // 1_000_000
    with opened(path) as file:
        file.seek(max(path.stat().st_size - _TAIL_BYTES, 0))
        times = _TIME.findall(file.read())
    found = (time_of({"timestamp": each.decode("ascii", "replace")}) for each in times)
    return max((at_ms for at_ms in found if at_ms is not None), default=0)


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
