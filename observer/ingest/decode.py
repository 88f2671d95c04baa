"""Decodes the bytes of a spool entry into events (step 3 of ingestion), and owns their size.

The same bytes always give the same events. What cannot be decoded raises `Undecodable`, and nothing
else is ever raised.

No payload, however large, makes a large row: `cut_texts` comes before redaction, so that no pattern
meets a gigabyte, and `truncate` after it, exactly to the cap. What is cut is the middle, and the
text says so. The names of an event (`id`, `session`, `dedup` …) are short by then and stay whole.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from observer.core.routes import plugin_route
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

    Raises:
        Undecodable: the data is not an envelope, of an unknown client, or not its payload.
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
    if len(changed) > SLACK * cap_bytes:
        return ()
    return _read(structs.replace(envelope, event=ended, payload=changed))


def decode_call(envelope: Envelope, payload: Object, *, cap_bytes: int) -> tuple[Event, ...]:
    """Turn a hook call whose payload is parsed, and of that client, into the events it reports.

    Raises:
        Undecodable: it is not a payload of the client.
    """
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
                fields["route"] = plugin_route(event.route)
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
    """Return the events that are read, each with an id of its own, and with short names.

    Names longer than any client gives are indexed, and never cut later.
    """
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
_CUT = re.compile(r"\[… ([\d,]{1,20}) characters cut …\]")
_OPEN, _CLOSE = "<private>", "</private>"
_T = TypeVar("_T")


class _Content(Value):
    """What of an event can be long."""

    body: AnyBody
    cwd: str
    roots: tuple[str, ...]


def truncate(event: Event, cap_bytes: int) -> Event:
    """Return the event with at most `cap_bytes` of text (UTF-8) in body, cwd and roots together.

    Short texts are kept whole; long ones share what is left, head and tail. Idempotent.

    Args:
        event: redacted: a cut through a secret would hide it from the patterns.
        cap_bytes: 1,024 at least.
    """
    content = _content(event)
    sizes, elements = _measured(content)
    if sum(sizes) + ELEMENT_COST * elements <= cap_bytes:
        return event
    thinned = _with_unlisted(_Thinner(cap_bytes // ELEMENT_BYTES).thin(content), content)
    sizes, elements = _measured(thinned)
    limit = _level(sorted(sizes), cap_bytes - ELEMENT_COST * elements)
    return _with(event, _mapped(thinned, lambda text: cut(text, limit)))


def cut_texts(event: Event, most: int) -> Event:
    """Cut every text beyond `most` characters to its first and last `most / 2`.

    A `<private>` span that the cut falls into stays private on both sides of it.
    """

    def change(text: str) -> str:
        if len(text) <= most:
            return text
        each = most // 2
        head, tail = text[:each], text[-each:]
        if _is_open(head):
            head += _CLOSE
        if _is_open(text[:-each]):
            tail = _OPEN + tail
        return head + _mark(len(text) - 2 * each) + tail

    return _with(event, _mapped(_content(event), change))


def cut(text: str, limit_bytes: int) -> str:
    """Return head and tail of a text in at most `limit_bytes` of UTF-8, the cut stated between."""
    data = text.encode()
    if len(data) <= limit_bytes:
        return text
    mark = _mark(len(text) + _cut_before(text))
    room = limit_bytes - _bytes(mark)
    if room < _bytes(mark):
        return data[: limit_bytes - 3].decode(errors="ignore") + "…"
    head = data[: room // 2].decode(errors="ignore")
    tail = data[-(room // 2) :].decode(errors="ignore")
    middle = text[len(head) : -len(tail)]
    return head + _mark(len(middle) + _cut_before(middle)) + tail


def _content(event: Event) -> _Content:
    return _Content(body=event.body, cwd=event.cwd, roots=event.roots)


def _with(event: Event, content: _Content) -> Event:
    return structs.replace(event, body=content.body, cwd=content.cwd, roots=content.roots)


def _mark(characters: int) -> str:
    return f"[… {characters:,} characters cut …]"


def _cut_before(text: str) -> int:
    """Count what earlier cuts took, less the marks that stand for it."""
    return sum(int(found[1].replace(",", "")) - len(found[0]) for found in _CUT.finditer(text))


def _is_open(text: str) -> bool:
    lowered = text.lower()
    return lowered.rfind(_OPEN) > lowered.rfind(_CLOSE)


class _Thinner:
    """Drops the elements of lists beyond a number for the whole event, and says how many."""

    def __init__(self, elements: int) -> None:
        self._left = elements

    def thin(self, value: _T, *, depth: int = 0) -> _T:
        if isinstance(value, Value):
            return cast("_T", _rebuilt(value, lambda field: self.thin(field, depth=depth)))
        if not isinstance(value, tuple):
            return value
        kept: list[object] = []
        for one in value if depth == 0 else value[:_PER_LIST]:
            if self._left <= 0:
                break
            self._left -= 1
            kept.append(self.thin(one, depth=depth + 1) if isinstance(one, Value) else one)
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


def _level(sizes: list[int], total: int) -> int:
    """Return the largest size at which texts may be cut so that all together fit `total`.

    Source: water filling; `sizes` ascending.
    """
    left = total
    for position, size in enumerate(sizes):
        share = left // (len(sizes) - position)
        if size > share:
            return share
        left -= size
    return total


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
            sizes.append(_bytes(part))
        elif isinstance(part, tuple):
            elements += len(part)
            waiting.extend(part)
        elif isinstance(part, Value):
            waiting.extend(structs.astuple(part))
    return sizes, elements


def _bytes(text: str) -> int:
    return len(text.encode())
