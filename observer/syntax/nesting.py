"""From nodes that were found in a tree to symbols: what stands in what, and what each one says.

What a definition says is its text without comments and without the definitions inside it. It is
spaced alike, so that layout alone is no change; where indentation has a meaning it is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from observer.syntax.grammars import CALLED, DATA, DEEPEST, DEEPEST_KEY, Grammar
from observer.syntax.mending import WRAPPER
from observer.syntax.symbol import Symbol
from observer.syntax.tree import Found

_QUOTES = "\"'`"
_OWNER = re.compile(r"\W*(?:\w+::)*(\w+)")
_ARGUMENTS = re.compile(r"<[^<>]*>")
_DECORATORS = re.compile(r"(?:(?:@[\w.]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?|#?\[[^\]]*\])\s*)+")
_SEPARATOR = re.compile(rb"[ \t]*[,;]")


class _Open:
    """A definition while what stands inside it is read; `cuts` are the places left out."""

    def __init__(self, found: Found, path: tuple[str, ...]) -> None:
        self.found = found
        self.path = path
        self.cuts: list[tuple[int, int]] = []


def nested(text: bytes, found: Sequence[Found], grammar: Grammar) -> Iterator[Symbol]:
    """Yield the symbols of what was found, which comes outermost first; inner symbols first."""
    inside = [_Open(Found("scope", 0, 0, len(text)), ())]
    decorated: int | None = None
    hidden = 0
    for one in found:
        while inside[-1].found.end <= one.start:
            yield from _closed(inside.pop(), text, grammar)
        around = inside[-1]
        if one.kind == "comment":
            around.cuts.append((one.start, one.end))
        elif one.kind == "decorator":
            decorated = one.start if decorated is None else decorated
        elif one.start >= hidden:
            start = one.start if decorated is None else decorated
            decorated = None
            hidden = _open(inside, one._replace(start=start), text)
    for left in reversed(inside):
        yield from _closed(left, text, grammar)


def _open(inside: list[_Open], one: Found, text: bytes) -> int:
    """Put a definition into what it stands in; return where the next one may begin."""
    around = inside[-1]
    path = (*around.path, *_names(one))
    if one.kind == "hidden" or len(path) > (DEEPEST_KEY if one.kind in DATA else DEEPEST):
        return one.end
    if one.kind == "prototype" and around.found.kind == "function":
        return one.end
    separator = _SEPARATOR.match(text, one.end)
    around.cuts.append((one.start, separator.end() if separator else one.end))
    inside.append(_Open(one, path))
    return one.end if one.kind == "type" else one.start


def _names(one: Found) -> tuple[str, ...]:
    """Return what a definition adds to the path: its owner if it has one, and its name."""
    if one.name == WRAPPER:
        return ()
    if one.kind == "scope":
        return _owner(one.name)
    if one.kind in DATA:
        return (one.name.strip(_QUOTES),)
    name = _ARGUMENTS.sub("", one.name).replace("::", ".") if one.kind in CALLED else one.name
    return (*_owner(one.owner), name)


def _owner(name: str) -> tuple[str, ...]:
    match = _OWNER.match(name)
    return (match[1],) if match and match[1] != WRAPPER else ()


def _closed(one: _Open, text: bytes, grammar: Grammar) -> Iterator[Symbol]:
    found = one.found
    if found.kind == "scope" or found.name == WRAPPER:
        return
    signature = ""
    if found.kind == "function" or (found.kind in CALLED and found.body < found.end):
        signature = " ".join(_said(one, text, found.body).split())
        signature = signature[_decorators(signature) :].rstrip(" :{;")
    said = _said(one, text, found.end)
    yield Symbol(
        name=one.path[-1].rpartition(".")[2] if found.kind in CALLED else one.path[-1],
        path=".".join(one.path),
        kind="function" if found.kind == "prototype" else found.kind,
        first_line=text.count(b"\n", 0, found.start) + 1,
        last_line=text.count(b"\n", 0, found.end) + 1,
        signature=signature,
        text=_laid_out(said, text, found.start) if grammar.is_indented else " ".join(said.split()),
    )


def _said(one: _Open, text: bytes, end: int) -> str:
    """Return the text of a definition up to a place, without what is cut out of it."""
    pieces = []
    at = one.found.start
    for start, behind in one.cuts:
        if start < end:
            pieces.append(text[at:start])
            at = max(at, behind)
    pieces.append(text[at:end])
    return b" ".join(pieces).decode("utf-8", "replace")


def _decorators(signature: str) -> int:
    match = _DECORATORS.match(signature)
    return match.end() if match else 0


def _laid_out(said: str, text: bytes, start: int) -> str:
    """Keep the indentation of lines against that of the first one."""
    column = " " * (start - text.rfind(b"\n", 0, start) - 1)
    lines = (line.removeprefix(column).rstrip() for line in said.split("\n"))
    return "\n".join(line for line in lines if line.strip())
