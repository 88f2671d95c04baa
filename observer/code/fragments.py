"""Pieces of a file: repairing them so that they parse alone, and detecting truncated ones.

An edit shows the lines around a change, cut anywhere: often amid a string or between brackets.
`repair_fragment` opens before a piece what it closes, and the other way round; braces are counted
without looking into strings, so the result may still not parse. `is_truncated` finds without a
parser what cannot parse, since a parser spends several times as long on it; it reports only what
is certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from observer.code.grammars import Grammar

WRAPPER = "_"
"""The name of what is put around a piece of a file."""

DEEPEST_BRACKET = 150
"""Brackets inside each other; deeper ones are no one's writing, and cost a parser much."""

_BRACKETS = re.compile(r"[][(){}]")
_OPENING = frozenset("([{")
_SIGNS = ("<", "`")
_OPENERS = ("def", "class", "module", "if", "do", "begin")
_MOST_SIGNS = 40
_MOST_OPENERS = 60
_SIGNS_RUN = re.compile(rf"(?:[{''.join(_SIGNS)}]\w{{0,8}}\s?){{{_MOST_SIGNS}}}")
_OPENERS_RUN = re.compile(
    rf"(?:(?:{'|'.join(_OPENERS)})\b\W{{0,8}}\w{{0,8}}\s{{1,4}}){{{_MOST_OPENERS}}}"
)
_BRACES = re.compile(r"[{}]")


class RepairedFragment(NamedTuple):
    """A text that can be read alone; `ahead` of its lines were put before the original."""

    text: str
    ahead: int = 0


def repair_fragment(text: str, grammar: Grammar) -> Iterator[RepairedFragment]:
    """Yield the ways in which a text may be read alone, the likeliest first."""
    if grammar.is_indented:
        yield _indented(text, grammar)
        return
    before = "" if not grammar.before or "<?" in text else grammar.before
    closed, left = _braces(text) if grammar.statement else (0, 0)
    for opening in _openings(text, grammar, closed):
        yield _between(before + opening, text, opening.count("{") + left)


@lru_cache(maxsize=8)  # what an edit leaves is what the next one finds
def is_plausibly_nested(text: str) -> bool:
    """Return True if a text is nested as people nest."""
    # Few texts hold enough to be nested deeply: counting costs a tenth of looking at the order.
    if _count(text, "[](){}") > DEEPEST_BRACKET and _is_deep(text):
        return False
    if _count(text, _SIGNS) >= _MOST_SIGNS and _SIGNS_RUN.search(text):
        return False
    return not (_count(text, _OPENERS) >= _MOST_OPENERS and _OPENERS_RUN.search(text))


def _count(text: str, parts: Iterable[str]) -> int:
    return sum(map(text.count, parts))


def _is_deep(text: str) -> bool:
    depth = 0
    for bracket in _BRACKETS.findall(text):
        depth += 1 if bracket in _OPENING else -1
        if abs(depth) > DEEPEST_BRACKET:
            return True
    return False


def _openings(text: str, grammar: Grammar, closed: int) -> tuple[str, ...]:
    inside = grammar.member + grammar.statement
    if closed:
        return (inside + "{" * (closed - inside.count("{")),)
    if grammar.member and text[:1] in {" ", "\t", '"'}:
        return grammar.member, inside
    return ("",)


def _between(opening: str, text: str, left: int) -> RepairedFragment:
    closed = f"{text}\n{'}' * left}" if left > 0 else text
    return (
        RepairedFragment(f"{opening}\n{closed}", ahead=1) if opening else RepairedFragment(closed)
    )


def _braces(text: str) -> tuple[int, int]:
    """Return how many braces a text closes without opening them, and how far open it ends."""
    depth = deepest = 0
    for brace in _BRACES.findall(text):
        depth += 1 if brace == "{" else -1
        deepest = min(deepest, depth)
    return -deepest, depth


def _indented(text: str, grammar: Grammar) -> RepairedFragment:
    """Begin at the first column, with a header before each indentation that a text returns to."""
    lines = text.split("\n")
    levels: list[int] = []
    last = ""
    for line in lines:
        if code := line.lstrip():
            last, width = line, len(line) - len(code)
            if not levels or width < levels[-1]:
                levels.append(width)
    if not levels:
        return RepairedFragment(text)
    left = levels.pop()
    ahead = [" " * (level - left) + grammar.statement for level in (left, *levels[:0:-1]) if levels]
    body = [line[left:] for line in lines] if left else lines
    if grammar.filler and last.rstrip().endswith(":"):
        body.append(" " * (len(last) - len(last.lstrip()) - left + 4) + grammar.filler)
    return RepairedFragment("\n".join([*ahead, *body]), ahead=len(ahead))


# What a formatted string says between braces may hold quotes of its own: only a parser knows.
_NOT_FORMATTED = r"(?<![fFtT])(?<![fFtT][rR])"
_SILENT = rf"""
    \#[^\n]*+
    | {_NOT_FORMATTED}(?:
        \"{{3}}(?:[^"\\]++|\\.|"(?!""))*+\"{{3}}
        | '{{3}}(?:[^'\\]++|\\.|'(?!''))*+'{{3}}
        | "(?!"")(?:[^"\\\n]++|\\.)*+"
        | '(?!'')(?:[^'\\\n]++|\\.)*+'
    )
"""
"""A comment or a whole string: brackets inside mean nothing."""

_FLAGS = re.DOTALL | re.VERBOSE
_SILENCE = re.compile(_SILENT, _FLAGS)
_UNDERSTOOD = re.compile(rf"(?:[^\#\"']++|{_SILENT})*+", _FLAGS)
_LONG_STRING = re.compile(rf"{_NOT_FORMATTED}(?:\"{{3}}|'{{3}})", _FLAGS)
_BRACKET_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"))


def is_truncated(text: str) -> bool:
    """Return True if a Python text surely ends inside a string, or has a bracket without its other.

    False says nothing. The time is linear in the text.
    """
    understood = _UNDERSTOOD.match(text)
    if understood and understood.end() < len(text):
        # A string of one line may go on where the grammar is lenient; a long one has begun.
        return _LONG_STRING.match(text, understood.end()) is not None
    return not _is_even(text) and not _is_even(_SILENCE.sub("", text))


def _is_even(text: str) -> bool:
    return all(text.count(opening) == text.count(closing) for opening, closing in _BRACKET_PAIRS)
