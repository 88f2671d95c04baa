"""Filters of notes by their frontmatter: equal, one of, greater, between. Pure.

A filter is a JSON object of fields, `{"status": "done", "owner.name": {"$in": ["ana", "bo"]}}`; a
note has to fit all of them. What both sides can be read as a number is compared as one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from observer.core.errors import BadInput

Json: TypeAlias = Any
"""The client's JSON, or a field of the frontmatter."""
Test: TypeAlias = Callable[[Json], bool]

_KEY = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")


def parse(filters: Mapping[str, Json]) -> Callable[[Mapping[str, Json]], bool]:
    """Return what is true of the fields of a note if it fits the filters.

    Raises:
        BadInput: a name of a field, an operator or its operand is malformed.
    """
    tests = [(_path(key), _test(key, wanted)) for key, wanted in filters.items()]
    return lambda fields: all(test(_at(fields, path)) for path, test in tests)


def _path(key: str) -> list[str]:
    if not _KEY.fullmatch(key):
        raise BadInput(
            f"Unsupported metadata filter key: {key[:80]}",
            hint="use letters, digits, _ and -; dots lead into nested fields",
        )
    return key.split(".")


def _at(fields: Json, path: list[str]) -> Json:
    for name in path:
        fields = fields.get(name) if isinstance(fields, Mapping) else None
    return fields


def _test(key: str, wanted: Json) -> Test:
    if isinstance(wanted, list):
        members = _members(key, wanted)
        return lambda value: set(members) <= set(_listed(value))
    if not isinstance(wanted, Mapping):
        same = _text(wanted)
        return lambda value: same in _listed(value)
    if len(wanted) != 1 or (operator := next(iter(wanted))) not in _OPERATORS:
        raise BadInput(
            f"Invalid metadata filter for '{key}': {str(dict(wanted))[:80]}",
            hint=f"use one operator of {', '.join(_OPERATORS)}",
        )
    return _OPERATORS[operator](key, wanted[operator])


def _members(key: str, wanted: Json) -> list[str]:
    if not isinstance(wanted, list) or not wanted:
        raise BadInput(f"'{key}' needs a list with at least one value", hint='write ["a", "b"]')
    return [_text(each) for each in wanted]


def _one_of(key: str, wanted: Json) -> Test:
    members = set(_members(key, wanted))
    return lambda value: not members.isdisjoint(_listed(value))


def _compared(holds: Callable[[Json, Json], bool]) -> Callable[[str, Json], Test]:
    def of(key: str, wanted: Json) -> Test:
        if isinstance(wanted, list | Mapping) or wanted is None:
            raise BadInput(f"'{key}' is compared with one number or text", hint='{"$gt": 3}')
        return lambda value: _holds(holds, value, wanted)

    return of


def _between(key: str, wanted: Json) -> Test:
    if not isinstance(wanted, list) or len(wanted) != 2:
        raise BadInput(f"$between of '{key}' needs two values", hint='{"$between": [1, 5]}')
    low, high = wanted
    return lambda value: (
        _holds(lambda one, other: one >= other, value, low)
        and _holds(lambda one, other: one <= other, value, high)
    )


def _holds(holds: Callable[[Json, Json], bool], value: Json, wanted: Json) -> bool:
    """Return True if a comparison holds, by number where the wanted side is one."""
    if value is None or isinstance(value, list | Mapping):
        return False
    number = _number(wanted)
    if number is None:
        return holds(_text(value), _text(wanted))
    own = _number(value)
    return own is not None and holds(own, number)


def _number(value: Json) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _listed(value: Json) -> list[str]:
    if value is None:
        return []
    return [_text(each) for each in value] if isinstance(value, list) else [_text(value)]


def _text(value: Json) -> str:
    """Return a scalar as the frontmatter keeps it."""
    return str(value)


_OPERATORS: dict[str, Callable[[str, Json], Test]] = {
    "$in": _one_of,
    "$gt": _compared(lambda one, other: one > other),
    "$gte": _compared(lambda one, other: one >= other),
    "$lt": _compared(lambda one, other: one < other),
    "$lte": _compared(lambda one, other: one <= other),
    "$between": _between,
}
