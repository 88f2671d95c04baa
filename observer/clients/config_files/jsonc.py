"""Edits of a JSON file that leave all other text as it is: order, layout, numbers and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import orjson

Path: TypeAlias = tuple[str | int, ...]
"""Keys of objects and places in lists, from the root inwards."""

_STRING = r'"(?:[^"\\]|\\.)*+"'
_COMMENT = r"//[^\n]*|/\*[\s\S]*?\*/"
_SPACE = re.compile(rf"(?:[\s\ufeff]|{_COMMENT})*+")
_SCALAR = re.compile(rf"{_STRING}|[^\s,\]}}/]+")
_BRACKETS = re.compile(rf"{_STRING}|{_COMMENT}|(?P<open>[\[{{])|(?P<close>[\]}}])")
_LOOSE = re.compile(rf"(?P<string>{_STRING})|{_COMMENT}|,(?=(?:\s|{_COMMENT})*+[\]}}])")
_FIRST_INDENT = re.compile(r"\n([ \t]+)[\"{\[]")


class _Member(NamedTuple):
    """A member of an object or list, as offsets into the text."""

    key: str | int
    start: int
    value: int
    end: int


def load(text: str) -> Any:  # noqa: ANN401 - what a foreign file holds is only known once looked at
    """Return the value of a text, {} of an empty one; raise ValueError if it is not JSON."""
    bare = _LOOSE.sub(lambda found: found["string"] or " ", text.removeprefix("\ufeff"))
    try:
        return orjson.loads(bare) if bare.strip() else {}
    except orjson.JSONDecodeError as error:
        raise ValueError(f"not valid JSON: {error}") from error


def has_comment(text: str) -> bool:
    """Return True if there is a comment in a text; one inside of a string is none."""
    return any(found[0].startswith("/") for found in _LOOSE.finditer(text))


def at(text: str, path: Path) -> Any:  # noqa: ANN401 - as `load`
    """Return the value at a path, or None if there is none."""
    value = load(text)
    for key in path:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value


def put(text: str, path: Path, value: object) -> str:
    """Return the text with the value at a path set; a place behind the end of a list appends to it.

    Objects that are missing on the way are made; raises ValueError if something else is there.
    """
    start = _space(text, 0)
    if start == len(text):
        begun = text and text.rstrip() + "\n"
        return begun + _layout(_nested(path, value), unit=_unit(text), indent="") + "\n"
    for depth, key in enumerate(path):
        member = _member(text, start, key)
        if member is None:
            if text[start] != ("{" if isinstance(key, str) else "["):
                where = ".".join(map(str, path[:depth]))
                raise ValueError(
                    f"{where} is not {'an object' if isinstance(key, str) else 'a list'}"
                )
            return _insert(text, start, key, _nested(path[depth + 1 :], value))
        start = member.value
    indent = _indent_at(text, start)
    return (
        text[:start] + _layout(value, unit=_unit(text), indent=indent) + text[_end(text, start) :]
    )


def remove(text: str, path: Path) -> str:
    """Return the text without the value at a path, nor the objects and lists this leaves empty."""
    if _find(text, path) is None:
        return text
    while len(path) > 1 and len(at(text, path[:-1])) == 1:
        path = path[:-1]
    around = _find(text, path[:-1])
    key = path[-1]
    members = list(_members(text, (around.value if around else _space(text, 0))))
    place = max(number for number, member in enumerate(members) if member.key == key)
    member = members[place]
    end = member.end
    before = text[: member.start]
    if text[_space(text, end)] == ",":
        end = _space(text, end) + 1
    elif place:
        # The last one takes the comma before it along; what stands between them stays.
        comma = _space(text, members[place - 1].end)
        before = text[:comma] + text[comma + 1 : member.start]
    rest = text[end:]
    if before.rstrip(" \t").endswith("\n") and rest.lstrip(" \t").startswith("\n"):
        # Of the two line feeds the second stays: the first may be what ends a comment.
        return before.rstrip(" \t")[:-1] + rest
    return before.rstrip(" \t") + rest if rest[:1] in {"]", "}"} else before + rest.lstrip(" ")


# --- places in the text --------------------------------------------------------------------------


def _space(text: str, at_offset: int) -> int:
    found = _SPACE.match(text, at_offset)
    return found.end() if found else at_offset


def _end(text: str, start: int) -> int:
    """Return the offset behind the value that starts here."""
    if text[start] not in "[{":
        found = _SCALAR.match(text, start)
        return found.end() if found else start
    depth = 0
    for found in _BRACKETS.finditer(text, start):
        depth += (found["open"] is not None) - (found["close"] is not None)
        if depth == 0:
            return found.end()
    raise AssertionError("load() saw a closing bracket")


def _members(text: str, start: int) -> Iterator[_Member]:
    is_object = text[start] == "{"
    place = _space(text, start + 1)
    number = 0
    while text[place] not in "]}":
        value = place
        key: str | int = number
        if is_object:
            end = _end(text, place)
            key = orjson.loads(text[place:end])
            value = _space(text, _space(text, end) + 1)
        end = _end(text, value)
        yield _Member(key, place, value, end)
        number += 1
        place = _space(text, end)
        if text[place] == ",":
            place = _space(text, place + 1)


def _member(text: str, start: int, key: str | int) -> _Member | None:
    if text[start] not in "[{":
        return None
    named = [member for member in _members(text, start) if member.key == key]
    return named[-1] if named else None


def _find(text: str, path: Path) -> _Member | None:
    start = _space(text, 0)
    member = None
    for key in path:
        member = _member(text, start, key) if start < len(text) else None
        if member is None:
            return None
        start = member.value
    return member


# --- changes -------------------------------------------------------------------------------------


def _insert(text: str, start: int, key: str | int, value: object) -> str:
    """Add a member at the end, behind the comments that stand there."""
    members = list(_members(text, start))
    close = _end(text, start) - 1
    unit = _unit(text)
    outer = _indent_at(text, start)
    label = orjson.dumps(key).decode() + ": " if text[start] == "{" else ""
    if members and "\n" not in text[start:close]:
        added = label + orjson.dumps(value).decode()
        comma = "" if text[_space(text, members[-1].end)] == "," else ", "
        last = len(text[:close].rstrip())
        return text[:last] + (comma or " ") + added + text[last:]
    inner = _indent_at(text, members[-1].start) if members else outer + unit
    line = "\n" + inner + label + _layout(value, unit=unit, indent=inner)
    last = len(text[:close].rstrip())
    if not members:
        return text[:last] + line + "\n" + outer + text[close:]
    end = members[-1].end
    comma = "" if text[_space(text, end)] == "," else ","
    return text[:end] + comma + text[end:last] + line + "\n" + outer + text[close:]


def _nested(path: Path, value: object) -> object:
    for key in reversed(path):
        value = {key: value} if isinstance(key, str) else [value]
    return value


def _unit(text: str) -> str:
    found = _FIRST_INDENT.search(text)
    return found[1] if found else "  "


def _indent_at(text: str, offset: int) -> str:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _layout(value: object, *, unit: str, indent: str) -> str:
    lines = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode().split("\n")
    steps = [(len(line) - len(line.lstrip(" "))) // 2 for line in lines]
    return ("\n" + indent).join(
        unit * step + line[2 * step :] for step, line in zip(steps, lines, strict=True)
    )
