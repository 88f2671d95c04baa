"""The outline of a text: every symbol in it, in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from observer.code import lines, tree
from observer.code.fragments import is_plausibly_nested, is_truncated, repair_fragment
from observer.code.grammars import GRAMMARS
from observer.code.scope import build_symbols
from observer.code.symbol import Symbol

MOST_CHARS = 1 << 20
"""Of a text that is parsed; a longer one is read by its lines."""


class ParsedText(NamedTuple):
    """What a tree says: symbols, and the lines of the text without what is not code.

    `code` is without comments, `plain` without strings too; both hold blanks instead.
    """

    symbols: tuple[Symbol, ...]
    code: tuple[str, ...]
    plain: tuple[str, ...]


def outline(text: str, language: str) -> tuple[Symbol, ...]:
    """Return the symbols of a text or of a piece of one, in the order in which they begin.

    Args:
        text: anything; broken syntax gives what its lines say.
        language: as `languages.language_of` names it.
    """
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
    return is_plausibly_nested(text) and not (GRAMMARS[language].is_indented and is_truncated(text))


def parse_fragment(text: str, language: str) -> ParsedText | None:
    """Return what the tree of a parsable piece of a file says; None if no tree is sound."""
    found = _sound(text, language)
    return _read(found, text, language, slice(found.ahead, None)) if found else None


def parse_lines(text: str, language: str, first: int, last: int) -> ParsedText | None:
    """Return what the tree of a parsable file says of some of its lines; None if it is not sound.

    Args:
        text: the file.
        language: as `languages.language_of` names it.
        first: where the lines begin, counted from 0.
        last: where they end, not included.
    """
    source = text.encode("utf-8", "replace")
    try:
        nodes = tree.find_nodes(source, language, _span(source, first, last))
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
        for way in repair_fragment(text, GRAMMARS[language]):
            source = way.text.encode("utf-8", "replace")
            nodes = tree.find_nodes(source, language)
            if nodes is not None:
                return _Found(source, nodes, way.ahead)
    except tree.TooComplex:
        pass
    return None


def _span(source: bytes, first: int, last: int) -> tree.Span:
    """Return where some lines are, with the line breaks around them."""
    begin = end = 0
    for _ in range(first):
        begin = source.find(b"\n", begin) + 1
    end = begin
    for _ in range(last - first):
        end = source.find(b"\n", end) + 1 or len(source)
    return max(begin - 1, 0), max(end, begin + 1)


def _symbols(found: _Found, text: str, language: str, *, with_locals: bool) -> tuple[Symbol, ...]:
    last = text.rstrip().count("\n") + 1
    symbols = build_symbols(found.source, found.nodes, GRAMMARS[language], with_locals=with_locals)
    return tuple(sorted((_placed(one, found.ahead, last) for one in symbols), key=_first))


def _placed(symbol: Symbol, ahead: int, last: int) -> Symbol:
    """Count lines from the beginning of the original text."""
    return replace(
        symbol,
        first_line=max(symbol.first_line - ahead, 1),
        last_line=max(min(symbol.last_line - ahead, last), 1),
    )


def _first(symbol: Symbol) -> tuple[int, int]:
    return symbol.first_line, -symbol.last_line


def _read(found: _Found, text: str, language: str, kept: slice) -> ParsedText:
    code = bytearray(found.source)
    _blank(code, [one for one in found.nodes if one.kind == "comment"])
    plain = bytearray(code)
    _blank(plain, [one for one in found.nodes if one.kind == "silent"])
    symbols = _symbols(found, text, language, with_locals=False)
    return ParsedText(symbols, _lines(code, kept), _lines(plain, kept))


def _blank(text: bytearray, nodes: Iterable[tree.FoundNode]) -> None:
    for one in nodes:
        inside = bytes(text[one.start : one.end])
        text[one.start : one.end] = b"\n".join(b" " * len(line) for line in inside.split(b"\n"))


def _lines(text: bytearray, kept: slice) -> tuple[str, ...]:
    return tuple(text.decode("utf-8", "replace").split("\n")[kept])
