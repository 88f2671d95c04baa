"""Reads fields of a client's JSON: typed, and defined for any value; absent is empty."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress

from observer.clients.envelope import Envelope, Json, Object
from observer.core import json_text
from observer.core.events import AnyBody, Event, Prompt
from observer.core.value import MOST_TOKENS, TokenUsage

NOTHING: Object = {}

_LARGEST = 2**53
_QUOTABLE = 4000
_COUNTS = {
    "input": ("input", "input_tokens"),
    "output": ("output", "output_tokens"),
    "cache_read": ("cache_read", "cache_read_tokens", "cache_read_input_tokens"),
    "cache_write": ("cache_write", "cache_write_tokens", "cache_creation_input_tokens"),
}
_BLOCK_KEYS = (
    *("text", "content", "result", "results", "output", "filenames", "matches", "stdout"),
    *("message", "error"),
)


def event_of(
    envelope: Envelope, body: AnyBody, *, client: str, session: str, cwd: str, name: str = ""
) -> Event:
    """Return what a hook call reports; the envelope fills in `session`, `cwd` and `name`."""
    return Event(
        id=envelope.id,
        at_ms=envelope.at_ms,
        client=client,
        body=body,
        session=session or envelope.stand_in_session,
        cwd=cwd or envelope.cwd,
        host=envelope.host,
        route=f"{envelope.client}/{name or envelope.event}",
        author="person" if isinstance(body, Prompt) else "agent",
    )


def dump(value: Json) -> str:
    """Return compact JSON text; nothing for an empty value; raise as `json_text.dump`."""
    return json_text.dump(value).decode() if value not in (None, {}, [], "") else ""


def quoted(value: Json, limit: int = 80) -> str:
    """Return a value as an error message may show it: without secrets, printable, cut."""
    from observer.redaction.redact import redact_text  # noqa: PLC0415 - 60 ms, of errors only

    return repr(redact_text(str(value)[:_QUOTABLE])[:limit])


def rest(given: Object, *, beside: Collection[str]) -> str:
    """Return the fields that are not in `beside` as JSON text: what an unknown event says."""
    return dump({key: value for key, value in given.items() if key not in beside})


def text(given: Object, *names: str) -> str:
    """Return the first of these fields that holds something, as text."""
    for name in names:
        value = given.get(name)
        if isinstance(value, str):
            if value:
                return value
        elif value is not None:
            return dump(value)
    return ""


def number(given: Object, *names: str) -> int | None:
    """Return the first of these fields that is a whole number of sane size, digits included."""
    for name in names:
        value = given.get(name)
        if isinstance(value, str) and len(value) < 16:
            value = int(value) if value.removeprefix("-").isdecimal() else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            return int(value) if -_LARGEST < value < _LARGEST else None
    return None


def span_ms(given: Object, *names: str) -> int | None:
    """Return a duration in milliseconds; a negative one is none."""
    found = number(given, *names)
    return found if found is None or found >= 0 else None


def token_usage(given: Object) -> TokenUsage | None:
    """Return the token counts in fields of these names; None if nothing was counted."""
    counts = {name: number(given, *names) or 0 for name, names in _COUNTS.items()}
    found = TokenUsage(**{name: min(max(n, 0), MOST_TOKENS) for name, n in counts.items()})
    return found if found != TokenUsage() else None


def flag(given: Object, name: str) -> bool | None:
    """Return a boolean field; None where it is absent or something else."""
    value = given.get(name)
    return value if isinstance(value, bool) else None


def inner(given: Object, name: str) -> Object:
    """Return an object field, also one sent as JSON inside a string."""
    value = given.get(name)
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        value = parsed(value)
    return value if isinstance(value, dict) else NOTHING


def parsed(value: str) -> Json:
    """Parse JSON inside a string; None if it is none; raise RecursionError if it is too deep."""
    with suppress(ValueError):
        found: Json = json_text.load(value)
        return found
    return None


def rows(given: Object, name: str) -> Iterator[Object]:
    """Yield the objects of a list field."""
    value = given.get(name)
    if isinstance(value, list):
        yield from (row for row in value if isinstance(row, dict))


def words(given: Object, name: str) -> tuple[str, ...]:
    """Return the strings of a list field; a bare string counts as a list of one."""
    value = given.get(name)
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def prose(value: Json) -> str:
    """Return what a tool answered as a person would read it: text, or the text of its blocks.

    An object gives its first filled field of `_BLOCK_KEYS`, and a page its title and address;
    anything else is shown as JSON.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(prose, value)))
    if isinstance(value, dict):
        keys = [key for key in _BLOCK_KEYS if key in value]
        if filled := next(filter(value.get, keys), ""):
            return prose(value[filled])
        if keys:
            return ""
        if (title := text(value, "title")) and (address := text(value, "url")):
            return f"{title} ({address})"
    return dump(value)


def joined(*parts: str) -> str:
    """Join the parts that say something, each on lines of its own."""
    return "\n".join(part.rstrip("\n") for part in parts if part.strip())
