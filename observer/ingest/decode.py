"""Decodes the bytes of a spool entry into events: step 3 of ingestion.

The same bytes always give the same events. What cannot be decoded raises `Undecodable`, and nothing
else is ever raised.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

from msgspec import structs

from observer import __version__
from observer.clients.client import Client
from observer.clients.envelope import Envelope, Object, parse
from observer.clients.payload import NOTHING, quoted
from observer.clients.registry import clients
from observer.core.errors import Undecodable
from observer.core.events import Compaction, Custom, Event, Reply, SessionEnd, SessionStart
from observer.core.json_text import dump, load
from observer.core.routes import plugin_route
from observer.ingest.truncate import cut_texts

SLACK = 4
"""A string longer than this many caps is cut before redaction, to more than `truncate` keeps."""

NAME_CHARACTERS = 200
"""A longer session, turn or dedup key is replaced by its beginning and a digest."""

_NAMES = ("client", "session", "agent", "turn", "host", "route", "dedup", "model")
PLUGIN = "plugin"
"""Last argument of a hook that a client's plugin runs; `observer install` adds the same hook."""
UPCOMING: Mapping[str, str] = {"PreToolUse": "PostToolUse"}
"""Events that come before a call, and what reports its end."""
_ENDINGS = frozenset({"tool_response", "error"})
_WORDLESS = (SessionStart, SessionEnd, Reply, Compaction, Custom)
_UNKNOWN = re.compile(r"unknown client ['\"](.{1,80}?)['\"] \(")
_TRACE = re.compile(r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_TOO_DEEP = "the payload is nested too deep"


def decode(entry_id: str, data: bytes, at_ms: int, *, cap_bytes: int) -> tuple[Event, ...]:
    """Turn one spool entry into the events it reports; none where the client reports nothing.

    Args:
        entry_id: the entry's name, id of the first event; further ones get `.1`, `.2` …
        data: an envelope.
        at_ms: when the entry was written.
        cap_bytes: what `truncate` will keep of an event; only giant strings are cut here.

    Raises:
        Undecodable: the data is not an envelope, of an unknown client, or not its payload.
    """
    envelope = parse(entry_id, data, at_ms)
    events = _numbered(envelope)
    if len(data) > SLACK * cap_bytes:
        return tuple(cut_texts(event, SLACK * cap_bytes) for event in events)
    return events


def decoders() -> str:
    """Return a name for all that decodes: it changes with the version and with each client."""
    return " ".join((__version__, *sorted(clients())))


def unknown_client(reason: str) -> str:
    """Return the client for which an entry could not be decoded, "" if that was not the reason."""
    found = _UNKNOWN.match(reason)
    return found[1] if found else ""


def decode_upcoming(entry_id: str, data: bytes, at_ms: int, *, cap_bytes: int) -> tuple[Event, ...]:
    """Turn the report of a tool call that is about to be made into the events it will be.

    How the call ends is not known, and nothing in those events says so. There are none where the
    entry reports something else. Arguments and errors are those of `decode`.
    """
    envelope = parse(entry_id, data, at_ms)
    payload = _payload(envelope.payload)
    ended = UPCOMING.get(envelope.event)
    if ended is None or not payload:
        return ()
    known = {key: value for key, value in payload.items() if key not in _ENDINGS}
    try:
        changed = dump({**known, "hook_event_name": ended})
    except RecursionError as error:
        raise Undecodable(_TOO_DEEP) from error
    ahead = structs.replace(envelope, event=ended, payload=changed)
    if len(changed) > SLACK * cap_bytes:
        return ()
    return _numbered(ahead)


def decode_call(envelope: Envelope, payload: Object, *, cap_bytes: int) -> tuple[Event, ...]:
    """Turn a hook call whose payload is parsed, and of that client, into the events it reports.

    Raises:
        Undecodable: it is not a payload of the client.
    """
    try:
        events = _number(_client(envelope.client).read(envelope, payload))
        return tuple(cut_texts(event, SLACK * cap_bytes) for event in events)
    except RecursionError as error:
        raise Undecodable(_TOO_DEEP) from error


def _numbered(envelope: Envelope) -> tuple[Event, ...]:
    try:
        return _number(_read(envelope))
    except RecursionError as error:
        raise Undecodable(_TOO_DEEP) from error


def _read(envelope: Envelope) -> Iterable[Event]:
    client = _client(envelope.client)
    if not client.takes_json:
        return client.read(envelope, NOTHING)
    payload = _payload(envelope.payload)
    host = client.host(envelope, payload) if client.host else client.name
    events = tuple(clients().get(host, client).read(envelope, payload))
    if not payload and not all(isinstance(event.body, _WORDLESS) for event in events):
        raise Undecodable(f"{envelope.client} {envelope.event} with an empty payload")
    events = tuple(_correlated(event, envelope, payload) for event in events)
    # Who ran the hook need not be a client that we know.
    named = {} if host in clients() else {"client": host}
    events = tuple(structs.replace(event, **named) for event in events) if named else events
    if envelope.args[-1:] == (PLUGIN,):
        return [structs.replace(event, route=plugin_route(event.route)) for event in events]
    return events


def _correlated(event: Event, envelope: Envelope, payload: Object) -> Event:
    """Return an event with the model and the trace that its hook names."""
    model = payload.get("model")
    if isinstance(event.body, SessionStart) or not isinstance(model, str):
        model = ""  # a session's start names it itself
    trace = envelope.env.get("TRACEPARENT", "")
    trace = trace if _TRACE.fullmatch(trace) else ""
    return structs.replace(event, model=model, trace=trace) if model or trace else event


def _client(name: str) -> Client:
    client = clients().get(name)
    if client is None:
        raise Undecodable(f"unknown client {quoted(name)}", hint=f"known: {', '.join(clients())}")
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


def _number(events: Iterable[Event]) -> tuple[Event, ...]:
    return tuple(_named(event if n == 0 else _further(event, n)) for n, event in enumerate(events))


def _further(event: Event, n: int) -> Event:
    dedup = event.dedup and f"{event.dedup}.{n}"
    return structs.replace(event, id=f"{event.id}.{n}", dedup=dedup)


def _named(event: Event) -> Event:
    """Shorten names longer than any client gives: they are indexed, and never cut later."""
    long = {each: name for each in _NAMES if len(name := getattr(event, each)) > NAME_CHARACTERS}
    return structs.replace(event, **{k: _digest(v) for k, v in long.items()}) if long else event


def _digest(name: str) -> str:
    return f"{name[:100]}…{hashlib.sha256(name.encode()).hexdigest()}"
