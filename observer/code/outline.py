"""The outline of a text: every symbol in it, in order, read from its tree or line by line.

A piece of a file, cut anywhere, is repaired so that it parses alone: what it closes is opened
before it, and the other way round, without looking into strings. The text of a symbol leaves out
comments and the definitions inside it; its spacing is normalized but for significant indentation.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from observer.code import lines, tree
from observer.code.lines import Symbol
from observer.code.tree import CALLED, DATA, DEEPEST, DEEPEST_KEY, GRAMMARS, FoundNode, Grammar

MOST_CHARS = 1 << 20
"""Of a text that is parsed; a longer one is read by its lines."""


ParsedText: TypeAlias = tuple[tuple[Symbol, ...], tuple[str, ...]]
"""What a tree says: symbols, and as code the lines of the text, blanks for comments."""


def outline(text: str, language: str) -> tuple[Symbol, ...]:
    """Return the symbols of a text, or of a piece, in order; broken syntax gives what lines say."""
    found = parse_symbols(text, language)
    return lines.read_symbols(text, language) if found is None else found


def parse_symbols(text: str, language: str) -> tuple[Symbol, ...] | None:
    """Return the symbols in the tree of a text; None if it has no grammar or no sound tree."""
    found = _sound(text, language) if is_parsable(text, language) else None
    return _symbols(found, text, language, with_locals=True) if found else None


def is_parsable(text: str, language: str) -> bool:
    """Return False, without parsing it, if a text has no sound tree or one that costs much."""
    if language not in GRAMMARS or len(text) > MOST_CHARS or "\0" in text:
        return False
    return is_plausibly_nested(text)


def parse_fragment(text: str, language: str) -> ParsedText | None:
    """Return what the tree of a parsable piece of a file says; None if no tree is sound."""
    found = _sound(text, language)
    return _read(found, text, language, slice(found.ahead, None)) if found else None


def parse_lines(text: str, language: str, first: int, last: int) -> ParsedText | None:
    """Return what a file's tree says of lines `first` to before `last`, from 0; None if unsound."""
    source = text.encode("utf-8", "replace")
    begin = 0
    for _ in range(first):
        begin = source.find(b"\n", begin) + 1
    end = begin
    for _ in range(last - first):
        end = source.find(b"\n", end) + 1 or len(source)
    try:  # with the line breaks around them
        nodes = tree.find_nodes(source, language, (max(begin - 1, 0), max(end, begin + 1)))
    except tree.TooComplex:
        return None
    if nodes is None:
        return None
    return _read(_Found(source, nodes, 0), text, language, slice(first, last))


class _Found(NamedTuple):
    """The nodes in a source; `ahead` of its lines were put before the original text."""

    source: bytes
    nodes: Sequence[tree.FoundNode]
    ahead: int


def _sound(text: str, language: str) -> _Found | None:
    try:
        for way, ahead in _repaired(text, GRAMMARS[language]):
            source = way.encode("utf-8", "replace")
            nodes = tree.find_nodes(source, language)
            if nodes is not None:
                return _Found(source, nodes, ahead)
    except tree.TooComplex:
        pass
    return None


def _symbols(found: _Found, text: str, language: str, *, with_locals: bool) -> tuple[Symbol, ...]:
    reader = _Nesting(found.source, GRAMMARS[language], with_locals=with_locals)
    symbols: list[Symbol] = []
    for node in found.nodes:
        symbols += reader.ended(node.start)
        reader.take(node)
    symbols += reader.ended(len(found.source))
    last = text.rstrip().count("\n") + 1
    placed = (  # lines count from the beginning of the original text
        replace(
            one,
            first_line=max(one.first_line - found.ahead, 1),
            last_line=max(min(one.last_line - found.ahead, last), 1),
        )
        for one in symbols
    )
    return tuple(sorted(placed, key=lambda one: (one.first_line, -one.last_line)))


def _read(found: _Found, text: str, language: str, kept: slice) -> ParsedText:
    code = bytearray(found.source)
    for one in found.nodes:
        if one.kind == "comment":
            code[one.start : one.end] = _SAYING.sub(b" ", code[one.start : one.end])
    lines = code.decode("utf-8", "replace").split("\n")[kept]
    return _symbols(found, text, language, with_locals=False), tuple(lines)


WRAPPER = "_"

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
_SAYING = re.compile(rb"[^\n]")


def _repaired(text: str, grammar: Grammar) -> Iterator[tuple[str, int]]:
    """Yield how a text may be read alone, likeliest first, and how many lines are put before it."""
    if grammar.is_indented:
        yield _indented(text, grammar)
        return
    before = "" if not grammar.before or "<?" in text else grammar.before
    # How many braces it closes without opening them, and how far open it ends.
    braces = _BRACES.findall(text) if grammar.statement else ()
    depths = [0, *accumulate(1 if one == "{" else -1 for one in braces)]
    closed, left = -min(depths), depths[-1]
    inside = grammar.member + grammar.statement
    openings = [""]
    if closed:
        openings = [inside + "{" * (closed - inside.count("{"))]
    elif grammar.member and text[:1] in {" ", "\t", '"'}:
        openings = [grammar.member, inside]
    for opening in openings:
        closing = "}" * (opening.count("{") + left)
        whole = f"{text}\n{closing}" if closing else text
        ahead = before + opening
        yield f"{ahead}\n{whole}" if ahead else whole, bool(ahead)


@lru_cache(maxsize=8)  # what an edit leaves is what the next one finds
def is_plausibly_nested(text: str) -> bool:
    """Return True if a text is nested as people nest."""
    # Few texts hold enough to be nested deeply: counting costs a tenth of looking at the order.
    if _count(text, "[](){}") > DEEPEST_BRACKET:
        depths = accumulate(1 if one in _OPENING else -1 for one in _BRACKETS.findall(text))
        if any(abs(depth) > DEEPEST_BRACKET for depth in depths):
            return False
    if _count(text, _SIGNS) >= _MOST_SIGNS and _SIGNS_RUN.search(text):
        return False
    return not (_count(text, _OPENERS) >= _MOST_OPENERS and _OPENERS_RUN.search(text))


def _count(text: str, parts: Iterable[str]) -> int:
    return sum(map(text.count, parts))


def _indented(text: str, grammar: Grammar) -> tuple[str, int]:
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
        return text, 0
    left = levels.pop()
    ahead = [" " * (level - left) + grammar.statement for level in (left, *levels[:0:-1]) if levels]
    body = [line[left:] for line in lines] if left else lines
    if grammar.filler and last.rstrip().endswith(":"):
        body.append(" " * (len(last) - len(last.lstrip()) - left + 4) + grammar.filler)
    return "\n".join([*ahead, *body]), len(ahead)


_QUOTES = "\"'`"
_OWNER = re.compile(r"\W*(?:\w+::)*(\w+)")
_ARGUMENTS = re.compile(r"<[^<>]*>")
_DECORATORS = re.compile(r"\A(?:(?:@[\w.]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?|#?\[[^\]]*\])\s*)+")
_SEPARATOR = re.compile(rb"[ \t]*[,;]")
_NEWLINE = re.compile(rb"\n")
_BREAK = re.compile(rb"[;{}]|\n\s*\n")
_STATEMENT = re.compile(rb"(?:async\s+)?function\b")
_KINDS = {"prototype": "function", "local": "function"}


class _Open:
    """A definition while what stands inside it is read; `cuts` are the places left out."""

    def __init__(self, found: FoundNode, path: tuple[str, ...]) -> None:
        self.found = found
        self.path = path
        self.cuts: list[tuple[int, int]] = []
        self.comments: list[FoundNode] = []


class _Nesting:
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
            line = self._text[self._text.rfind(b"\n", 0, one.start) + 1 : one.start]
            if line.strip():
                self._inside[-1].comments.append(one)
            else:
                self._leave_apart(one.start)
                self._ahead.append(one)
        elif one.kind == "decorator":
            self._decorated = one.start if self._decorated is None else self._decorated
        elif one.start >= self._hidden:
            start = one.start if self._decorated is None else self._decorated
            self._decorated = None
            self._leave_apart(start)
            self._hidden = self._open(one._replace(start=start))

    def _leave_apart(self, at: int) -> None:
        if not self._ahead:
            return
        end = self._ahead[-1].end
        begin = end - 1 if self._text[end - 1 : end] == b"\n" else end  # it may be part of it
        if _BREAK.search(self._text, begin, at):
            self._inside[-1].comments += self._ahead
            self._ahead = []

    def _open(self, one: FoundNode) -> int:
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
            signature = _DECORATORS.sub("", signature, count=1).rstrip(" :{;")
        lines = _said(one, text, found.end).split("\n")
        if self._grammar.is_indented:  # kept against the indentation of the first line
            column = " " * (found.start - text.rfind(b"\n", 0, found.start) - 1)
            lines = [line.removeprefix(column).rstrip() for line in lines]
        else:
            lines = [" ".join(line.split()) for line in lines]
        return Symbol(
            name=one.path[-1].rpartition(".")[2] if found.kind in CALLED else one.path[-1],
            path=".".join(one.path),
            kind=_KINDS.get(found.kind, found.kind),
            first_line=bisect_left(self._line_ends, found.start) + 1,
            last_line=bisect_left(self._line_ends, found.end) + 1,
            signature=signature,
            text="\n".join(filter(None, lines)),
            comments=" ".join(
                word
                for each in one.comments
                for word in text[each.start : each.end].decode("utf-8", "replace").split()
            ),
        )


def _names(one: FoundNode) -> tuple[str, ...]:
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
    pieces = []
    at = one.found.start
    for start, behind in one.cuts:
        if start < end:
            pieces.append(text[at:start])
            at = max(at, behind)
    pieces.append(text[at:end])
    return b" ".join(pieces).decode("utf-8", "replace")
