"""The query language that users may write: FTS5's operators, read by a parser of our own.

First step of a search, pure. Whatever `parse` returns is legal FTS5, since every word in it is
quoted and every operator is one that the parser understood.

The language: ``AND``, ``OR`` and ``NOT`` in capitals (``NOT`` binds tightest, then ``AND``),
``"exact phrase"``, ``prefix*``, ``column:term``, ``NEAR(a b, 5)``, parentheses. Operands side by
side are all required.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from observer.core.errors import BadInput
from observer.core.model import COLUMNS, spaced
from observer.core.value import Value

MAX_TERMS = 64
"""Operands of one expression; FTS5 itself stops at an expression depth of 256."""

MAX_DEPTH = 20
"""Parentheses inside parentheses; the engine's own parser has a stack of 100."""

_TOKEN = re.compile(
    rf"""
      (?P<space>\s+)
    | (?P<column>(?:{"|".join(COLUMNS)}):(?=[^\s)]))
    | (?P<phrase>"(?:[^"]|"")*"\*?)
    | (?P<near>NEAR(?=\())
    | (?P<open>\() | (?P<close>\)) | (?P<comma>,) | (?P<stray>")
    | (?P<operator>(?:AND|OR|NOT)(?![^\s()]))
    | (?P<prefix>[^\s()",*]*[^\W_]\*(?![^\s()",]))
    | (?P<word>[^\s()",]+)
    """,
    re.VERBOSE,
)

_AFTER_PLAIN_NOT = (
    "ACCEPTABLE ALLOWED AUTHORIZED BETWEEN EXIST EXISTS EXTENDED FOUND IMPLEMENTED IN LIKE MODIFIED"
    " NULL SUPPORTED VALID"
)
_BEFORE_PLAIN_NOT = "CAN COULD DID DO DOES IF IS MAY MUST SHALL SHOULD WAS WHERE WILL WOULD"
_IDIOM_AFTER = frozenset(_AFTER_PLAIN_NOT.split())
_IDIOM_BEFORE = frozenset(_BEFORE_PLAIN_NOT.split())


class QueryToken(NamedTuple):
    """A piece of the text; `kind` is the name of the group of `_TOKEN` that took it."""

    kind: str
    text: str


_AND_NOT = [QueryToken("operator", "AND"), QueryToken("operator", "NOT")]


class Expression(Value):
    """A legal FTS5 expression, the operands that a match may hold, and those that are prefixes."""

    fts: str
    terms: tuple[str, ...]
    prefixes: tuple[str, ...] = ()


def quoted(text: str) -> str:
    """Return a text as an FTS5 string: its words, in this order, side by side."""
    return '"' + spaced(text).replace('"', '""') + '"'


def tokens(text: str) -> list[QueryToken]:
    """Return the pieces of a text.

    ``NOT`` in idioms such as ``NOT NULL`` is a plain word; ``AND NOT`` is ``NOT``.
    """
    found = [
        QueryToken(match.lastgroup or "", match.group())
        for match in _TOKEN.finditer(text)
        if match.lastgroup != "space"
    ]
    return [
        QueryToken("word", token.text) if _is_idiom(found, place) else token
        for place, token in enumerate(found)
        if found[place : place + 2] != _AND_NOT
    ]


def uses_operators(found: list[QueryToken]) -> bool:
    """Return True if a text uses the query language: an operator, or only quoted phrases."""
    kinds = {token.kind for token in found}
    return kinds == {"phrase"} or not kinds.isdisjoint({"operator", "column", "near", "prefix"})


def parse(found: list[QueryToken]) -> Expression:
    """Read tokens as one expression.

    Raises:
        BadInput: they are no expression; the message says what is wrong with them.
    """
    parser = _Parser(found)
    fts = parser.alternatives()
    if parser.kind:
        raise BadInput(f"{parser.text} does not belong there")
    return Expression(fts=fts, terms=tuple(parser.terms), prefixes=tuple(parser.prefixes))


def _is_idiom(found: list[QueryToken], place: int) -> bool:
    if found[place] != ("operator", "NOT"):
        return False
    before = found[place - 1].text if place else ""
    after = found[place + 1].text if place + 1 < len(found) else ""
    return before in _IDIOM_BEFORE or after in _IDIOM_AFTER


class _Parser:
    """Recursive descent; each method reads one rule of the grammar and returns it as FTS5."""

    def __init__(self, found: list[QueryToken]) -> None:
        self.terms: list[str] = []
        self.prefixes: list[str] = []
        self._found = found
        self._next = 0
        self._depth = 0
        self._operands = 0

    @property
    def kind(self) -> str:
        return self._found[self._next].kind if self._next < len(self._found) else ""

    @property
    def text(self) -> str:
        return self._found[self._next].text if self._next < len(self._found) else "the end"

    def alternatives(self) -> str:
        return self._joined("OR", self._requirements)

    def _requirements(self) -> str:
        return self._joined("AND", self._exclusions)

    def _exclusions(self) -> str:
        parts = [self._side_by_side()]
        kept = len(self.terms)
        while self._took("operator", "NOT"):
            parts.append(self._side_by_side())
        del self.terms[kept:]
        return _group(" NOT ", parts)

    def _side_by_side(self) -> str:
        parts = [self._operand()]
        while self.kind not in {"", "operator", "close"}:
            parts.append(self._operand())
        return _group(" AND ", parts)

    def _joined(self, operator: str, rule: Callable[[], str]) -> str:
        parts = [rule()]
        while self._took("operator", operator):
            parts.append(rule())
        return _group(f" {operator} ", parts)

    def _operand(self) -> str:
        column = self.text if self.kind == "column" else ""
        self._next += bool(column)
        if self._took("open"):
            return f"{column}{self._parenthesis()}"
        if self._took("near"):
            return f"{column}{self._near()}"
        return f"{column}{self._string()}"

    def _parenthesis(self) -> str:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise BadInput(f"more than {MAX_DEPTH} parentheses inside each other")
        inside = self.alternatives()
        self._expect("close", "a parenthesis is not closed")
        self._depth -= 1
        return f"({inside})"

    def _near(self) -> str:
        self._expect("open", "NEAR needs parentheses")
        strings = [self._string()]
        while self.kind not in {"", "comma", "close"}:
            strings.append(self._string())
        distance = ""
        if self._took("comma"):
            if not re.fullmatch(r"[0-9]{1,4}", self.text):
                raise BadInput("the distance of NEAR is not a number")
            distance = f", {self.text}"
            self._next += 1
        self._expect("close", "a parenthesis is not closed")
        return f"NEAR({' '.join(strings)}{distance})"

    def _string(self) -> str:
        kind, text = self.kind, self.text
        if kind not in {"word", "phrase", "prefix"}:
            raise BadInput(f"a word is missing before {text}")
        is_open = kind == "prefix" or text.endswith('"*')
        plain = text[: -1 if is_open else None]
        if kind == "phrase":
            plain = plain[1:-1].replace('""', '"')
        if not any(character.isalnum() for character in plain):
            raise BadInput(f"{text} holds no letter or digit")
        self._operands += 1
        if self._operands > MAX_TERMS:
            raise BadInput(f"more than {MAX_TERMS} operands")
        self._next += 1
        self.terms.append(plain)
        self.prefixes += [plain] if is_open else []
        return f"{quoted(plain)} *" if is_open else quoted(plain)

    def _took(self, kind: str, text: str = "") -> bool:
        fits = self.kind == kind and text in {"", self.text}
        self._next += fits
        return fits

    def _expect(self, kind: str, otherwise: str) -> None:
        if not self._took(kind):
            raise BadInput(otherwise)


def _group(joint: str, parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({joint.join(parts)})"
