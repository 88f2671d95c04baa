"""The one door through which every event passes before it is kept: no secret gets further.

Step 4 of the way. Only the secret is replaced, by `[redacted:<class>]`, and what a person put
between `<private>` tags by `[private]`. It never raises, costs linear time, and doing it twice
changes nothing.
"""

from __future__ import annotations

import hashlib
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Literal, TypeVar, get_args, get_origin

import msgspec

from observer.redaction.issued import (
    ANCHORS,
    context_secrets,
    key_file_secrets,
    long_runs,
    token_secrets,
)
from observer.redaction.named import GATES, named_secrets
from observer.redaction.plain import plain_reading
from observer.redaction.seen import SEEN
from observer.redaction.shapes import SHAPES, Span
from observer.redaction.unnamed import typed_secrets, unnamed_secrets

_SHORTEST = 8
"""Characters of the shortest thing that is ever replaced, such as `pwd=abcd`."""
_SHORT = 160
_MOST_KEPT = 4096
_harmless: dict[str, int] = {}
"""Short texts that come with every event, by the version of `SEEN` of which they held no secret."""
_Struct = TypeVar("_Struct", bound=msgspec.Struct)


def redact(value: _Struct) -> _Struct:
    """Return an event, or its place, without secrets; the same object when there were none.

    `id` stays, by which replays are recognised; another identity (session, dedup, …) that holds a
    secret becomes a digest.
    """
    changes = {}
    for name, clean in _plan(type(value)):
        old = getattr(value, name)
        if old and (new := clean(old)) is not old:
            changes[name] = new
    return msgspec.structs.replace(value, **changes) if changes else value


def redact_text(text: str) -> str:
    """Replace every secret and private span in a text."""
    if len(text) < _SHORTEST or (len(text) <= _SHORT and _harmless.get(text) == SEEN.version):
        return text
    # What was replaced may have stood between two halves of another secret's surroundings.
    while (cleaned := _once(text)) != text:
        text = cleaned
    if len(text) <= _SHORT:
        if len(_harmless) >= _MOST_KEPT:
            _harmless.clear()
        _harmless[text] = SEEN.version
    return text


def redact_bytes(data: bytes) -> bytes:
    """Replace secrets in a payload that could not be decoded; other bytes stay as they are."""
    text = data.decode("utf-8", "surrogateescape")
    return redact_text(text).encode("utf-8", "surrogateescape")


def secret_class(text: str) -> str | None:
    """Return the class of the first secret in a text, for refusing an explicit write."""
    spans = _merged(_secrets(text))
    return spans[0].name if spans else None


# --- text ----------------------------------------------------------------------------------------


def _once(text: str) -> str:
    low = _lower(text)
    if "private>" in low or "private\\u003e" in low:
        text = _without_private(text, low)
    spans = _secrets(text)
    if not spans:
        return text
    parts = []
    at = 0
    for span in _merged(spans):
        parts += [text[at : span.start], f"[redacted:{span.name}]"]
        at = span.end
    return "".join(parts) + text[at:]


def _lower(text: str) -> str:
    """Return the text in lower case at equal offsets: one character alone grows when lowered."""
    low = text.lower()
    return low if len(low) == len(text) else text.replace("\u0130", "i").lower()


def _secrets(text: str, readings: int = 2) -> list[Span]:
    """Return the secrets of a text, and of what it and its plain reading hide in escapes."""
    runs = long_runs(text)
    low = _lower(text)
    found = _found(text, low, runs)
    # JSON in JSON in a URL hides twice; deeper is nobody's form, and nobody encodes a line twice.
    if readings and (reading := plain_reading(text, low, runs if readings > 1 else "")):
        found += reading.located(_secrets(reading.text, readings - 1))
    return found


_PARTS = (
    "pass", "sess", "sig", "log", "con", "auth", "com", "ode", "cre", "key", "ach", "hmac", "ook",
    "ken", "sen", "otp", "srf",
)  # fmt: skip
"""What several gates have in common: without it there is none of them."""


def _by_part(gates: Iterable[str]) -> Mapping[str, Sequence[str]]:
    made: dict[str, list[str]] = {}
    for gate in dict.fromkeys(gates):
        made.setdefault(next((part for part in _PARTS if part in gate), gate), []).append(gate)
    return made


_GATES = _by_part((*ANCHORS, *GATES))
_ASCII_GATES = _by_part(gate for gate in (*ANCHORS, *GATES) if gate.isascii())


def _found(text: str, low: str, runs: str) -> list[Span]:
    parts = _ASCII_GATES if low.isascii() else _GATES
    gates = {
        each for part in filter(low.__contains__, parts) for each in parts[part] if each in low
    }
    found = [
        *token_secrets(text, runs),
        *key_file_secrets(text, low, runs),
        *context_secrets(text, low, gates),
        *named_secrets(text, low, gates),
    ]
    # What is found where nothing names it may be no secret elsewhere.
    SEEN.learn(part for each in found for part in text[each.start : each.end].split())
    return [*found, *typed_secrets(text), *SEEN.within(text), *unnamed_secrets(text)]


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Join overlapping spans, in order of position, by the class found first: the more specific."""
    ranked = sorted(enumerate(spans), key=lambda found: found[1].start)
    merged: list[tuple[int, Span]] = []
    for rank, span in ranked:
        if merged and span.start < merged[-1][1].end:
            best, last = merged[-1]
            name = span.name if rank < best else last.name
            merged[-1] = min(rank, best), Span(last.start, max(last.end, span.end), name)
        else:
            merged.append((rank, span))
    return [span for _, span in merged]


_TAG = re.compile(r"(?:<|\\u003c)(?P<closes>/)?private(?:>|\\u003e)")


def _without_private(text: str, low: str) -> str:
    parts = []
    at = depth = 0
    for tag in _TAG.finditer(low):
        if not tag["closes"]:
            if depth == 0:
                parts += [text[at : tag.start()], "[private]"]
            depth += 1
        elif depth:
            depth -= 1
            at = tag.end()
    return "".join(parts) + ("" if depth else text[at:])


# --- values --------------------------------------------------------------------------------------

_KEPT = frozenset({"id"})
_IDENTITIES = frozenset({"session", "agent", "turn", "dedup", "route", "parent_session", "key"})


@cache
def _plan(kind: type[msgspec.Struct]) -> tuple[tuple[str, Callable[[object], object]], ...]:
    """Return the fields of a struct that may hold text, and how each is cleaned."""
    special = dict.fromkeys(_IDENTITIES, _clean_identity) | {"uuid": _clean_uuid}
    return tuple(
        (field.name, special.get(field.name, _clean))
        for field in msgspec.structs.fields(kind)
        if field.name not in _KEPT and _may_hold_text(field.type)
    )


def _may_hold_text(annotation: object) -> bool:
    if get_origin(annotation) is Literal:
        return False
    if isinstance(annotation, type) and issubclass(annotation, (str, msgspec.Struct)):
        return True
    return any(_may_hold_text(part) for part in get_args(annotation))


def _clean(value: object) -> object:
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, msgspec.Struct):
        return redact(value)
    if isinstance(value, dict):  # JSON
        cleaned = {name: _clean(part) for name, part in value.items()}
        return value if all(map(operator.is_, cleaned.values(), value.values())) else cleaned
    if not isinstance(value, tuple | list):
        return value
    parts = [_clean(part) for part in value]
    return value if all(map(operator.is_, parts, value)) else type(value)(parts)


def _clean_uuid(value: object) -> object:
    """Return what names an item in all homes; whatever else stands in its place is cleaned."""
    return value if isinstance(value, str) and SHAPES.uuid.fullmatch(value) else _clean(value)


def _clean_identity(value: object) -> object:
    if not isinstance(value, str) or redact_text(value) == value:
        return value
    return "redacted-" + hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:16]
