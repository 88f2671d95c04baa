"""Values and calls that a script in JavaScript writes out; what is computed is no value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, TypeAlias

from tree_sitter import Node

from observer.code import tree

Literal: TypeAlias = Any

MOST = 200
MOST_CHARS = 200_000
DEEPEST = 20
DIGITS = 16
"""Signs of a number; JSON holds more, a float does not."""

_QUERY = """
(variable_declarator name: (identifier) @name value: (_) @value)
(call_expression
  function: (member_expression object: (identifier) @owner property: (property_identifier) @method)
  arguments: (arguments) @given) @call
"""
_CONSTANTS = {"true": True, "false": False, "null": None, "undefined": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_CODE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\})")
_TEXTS = frozenset({"string", "template_string"})


class _Computed(Exception):
    """An expression is no value that is written out."""


def method_calls(script: str, owner: str) -> list[tuple[str, Literal]]:
    """Return an object's methods that are called, with first arguments that are written out."""
    source = script.encode("utf-8", "surrogatepass") if len(script) <= MOST_CHARS else b""
    try:
        found = tree.find_captures(source, "javascript", _QUERY)
    except tree.TooComplex:
        return []
    reader = _Reader(source)
    for bound in islice((one for one in found if "value" in one), MOST):
        reader.bind(bound["name"][0], bound["value"][0])
    calls = (one for one in found if "call" in one and reader.source(one["owner"][0]) == owner)
    return list(reader.calls(islice(calls, MOST)))


class _Reader:
    """Reads values of a script; knows those of the names that it was shown."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._known: dict[str, Literal] = dict(_CONSTANTS)

    def source(self, node: Node) -> str:
        """Return what a node was read from."""
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def bind(self, name: Node, value: Node) -> None:
        """Know a name, if its value is written out."""
        try:
            self._known[self.source(name)] = self._value(value)
        except _Computed:
            self._known.pop(self.source(name), None)

    def calls(self, found: Iterator[Mapping[str, list[Node]]]) -> Iterator[tuple[str, Literal]]:
        """Yield the calls whose argument is written out."""
        for one in found:
            for argument in _parts(one["given"][0])[:1]:
                with suppress(_Computed):
                    yield self.source(one["method"][0]), self._value(argument)

    def _value(self, node: Node, depth: int = 0) -> Literal:
        if depth > DEEPEST:
            raise _Computed
        match node.type:
            case "string" | "template_string":
                return self._text(node)
            case "number" | "unary_expression" if len(said := self.source(node)) <= DIGITS:
                with suppress(ValueError):
                    return float(said) if "." in said else int(said)
            case "array":
                return [self._value(one, depth + 1) for one in _parts(node)]
            case "object":
                return dict(self._fields(node, depth))
            case "call_expression":
                return self._called(node, depth)
        if (name := self.source(node)) not in self._known:
            raise _Computed
        return self._known[name]

    def _text(self, node: Node) -> str:
        said = ""
        for part in node.named_children:
            if part.type not in {"string_fragment", "escape_sequence"}:
                raise _Computed
            shown = self.source(part)
            if part.type == "escape_sequence":
                code = _CODE.fullmatch(shown)
                number = int(code[1] or code[2] or code[3], 16) if code else 0
                plain = chr(number) if number < 0x110000 else ""
                shown = plain if code else _ESCAPES.get(shown[1:], shown[1:])
            said += shown
        # Two escapes may be the halves of one character.
        return said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _fields(self, node: Node, depth: int) -> Iterator[tuple[str, Literal]]:
        for part in _parts(node):
            key = part.child_by_field_name("key") or part
            value = part.child_by_field_name("value") or part
            with suppress(_Computed):
                name = self._text(key) if key.type in _TEXTS else self.source(key)
                yield name, self._value(value, depth + 1)

    def _called(self, node: Node, depth: int) -> str:
        function = node.child_by_field_name("function") or node
        given = node.child_by_field_name("arguments") or node
        if self.source(function) == "String.raw":
            parts = {part.type for part in given.named_children}
            if given.type != "template_string" or "template_substitution" in parts:
                raise _Computed
            return self.source(given)[1:-1]
        owner = function.child_by_field_name("object")
        if owner is None or not self.source(function).endswith(".join"):
            raise _Computed
        parts, (between, *_) = self._value(owner, depth + 1), [*_parts(given), None]
        joint = self._value(between, depth + 1) if between else ","
        if not isinstance(parts, list) or not isinstance(joint, str):
            raise _Computed
        return joint.join(map(str, parts))


def _parts(node: Node) -> list[Node]:
    return [one for one in node.named_children if one.type != "comment"]
