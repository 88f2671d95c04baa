"""Owns the way from the bytes of a spool entry to events.

Step 3 of an event's way. Promise: the same bytes always give the same events; what cannot be
understood raises `Undecodable`, and nothing else is ever raised.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from msgspec import structs

from observer.clients import CLIENTS, Client
from observer.clients.envelope import Envelope, parse
from observer.clients.payload import NOTHING, Object, quoted, text
from observer.core.errors import Undecodable
from observer.core.events import Compaction, Custom, Event, Reply, SessionEnd, SessionStart
from observer.core.json_text import dump, load
from observer.ingest.truncate import cut_texts

SLACK = 4
"""A string longer than this many caps is cut before redaction; what `fit` keeps lies inside."""

NAME_CHARACTERS = 200
"""A longer session, turn or dedup key is replaced by its beginning and a digest."""

_NAMES = ("client", "session", "agent", "turn", "host", "route", "dedup")
UPCOMING: Mapping[str, str] = {"PreToolUse": "PostToolUse"}
"""Events that come before a call, and what reports its end."""
_ENDINGS = frozenset({"tool_response", "error"})
_WORDLESS = (SessionStart, SessionEnd, Reply, Compaction, Custom)
_KIRO = frozenset({"kiro", "kiro-cli"})
_KIRO_CLI_EVENTS = frozenset(
    {"agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse", "stop"}
)
_TOO_DEEP = "the payload is nested too deep"


def decode(entry_id: str, data: bytes, at_ms: int, *, cap_bytes: int) -> tuple[Event, ...]:
    """Turn one spool entry into the events it reports; none where the client reports nothing.

    Args:
        entry_id: the entry's name, id of the first event; further ones get `.1`, `.2` …
        data: an envelope.
        at_ms: when the entry was written.
        cap_bytes: what `fit` will keep of an event; only giant strings are cut here.

    Raises:
        Undecodable: no envelope, an unknown client, or no payload of that client.
    """
    envelope = parse(entry_id, data, at_ms)
    events = _numbered(envelope)
    if len(data) > SLACK * cap_bytes:
        return tuple(cut_texts(event, SLACK * cap_bytes) for event in events)
    return events


def decode_upcoming(entry_id: str, data: bytes, at_ms: int, *, cap_bytes: int) -> tuple[Event, ...]:
    """Turn the report of a call that is about to be made into the event that it will be.

    How the call ends is not known: nothing in those events says so. None where the report is of
    something else.

    Args and raises: as `decode`.
    """
    envelope = parse(entry_id, data, at_ms)
    payload = _payload(envelope.payload)
    ended = UPCOMING.get(envelope.event)
    if ended is None or not payload:
        return ()
    known = {key: value for key, value in payload.items() if key not in _ENDINGS}
    try:
        told = dump({**known, "hook_event_name": ended})
    except RecursionError as error:
        raise Undecodable(_TOO_DEEP) from error
    ahead = structs.replace(envelope, event=ended, payload=told)
    if len(told) > SLACK * cap_bytes:
        return ()
    return _numbered(ahead)


def _numbered(envelope: Envelope) -> tuple[Event, ...]:
    try:
        return _number(_read(envelope))
    except RecursionError as error:
        raise Undecodable(_TOO_DEEP) from error


def _read(envelope: Envelope) -> Iterable[Event]:
    client = _client(envelope.client)
    if not client.json:
        return client.read(envelope, NOTHING)
    payload = _payload(envelope.payload)
    host = _host(envelope, payload)
    events = tuple(CLIENTS.get(host, client).read(envelope, payload))
    if not payload and not all(isinstance(event.body, _WORDLESS) for event in events):
        raise Undecodable(f"{envelope.client} {envelope.event} with an empty payload")
    if host in CLIENTS:
        return events
    return [structs.replace(event, client=host) for event in events]


def _client(name: str) -> Client:
    client = CLIENTS.get(name)
    if client is None:
        raise Undecodable(f"unknown client {quoted(name)}", hint="one of: " + ", ".join(CLIENTS))
    return client


def _payload(data: bytes) -> Object:
    if not data.strip():
        return NOTHING
    try:
        payload = load(data)
    except ValueError as error:
        raise Undecodable(f"the payload is not JSON: {error}") from error
    except RecursionError as error:
        raise Undecodable(_TOO_DEEP) from error
    if not isinstance(payload, dict):
        raise Undecodable(f"the payload is a JSON {type(payload).__name__}, not an object")
    return payload


def _host(envelope: Envelope, payload: Object) -> str:
    """Return who really ran the hook: several clients run the hooks installed for another."""
    if envelope.client == "claude-code":
        return _host_of_claude_hooks(envelope.env, payload)
    if envelope.client in _KIRO:
        return _kiro_harness(payload, named=envelope.client)
    return envelope.client


def _host_of_claude_hooks(env: Mapping[str, str], payload: Object) -> str:
    if "CURSOR_VERSION" in env or "cursor_version" in payload:
        return "cursor"
    if "DEVIN_PROJECT_DIR" in env:
        return "devin"
    if "sessionId" in payload:
        return "vscode" if "hookEventName" in payload else "copilot"
    return "claude-code"


def _kiro_harness(payload: Object, *, named: str) -> str:
    # The client's own migration copies our commands from one harness's format to the other's.
    if text(payload, "session_id").startswith("sess_"):
        return "kiro"
    return "kiro-cli" if text(payload, "hook_event_name") in _KIRO_CLI_EVENTS else named


def _number(events: Iterable[Event]) -> tuple[Event, ...]:
    return tuple(_named(event if n == 0 else _further(event, n)) for n, event in enumerate(events))


def _further(event: Event, n: int) -> Event:
    dedup = event.dedup and f"{event.dedup}.{n}"
    return structs.replace(event, id=f"{event.id}.{n}", dedup=dedup)


def _named(event: Event) -> Event:
    """Shorten names that no client gives: they are kept whole from here on, and indexed."""
    long = {each: name for each in _NAMES if len(name := getattr(event, each)) > NAME_CHARACTERS}
    return structs.replace(event, **{k: _digest(v) for k, v in long.items()}) if long else event


def _digest(name: str) -> str:
    return f"{name[:100]}…{hashlib.sha256(name.encode()).hexdigest()}"
