"""Hook calls that were read from a client's records, and the events that they report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import blake2b
from typing import NamedTuple, TypeAlias

from msgspec import structs

from observer.clients.envelope import Envelope, Json
from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.errors import Undecodable
from observer.core.events import Event
from observer.core.routes import import_route
from observer.importers.jsonl import Problems
from observer.importers.source import FoundSession
from observer.ingest.decode import decode_call
from observer.ingest.duplicates import LIVE_MS
from observer.projects.worktree import normalise

_ENDS = frozenset({"SessionEnd", "SessionShutdown", "dispose", "session_shutdown", "sessionEnd"})
"""What clients call the end of a session."""


class HookCall(NamedTuple):
    """One hook call: its time, event and payload, and the branch that was checked out.

    `key` is the same however often the session is read, and unique within it. `is_open` if it had
    no end when the session was written last: if that goes on, it may get one.
    """

    at_ms: int
    event: str
    payload: dict[str, Json]
    branch: str
    key: str
    is_open: bool = False


CallsOf: TypeAlias = Callable[[FoundSession, Problems], Iterable[HookCall]]


def events_of_calls(
    client: str,
    calls: Iterable[HookCall],
    found: FoundSession,
    settings: Settings,
    problems: Problems,
    *,
    project: str,
) -> Iterator[Event]:
    """Yield what calls report.

    A session that may still go on has no end, nor have its open calls, and the last minute is left
    to the hooks.
    """
    at_ms, idle_ms = now_ms(), settings.session_idle_minutes * 60_000
    remote = _remote(found)
    for call in calls:
        may_go_on = call.is_open or call.event in _ENDS
        if at_ms - call.at_ms < (idle_ms if may_go_on else LIVE_MS):
            continue
        try:
            for event in _events(client, call, found.id, project, settings.event_cap_bytes):
                yield structs.replace(event, remote=remote) if remote else event
        except Undecodable as error:
            problems.add(f"unreadable {call.event} ({error.message})", found.paths[0])


def read_session(
    client: str, calls_of: CallsOf, found: FoundSession, settings: Settings, problems: Problems
) -> Iterator[Event]:
    """Yield the events of a session of one folder, from the calls that `calls_of` reads."""
    calls = calls_of(found, problems)
    yield from events_of_calls(client, calls, found, settings, problems, project=found.folder)


def _remote(found: FoundSession) -> str:
    """Return the name of a session's repository; "" where its client kept none that can be one."""
    with suppress(ValueError):
        return normalise(found.remote, base=found.folder or "/")
    return ""


def _events(
    client: str, call: HookCall, session: str, project: str, cap_bytes: int
) -> Iterator[Event]:
    identity = f"{client}\0{session}\0{call.key}".encode(errors="replace")
    envelope = Envelope(
        id=f"import-{blake2b(identity, digest_size=16).hexdigest()}",
        at_ms=call.at_ms,
        client=client,
        event=call.event,
        env={"CLAUDE_PROJECT_DIR": project} if project else {},
    )
    branch = "" if call.branch == "HEAD" else call.branch
    for event in decode_call(envelope, call.payload, cap_bytes=cap_bytes):
        yield structs.replace(event, route=import_route(client), branch=branch)
