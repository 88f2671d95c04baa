"""The outline of a text: every symbol in it, in order."""

from __future__ import annotations

from msgspec.structs import replace

from observer.syntax import lines, tree
from observer.syntax.grammars import GRAMMARS
from observer.syntax.mending import is_readable, mended
from observer.syntax.nesting import nested
from observer.syntax.symbol import Symbol
from observer.syntax.torn import is_torn

MOST_CHARS = 50_000
"""Of a text that is parsed; a longer one is read by its lines."""


def outline(text: str, language: str) -> tuple[Symbol, ...]:
    """Return the symbols of a text or of a piece of one, in the order in which they begin.

    Args:
        text: anything; broken syntax gives what its lines tell.
        language: as `languages.language_of` names it.
    """
    found = parsed(text, language)
    return lines.read(text, language) if found is None else found


def parsed(text: str, language: str) -> tuple[Symbol, ...] | None:
    """Return the symbols in the tree of a text; None if it has no grammar or no sound tree."""
    return sound(text, language) if is_parsable(text, language) else None


def is_parsable(text: str, language: str) -> bool:
    """Tell, without parsing it, whether a text may have a sound tree that costs little."""
    if language not in GRAMMARS or len(text) > MOST_CHARS or "\0" in text:
        return False
    return is_readable(text) and not (GRAMMARS[language].is_indented and is_torn(text))


def sound(text: str, language: str) -> tuple[Symbol, ...] | None:
    """Return the symbols in the tree of a parsable text; None if the tree is not sound."""
    try:
        return _first_sound(text, language)
    except tree.TooMuch:
        return None


def _first_sound(text: str, language: str) -> tuple[Symbol, ...] | None:
    last = text.rstrip().count("\n") + 1
    for way in mended(text, GRAMMARS[language]):
        source = way.text.encode("utf-8", "replace")
        found = tree.find(source, language)
        if found is not None:
            symbols = nested(source, found, GRAMMARS[language])
            return tuple(sorted((_placed(one, way.ahead, last) for one in symbols), key=_first))
    return None


def _placed(symbol: Symbol, ahead: int, last: int) -> Symbol:
    """Count lines from the beginning of the original text."""
    return replace(
        symbol,
        first_line=max(symbol.first_line - ahead, 1),
        last_line=max(min(symbol.last_line - ahead, last), 1),
    )


def _first(symbol: Symbol) -> tuple[int, int]:
    return symbol.first_line, -symbol.last_line
