"""Recognizes one event that two hooks report without an id of their own, not a repetition. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from observer.clients.registry import clients
from observer.core.events import (
    Command,
    Compaction,
    Custom,
    Delegation,
    Event,
    FileRead,
    FileWrite,
    Intent,
    Outcome,
    Prompt,
    Reply,
    Search,
    SessionEnd,
    SessionStart,
    ToolUse,
)
from observer.core.model import Session
from observer.core.routes import BY_PLUGIN, is_imported

SHELLS = ("bash", "zsh", "fish")
LIVE_MS = 60_000
"""The last minute, which an import leaves to the hooks: what they report is stored once."""
LONGEST_MS = 3_600_000
"""Of a command whose begin is in a history, to its end, which a hook reports."""
WINDOW_MS = 5_000
"""How far apart two hooks report one event at most: each starts processes of its own."""
_LATE_MS = 300_000
"""How far apart a hook and a client's records report one prompt: some record it once its model
answers."""

_SEPARATORS = re.compile(r"__|[:/]")


def is_late(event: Event, *, now_ms: int) -> bool:
    """Return True if an import may have brought what a hook reports only now."""
    return not is_imported(event) and now_ms - event.at_ms > LIVE_MS


def may_have_duplicate(event: Event, *, is_late: bool) -> bool:
    """Return True if an earlier report of the event has to be looked for: most need no look."""
    if type(event.body) not in _SIGNATURES:
        return False
    if is_imported(event):
        return not event.dedup
    return is_late or has_other_hook(event)


def has_other_hook(event: Event) -> bool:
    """Return True if another hook may have reported the event, not only an import."""
    hooks = clients().get(event.route.partition("/")[0])
    # A plugin's hooks give the same ids, by which the store knows a duplicate itself.
    by_plugin = hooks is not None and hooks.has_plugin and not event.dedup
    return by_plugin or _has_two_hooks(event)


def is_covered(event: Event, session: Session | None, *, is_late: bool) -> bool:
    """Return True if an imported beginning or end was reported by hooks, or a late one imported.

    A client's records begin with the first prompt and end with the last answer, perhaps hours
    before it was closed.
    """
    if session is None or not (is_late or is_imported(event)):
        return False
    if isinstance(event.body, SessionStart):
        is_first = (session.started_ms <= event.at_ms) is not is_late
        return event.body.source == "startup" and is_first
    if is_late or not isinstance(event.body, SessionEnd):
        return False
    # Of a session that went on, its records showed no end, but how far they were.
    went_on = session.last_ms > event.at_ms
    return went_on or (session.ended_ms or 0) >= event.at_ms - WINDOW_MS


def window_ms(event: Event, *, is_by_import: bool) -> int:
    """Return how far apart from an event another report of it may be, if one is an import's."""
    return _LATE_MS if is_by_import and isinstance(event.body, Prompt) else WINDOW_MS


def find_duplicate(event: Event, near: Sequence[Event]) -> Event | None:
    """Return the one of a session's recorded events that reported the same by another route.

    Repetitions stay apart: the second `ls` of one route pairs with the second of the other.
    """
    if type(event.body) not in _SIGNATURES:
        return None
    signature = _signature(event)
    alike = [other for other in near if _could_be(event, other) and _signature(other) == signature]
    # One of its own route that has an id where this has none was reported by no other.
    own = sum(
        other.route == event.route and bool(other.dedup) == bool(event.dedup) for other in alike
    )
    others = [other for other in alike if other.route != event.route]
    return others[own] if len(others) > own else None


def find_typed(event: Event, near: Sequence[Event]) -> Event | None:
    """Return the report of a shell's hook on a command that is in its history too, or None."""
    for other in near:
        # A hook reports the end of a command, a history its begin.
        took_ms = other.body.duration_ms if isinstance(other.body, Command) else None
        is_near = abs(other.at_ms - (took_ms or 0) - event.at_ms) <= WINDOW_MS
        if is_near and _signature(other) == _signature(event):
            return other
    return None


def path_written(event: Event) -> str:
    """Return the file that an event writes, "" for others: absolute, if the folder is known."""
    body = event.body.of if isinstance(event.body, Intent) else event.body
    return _absolute(event, body.path) if isinstance(body, FileWrite) else ""


def _could_be(event: Event, other: Event) -> bool:
    is_by_import = is_imported(event) or is_imported(other)
    # Two ids of a client's own making that differ are two events, however alike.
    return (
        type(other.body) is type(event.body)
        and other.session == event.session
        and other.id != event.id
        and abs(other.at_ms - event.at_ms) <= window_ms(event, is_by_import=is_by_import)
        and not (event.dedup and other.dedup and other.route != event.route)
        # What one hook says twice is two events, unless a plugin runs the same hook.
        and (
            _has_two_hooks(event)
            or is_imported(other)
            or event.route.removesuffix(BY_PLUGIN) == other.route.removesuffix(BY_PLUGIN)
        )
    )


def _has_two_hooks(event: Event) -> bool:
    """Return True if another hook, or an import, may report the same event by another route."""
    client = clients().get(event.client)
    return is_imported(event) or (client is not None and client.reports_twice)


def _signature(event: Event) -> object:
    """Return what two reports of one event of these kinds have in common."""
    return _SIGNATURES[type(event.body)](event, event.body)


def _absolute(event: Event, path: str) -> str:
    base = event.cwd or next(iter(event.roots), "")
    return posixpath.normpath(posixpath.join(base, path))


# The bodies are distinguished by the table's keys, which the type checker cannot follow: hence Any.
_SIGNATURES: Mapping[type, Callable[[Event, Any], object]] = {
    SessionStart: lambda _, body: body.parent_session,
    SessionEnd: lambda *_: "",
    Prompt: lambda _, body: body.text.strip(),
    Reply: lambda _, body: body.text.strip(),
    FileWrite: lambda event, body: _absolute(event, body.path),
    FileRead: lambda event, body: tuple(_absolute(event, path) for path in body.paths),
    Command: lambda _, body: body.command.strip(),
    Search: lambda _, body: (body.where, body.query.strip()),
    ToolUse: lambda _, body: _SEPARATORS.split(body.tool)[-1],
    Delegation: lambda _, body: (body.agent, body.task, bool(body.result)),
    Intent: lambda _, body: (body.tool, body.of),
    Outcome: lambda _, body: (body.tool, body.output.strip()),
    Compaction: lambda _, body: body.summary,  # a client's records need not say what began it
    Custom: lambda _, body: (body.name, body.text),
}
