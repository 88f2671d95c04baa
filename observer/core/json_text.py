"""JSON as clients write it, which a strict parser refuses, and as a person reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import orjson

from observer.core.text import counted, one_line

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|[\"\\/bfnrt]|u[0-9a-fA-F]{4}|(?P<unknown>))"
)
_REPAIRED = {"half": rb"\ufffd", "unknown": rb"\\"}
_decode = msgspec.json.Decoder().decode


def load(data: bytes | str) -> Any:  # noqa: ANN401 - any JSON value
    """Parse JSON as clients write it, repaired; an integer beyond 64 bits becomes a float.

    Raises ValueError: not JSON; RecursionError: nested beyond the interpreter's limit.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        raw = data.encode(errors="replace") if isinstance(data, str) else data
        return _decode(repair_encoding(raw))  # separates too deep nesting from invalid JSON


def dump(value: object) -> bytes:
    """Return untyped JSON, compact.

    Raises TypeError: it is not JSON; RecursionError: it is nested beyond the interpreter's limit;
    UnicodeEncodeError: a string holds half of a surrogate pair.
    """
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:  # deeper than 254 levels, or an integer beyond 64 bits
        return msgspec.json.encode(value)


def repair_encoding(data: bytes) -> bytes:
    """Return JSON without a byte order mark, and U+FFFD for what is not a character.

    These are bytes that are not UTF-8 and halves of surrogate pairs, such as of an emoji that was
    cut. A backslash that begins no escape stands for itself.
    """
    data = data.decode("utf-8-sig", "replace").encode()
    return _ESCAPE.sub(lambda found: _REPAIRED.get(found.lastgroup or "", found[0]), data)


_MOST_CHARS = 16_000
_VALUE_CHARS = 160
_ENTRIES = 4
_DEPTH = 4
_MAIN = tuple(
    """
    query q pattern search prompt question questions title name subject task url uri path file_path
    filename command cmd skill description text message id
    """.split()  # noqa: SIM905 - as all word lists are written here
)
"""Fields that say best what a tool was asked, the best first."""


def read(text: str) -> dict[str, Any] | list[Any] | None:
    """Return the object or list that a text holds; None if it holds none."""
    if text[:1] not in ("{", "[") or len(text) > _MOST_CHARS:
        return None
    try:
        value: dict[str, Any] | list[Any] = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value


def object_in(text: str) -> dict[str, Any]:
    """Return the object that a text of any length holds; an empty one if it holds none."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def texts_in(text: str) -> str:
    """Return the strings that an object holds at any depth, a line each at least; else the text."""
    found: list[str] = []
    left: list[object] = [object_in(text)]
    for value in left:
        if isinstance(value, dict | list):
            left += value.values() if isinstance(value, dict) else value
        elif isinstance(value, str):
            found.append(value)
    return "\n".join(found) if found else text


def strings(value: object, field: str = "", *, names: bool = False) -> Iterator[tuple[str, str]]:
    """Yield each string in JSON behind its field's name, with `names` also that name before it."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            if names:
                yield field, name
            yield from strings(inner, name, names=names)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings(inner, field, names=names)


def pairs(value: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the fields of an object that say something, each in words."""
    shown = ((key, said(one)) for key, one in value.items())
    return [(one_line(key, 40), words) for key, words in shown if words]


def main_of(value: dict[str, Any]) -> str:
    """Return the argument that says best what was asked; nothing where there is none."""
    shown = dict(pairs(value))
    return next((shown[key] for key in (*_MAIN, *shown) if key in shown), "")


def said(value: object, depth: int = _DEPTH) -> str:
    """Return a value in words: an object as `key: value`, a list by its first entries."""
    if value is None or value == "" or not depth:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        fields = ((one_line(str(key), 40), said(one, depth - 1)) for key, one in value.items())
        return "; ".join(f"{key}: {words}" for key, words in fields if words)
    if isinstance(value, list):
        words = [shown for one in value if (shown := _entry(one, depth))]
        more = len(words) - _ENTRIES
        rest = f" and {counted(more, 'more').removesuffix('s')}" if more > 0 else ""
        return f"{', '.join(words[:_ENTRIES])}{rest}"
    return one_line(str(value), _VALUE_CHARS)


def _entry(value: object, depth: int) -> str:
    """Return an entry of a list: an object by its name, if it has one."""
    if isinstance(value, dict):
        return main_of(value) or said(value, depth - 1)
    return said(value, depth - 1)


def plain(text: str) -> str:
    """Return JSON text in words, any other text as it is."""
    value = read(text.strip())
    if value is None:
        return text
    if isinstance(value, dict):
        return "\n".join(f"{key}: {words}" for key, words in pairs(value))
    return "\n".join(filter(None, (_entry(one, _DEPTH) for one in value)))
