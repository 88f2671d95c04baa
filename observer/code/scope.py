"""Building symbols from the nodes found in a syntax tree: their nesting, signatures and text.

The text of a symbol leaves out comments and the definitions inside it. Its spacing is normalized,
so that a difference of layout alone is not a change; significant indentation is kept.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from observer.code.fragments import WRAPPER
from observer.code.grammars import CALLED, DATA, DEEPEST, DEEPEST_KEY, Grammar
from observer.code.symbol import Symbol
from observer.code.tree import FoundNode

_QUOTES = "\"'`"
_OWNER = re.compile(r"\W*(?:\w+::)*(\w+)")
_ARGUMENTS = re.compile(r"<[^<>]*>")
_DECORATORS = re.compile(r"(?:(?:@[\w.]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?|#?\[[^\]]*\])\s*)+")
_SEPARATOR = re.compile(rb"[ \t]*[,;]")
_NEWLINE = re.compile(rb"\n")
_BREAK = re.compile(rb"[;{}]|\n\s*\n")
"""What stands between a comment and a definition that it is not of."""
_STATEMENT = re.compile(rb"(?:async\s+)?function\b")
_KINDS = {"prototype": "function", "local": "function"}


class _Open:
    """A definition while what stands inside it is read; `cuts` are the places left out."""

    def __init__(self, found: FoundNode, path: tuple[str, ...]) -> None:
        self.found = found
        self.path = path
        self.cuts: list[tuple[int, int]] = []
        self.comments: list[FoundNode] = []


def build_symbols(
    text: bytes, found: Iterable[FoundNode], grammar: Grammar, *, with_locals: bool = True
) -> Iterator[Symbol]:
    """Yield the symbols of what was found, which comes outermost first; inner symbols first.

    Args:
        text: what was parsed.
        found: as `tree.find_nodes` returns it.
        grammar: of the text's language.
        with_locals: whether what is defined inside a function is a symbol, or part of that.
    """
    reader = _Nesting(text, grammar, with_locals=with_locals)
    for one in found:
        yield from reader.ended(one.start)
        reader.take(one)
    yield from reader.ended(len(text))


class _Nesting:
    """The definitions that are open at a place of a text."""

    def __init__(self, text: bytes, grammar: Grammar, *, with_locals: bool) -> None:
        self._text = text
        self._grammar = grammar
        self._with_locals = with_locals
        self._line_ends = [found.start() for found in _NEWLINE.finditer(text)]
        self._inside = [_Open(FoundNode("scope", 0, 0, len(text) + 1), ())]
        self._ahead: list[FoundNode] = []  # comments that may belong to the definition behind them
        self._decorated: int | None = None
        self._hidden = 0

    def ended(self, at: int) -> Iterator[Symbol]:
        """Yield the symbols that end up to a place."""
        while self._inside[-1].found.end <= at:
            one = self._inside.pop()
            one.comments += self._ahead
            self._ahead = []
            if one.found.kind != "scope" and one.found.name != WRAPPER:
                yield self._symbol(one)

    def take(self, one: FoundNode) -> None:
        """Take what begins next."""
        if one.kind == "comment":
            self._inside[-1].cuts.append((one.start, one.end))
            self._comment(one)
        elif one.kind == "decorator":
            self._decorated = one.start if self._decorated is None else self._decorated
        elif one.kind != "silent" and one.start >= self._hidden:
            start = one.start if self._decorated is None else self._decorated
            self._decorated = None
            self._leave_apart(start)
            self._hidden = self._open(one._replace(start=start))

    def _comment(self, one: FoundNode) -> None:
        line = self._text[self._text.rfind(b"\n", 0, one.start) + 1 : one.start]
        if line.strip():
            self._inside[-1].comments.append(one)
        else:
            self._leave_apart(one.start)
            self._ahead.append(one)

    def _leave_apart(self, at: int) -> None:
        """Give the comments that do not stand right before a place to what they stand in."""
        if not self._ahead:
            return
        end = self._ahead[-1].end
        begin = end - 1 if self._text[end - 1 : end] == b"\n" else end  # it may be part of it
        if _BREAK.search(self._text, begin, at):
            self._inside[-1].comments += self._ahead
            self._ahead = []

    def _open(self, one: FoundNode) -> int:
        """Put a definition into what it stands in; return where the next one may begin."""
        around = self._inside[-1]
        path = (*around.path, *_names(one))
        if one.kind == "hidden" or len(path) > (DEEPEST_KEY if one.kind in DATA else DEEPEST):
            return one.end
        if one.kind == "prototype" and around.found.kind == "function":
            return one.end
        if not self._with_locals and self._is_local(one, around.found):
            return one.end
        separator = _SEPARATOR.match(self._text, one.end)
        around.cuts.append((one.start, separator.end() if separator else one.end))
        self._inside.append(_Open(one, path))
        self._inside[-1].comments += self._ahead
        self._ahead = []
        return one.end if one.kind == "type" else one.start

    def _is_local(self, one: FoundNode, around: FoundNode) -> bool:
        """Return True if a definition belongs to the one around it alone."""
        if around.name == WRAPPER:  # it may be a function, a type or a test
            return one.kind == "local"
        if around.kind in {"function", "local"}:
            return True
        if around.kind == "test":
            return one.kind != "test"
        if around.kind in {"constant", "variable"}:
            is_statement = _STATEMENT.match(self._text, one.start) is not None
            return one.kind in {"local", "class"} or is_statement
        return one.kind == "local" and not around.name

    def _symbol(self, one: _Open) -> Symbol:
        found, text = one.found, self._text
        signature = ""
        if found.kind == "function" or (found.kind in CALLED and found.body < found.end):
            signature = " ".join(_said(one, text, found.body).split())
            signature = signature[_decorators(signature) :].rstrip(" :{;")
        said = _said(one, text, found.end)
        is_indented = self._grammar.is_indented
        return Symbol(
            name=one.path[-1].rpartition(".")[2] if found.kind in CALLED else one.path[-1],
            path=".".join(one.path),
            kind=_KINDS.get(found.kind, found.kind),
            first_line=bisect_left(self._line_ends, found.start) + 1,
            last_line=bisect_left(self._line_ends, found.end) + 1,
            signature=signature,
            text=_laid_out(said, text, found.start) if is_indented else _lines(said),
            comments=" ".join(
                word for each in one.comments for word in _words(text[each.start : each.end])
            ),
        )


def _words(text: bytes) -> list[str]:
    return text.decode("utf-8", "replace").split()


def _names(one: FoundNode) -> tuple[str, ...]:
    """Return what a definition adds to the path: its owner if it has one, and its name."""
    if one.name == WRAPPER:
        return ()
    if one.kind == "scope":
        return _owner(one.name)
    if one.kind in DATA or one.kind == "test":
        is_quoted = one.name[:1] in _QUOTES and one.name[-1:] == one.name[:1]
        return (one.name[1:-1] if is_quoted else one.name,)
    name = _ARGUMENTS.sub("", one.name).replace("::", ".") if one.kind in CALLED else one.name
    return (*_owner(one.owner), name)


def _owner(name: str) -> tuple[str, ...]:
    match = _OWNER.match(name)
    return (match[1],) if match and match[1] != WRAPPER else ()


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


def _lines(said: str) -> str:
    lines = (" ".join(line.split()) for line in said.split("\n"))
    return "\n".join(line for line in lines if line)


def _laid_out(said: str, text: bytes, start: int) -> str:
    """Keep the indentation of lines against that of the first one."""
    column = " " * (start - text.rfind(b"\n", 0, start) - 1)
    lines = (line.removeprefix(column).rstrip() for line in said.split("\n"))
    return "\n".join(line for line in lines if line.strip())
