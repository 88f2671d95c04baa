"""Values that a script in JavaScript writes out: texts, numbers, lists and objects of these. Pure.

What is computed is no value. A name stands for the value that it was bound to before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from observer.clients.envelope import Json

DEEPEST = 20
MOST = 200
"""Most names of a script that are looked at."""

_SPACE = re.compile(r"(?:\s|//[^\n]*(?:\n|\Z))*")
_BINDING = re.compile(r"\b(?:const|let|var)\s+([A-Za-z_$][\w$]{0,80})\s*=\s*")
_WORD = re.compile(r"[A-Za-z_$][\w$]{0,80}")
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
_ENDS = frozenset(",)}];\n")
_QUOTES = frozenset("\"'`")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_CODE = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}")
_CONSTANTS: Mapping[str, Json] = {"true": True, "false": False, "null": None, "undefined": None}
_JOIN = ".join("
_RAW = "String.raw`"


class Read(NamedTuple):
    """A value, and where it ends."""

    value: Json
    end: int


def bindings(script: str) -> dict[str, Json]:
    """Return the values of names that are bound to one that is written out."""
    known: dict[str, Json] = {}
    for found in islice(_BINDING.finditer(script), MOST):
        read = value_at(script, found.end(), known)
        if read is not None and script[read.end : read.end + 1] in {";", "\n", ",", ""}:
            known[found[1]] = read.value
    return known


def value_at(script: str, at: int, known: Mapping[str, Json], depth: int = 0) -> Read | None:
    """Return the value that begins at a place; None if it is computed, or nested too deep."""
    at = _after_space(script, at)
    first = script[at : at + 1]
    if depth > DEEPEST or not first:
        return None
    if script.startswith(_RAW, at):
        return _raw(script, at + len(_RAW))
    if first in _QUOTES:
        return _whole(script, _text(script, at))
    if first == "{":
        return _object(script, at, known, depth)
    if first == "[":
        return _list(script, at, known, depth)
    return _whole(script, _word(script, at, known))


def _raw(script: str, at: int) -> Read | None:
    end = script.find("`", at)
    is_whole = end >= 0 and "${" not in script[at:end]
    return Read(script[at:end], end + 1) if is_whole else None


def _after_space(script: str, at: int) -> int:
    found = _SPACE.match(script, at)
    return found.end() if found else at


def _whole(script: str, read: Read | None) -> Read | None:
    """Return a value if it is not a part of something that is computed from it."""
    if read is None:
        return None
    end = _after_space(script, read.end)
    return read if script[end : end + 1] in {"", *_ENDS} or "\n" in script[read.end : end] else None


def _text(script: str, at: int) -> Read | None:
    parts: list[str] = []
    quote, begin = script[at], at + 1
    at = begin
    while at < len(script):
        if script[at] == quote:
            return Read("".join([*parts, script[begin:at]]), at + 1)
        if script.startswith("${", at) and quote == "`":
            return None
        if script[at] == "\\":
            parts.append(script[begin:at])
            said, at = _escaped(script, at + 1)
            parts.append(said)
            begin = at
        else:
            at += 1
    return None


def _escaped(script: str, at: int) -> tuple[str, int]:
    if found := _CODE.match(script, at):
        number = int(found[1] or found[2] or found[3], 16)
        return (chr(number) if number < 0x110000 else ""), found.end()
    sign = script[at : at + 1]
    return _ESCAPES.get(sign, sign), at + 1


def _word(script: str, at: int, known: Mapping[str, Json]) -> Read | None:
    if number := _NUMBER.match(script, at):
        said = number[0]
        return Read(float(said) if "." in said else int(said), number.end())
    word = _WORD.match(script, at)
    if word is None:
        return None
    values = _CONSTANTS if word[0] in _CONSTANTS else known
    return Read(values[word[0]], word.end()) if word[0] in values else None


def _list(script: str, at: int, known: Mapping[str, Json], depth: int) -> Read | None:
    found: list[Json] = []
    at = _after_space(script, at + 1)
    while script[at : at + 1] != "]":
        read = value_at(script, at, known, depth + 1)
        if read is None:
            return None
        found.append(read.value)
        at = _after_comma(script, read.end)
    return _joined(script, at + 1, found)


def _joined(script: str, at: int, found: list[Json]) -> Read | None:
    """Return a list, or the text that its texts are joined to."""
    if not script.startswith(_JOIN, at):
        return Read(found, at)
    between = value_at(script, at + len(_JOIN), {})
    if between is None or not isinstance(between.value, str):
        return None
    return Read(between.value.join(map(str, found)), script.find(")", between.end) + 1)


def _object(script: str, at: int, known: Mapping[str, Json], depth: int) -> Read | None:
    """Return an object; a field whose value is computed is left out."""
    found: dict[str, Json] = {}
    at = _after_space(script, at + 1)
    while (sign := script[at : at + 1]) != "}":
        name = _text(script, at) if sign in _QUOTES else None
        word = _WORD.match(script, at) if name is None else None
        if word is not None:
            name = Read(word[0], word.end())
        if name is None:
            return None
        end = _after_space(script, name.end)
        read = _field(script, str(name.value), end, known, depth)
        if read is not None:
            found[str(name.value)] = read.value
        at = _after_comma(script, read.end if read else _skipped(script, end))
    return Read(found, at + 1)


def _field(script: str, name: str, at: int, known: Mapping[str, Json], depth: int) -> Read | None:
    if script[at : at + 1] == ":":
        return value_at(script, at + 1, known, depth + 1)
    return Read(known[name], at) if name in known else None


def _skipped(script: str, at: int) -> int:
    """Return where an expression ends that is no value."""
    open_signs = 0
    while at < len(script):
        sign = script[at]
        if sign in _QUOTES:
            read = _text(script, at)
            at = read.end if read else len(script)
            continue
        if open_signs == 0 and sign in ",}":
            return at
        open_signs += (sign in "([{") - (sign in ")]}")
        at += 1
    return at


def _after_comma(script: str, at: int) -> int:
    at = _after_space(script, at)
    return _after_space(script, at + 1) if script[at : at + 1] == "," else at
