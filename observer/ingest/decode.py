"""Decodes the bytes of a spool entry into events (step 3 of ingestion), and owns their size.

The same bytes always give the same events; what cannot be decoded raises `Undecodable` alone.

`cut_texts` comes before redaction, so that no pattern meets a gigabyte, and `truncate` after it,
exactly to the cap. What is cut is the middle, and the text says so; names of an event stay whole.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TypeVar, cast

from msgspec import structs

from observer import __version__
from observer.clients.client import Client
from observer.clients.envelope import Envelope, Object, parse
from observer.clients.payload import NOTHING, quoted
from observer.clients.registry import clients
from observer.core.errors import Undecodable
from observer.core.events import (
    AnyBody,
    Commit,
    Compaction,
    Custom,
    Event,
    Reply,
    SessionEnd,
    SessionStart,
)
from observer.core.json_text import dump, load
from observer.core.routes import BY_PLUGIN
from observer.core.value import Value

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

    Raises Undecodable: the data is not an envelope, of an unknown client, or not its payload.
    """
    events = _read(parse(entry_id, data, at_ms))
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

    They do not say how it ends, and there are none of anything else. Arguments and errors as of
    `decode`.
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
    if len(changed) > SLACK * cap_bytes:
        return ()
    return _read(structs.replace(envelope, event=ended, payload=changed))


def decode_call(envelope: Envelope, payload: Object, *, cap_bytes: int) -> tuple[Event, ...]:
    """Turn a hook call with a parsed payload into the events it reports. Raises Undecodable."""
    events = _numbered(lambda: _client(envelope.client).read(envelope, payload))
    return tuple(cut_texts(event, SLACK * cap_bytes) for event in events)


def _read(envelope: Envelope) -> tuple[Event, ...]:
    client = _client(envelope.client)
    if not client.takes_json:
        return _numbered(lambda: client.read(envelope, NOTHING))
    payload = _payload(envelope.payload)

    def read() -> Iterator[Event]:
        host = client.host(envelope, payload) if client.host else client.name
        events = tuple(clients().get(host, client).read(envelope, payload))
        if not payload and not all(isinstance(event.body, _WORDLESS) for event in events):
            raise Undecodable(f"{envelope.client} {envelope.event} with an empty payload")
        for event in events:
            # Who ran the hook need not be a client that we know.
            fields = {} if host in clients() else {"client": host}
            if envelope.args[-1:] == (PLUGIN,):
                fields["route"] = event.route + BY_PLUGIN
            yield structs.replace(_correlated(event, envelope, payload), **fields)

    return _numbered(read)


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


def _numbered(read: Callable[[], Iterable[Event]]) -> tuple[Event, ...]:
    """Return the events that are read, each with an id of its own, and with short names."""
    found = []
    try:
        for n, event in enumerate(read()):
            fields = {each: getattr(event, each) for each in _NAMES}
            if n:
                fields |= {"id": f"{event.id}.{n}", "dedup": event.dedup and f"{event.dedup}.{n}"}
            for each in _NAMES:
                if len(name := fields[each]) > NAME_CHARACTERS:
                    fields[each] = f"{name[:100]}…{hashlib.sha256(name.encode()).hexdigest()}"
            found.append(structs.replace(event, **fields))
    except RecursionError as error:
        raise Undecodable(_TOO_DEEP) from error
    return tuple(found)


ELEMENT_BYTES = 128
"""A list keeps at most one element per this many bytes of the cap."""

ELEMENT_COST = 2
"""What a list element counts beside its text, so that a million empty ones are large too."""

_PER_LIST = 16  # a list inside a list (symbols of one file) leaves room for its neighbours
_MARK, _CUT = "[… {:,} characters cut …]", re.compile(r"\[… ([\d,]{1,20}) characters cut …\]")
_OPEN, _CLOSE = "<private>", "</private>"
_T = TypeVar("_T")


class _Content(Value):
    """What of an event can be long."""

    body: AnyBody
    cwd: str
    roots: tuple[str, ...]


def truncate(event: Event, cap_bytes: int) -> Event:
    """Return a redacted event with at most `cap_bytes` of text (UTF-8) in body, cwd and roots.

    Of 1,024 at least. Short texts are kept whole; long ones share what is left. Idempotent.
    """
    content = _Content(body=event.body, cwd=event.cwd, roots=event.roots)
    sizes, elements = _measured(content)
    if sum(sizes) + ELEMENT_COST * elements <= cap_bytes:
        return event
    thinned = _with_unlisted(_thinned(content, iter(range(cap_bytes // ELEMENT_BYTES))), content)
    sizes, elements = _measured(thinned)
    limit = left = cap_bytes - ELEMENT_COST * elements
    # Source: water filling.
    for position, size in enumerate(sorted(sizes)):
        if size > (share := left // (len(sizes) - position)):
            limit = share
            break
        left -= size
    cutting = partial(cut, limit_bytes=limit)
    return structs.replace(event, **structs.asdict(_mapped(thinned, cutting)))


def cut_texts(event: Event, most: int) -> Event:
    """Cut texts beyond `most` characters to both halves of it, a private span private in each."""

    def change(text: str) -> str:
        if len(text) <= most:
            return text
        each = most // 2
        head, tail = text[:each], text[-each:]
        if _is_open(head):
            head += _CLOSE
        if _is_open(text[:-each]):
            tail = _OPEN + tail
        return head + _MARK.format(len(text) - 2 * each) + tail

    content = _Content(body=event.body, cwd=event.cwd, roots=event.roots)
    return structs.replace(event, **structs.asdict(_mapped(content, change)))


def cut(text: str, limit_bytes: int) -> str:
    """Return head and tail of a text in at most `limit_bytes` of UTF-8, the cut stated between."""
    data = text.encode()
    if len(data) <= limit_bytes:
        return text
    mark_bytes = len(_mark_of(text).encode())
    room = limit_bytes - mark_bytes
    if room < mark_bytes:
        return data[: limit_bytes - 3].decode(errors="ignore") + "…"
    head = data[: room // 2].decode(errors="ignore")
    tail = data[-(room // 2) :].decode(errors="ignore")
    return head + _mark_of(text[len(head) : -len(tail)]) + tail


def _mark_of(text: str) -> str:
    """Return what stands for a text that is cut, and for what marks in it stand for."""
    before = (int(found[1].replace(",", "")) - len(found[0]) for found in _CUT.finditer(text))
    return _MARK.format(len(text) + sum(before))


def _is_open(text: str) -> bool:
    lowered = text.lower()
    return lowered.rfind(_OPEN) > lowered.rfind(_CLOSE)


def _thinned(value: _T, budget: Iterator[int], depth: int = 0) -> _T:
    """Return a value without elements of lists beyond a budget for all; it says how many."""
    if isinstance(value, Value):
        return cast("_T", _rebuilt(value, lambda field: _thinned(field, budget, depth)))
    if not isinstance(value, tuple):
        return value
    kept: list[object] = []
    for one in value if depth == 0 else value[:_PER_LIST]:
        if next(budget, None) is None:
            break
        kept.append(_thinned(one, budget, depth + 1) if isinstance(one, Value) else one)
    return cast("_T", (*kept, *_ellipsis(value[len(kept) :])))


def _ellipsis(left_out: tuple[object, ...]) -> tuple[object, ...]:
    """Return an element of the same type that says how many are missing, or nothing."""
    if not left_out:
        return ()
    words = f"[… {len(left_out):,} more …]"
    sample = left_out[0]
    if isinstance(sample, Value):
        return (type(sample)(**{structs.fields(sample)[0].name: words}),)
    return (words,) if isinstance(sample, str) else ((words, ""),)


def _with_unlisted(thinned: _Content, whole: _Content) -> _Content:
    """Say of a commit what the files that were left out come to, in place of their number."""
    kept, body = thinned.body, whole.body
    if not (isinstance(kept, Commit) and isinstance(body, Commit)):
        return thinned
    if [one.path for one in kept.files] == [one.path for one in body.files]:
        return thinned
    listed = kept.files[:-1]
    left, (files, added, removed) = body.files[len(listed) :], body.unlisted
    unlisted = (
        files + len(left),
        added + sum(file.added or 0 for file in left),
        removed + sum(file.removed or 0 for file in left),
    )
    return structs.replace(thinned, body=structs.replace(kept, files=listed, unlisted=unlisted))


def _mapped(value: _T, change: Callable[[str], str]) -> _T:
    if isinstance(value, str):
        return cast("_T", change(value))
    if isinstance(value, tuple):
        return cast("_T", tuple(_mapped(each, change) for each in value))
    if isinstance(value, Value):
        return cast("_T", _rebuilt(value, lambda field: _mapped(field, change)))
    return value


def _rebuilt(value: Value, change: Callable[[object], object]) -> Value:
    return type(value)(**{name: change(getattr(value, name)) for name in value.__struct_fields__})


def _measured(value: Value) -> tuple[list[int], int]:
    """Return the size of every text inside, and how many list elements there are."""
    sizes: list[int] = []
    elements = 0
    waiting: list[object] = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            sizes.append(len(part.encode()))
        elif isinstance(part, tuple):
            elements += len(part)
            waiting.extend(part)
        elif isinstance(part, Value):
            waiting.extend(structs.astuple(part))
    return sizes, elements
