"""What became of the symbols between two versions of a text, or of pieces of one.

Symbols are paired by path; several of one path (overloads, branches of an `#ifdef`) by what they
say, then by their signatures, then in order. What only moved did not change. Of what is left, a
removed and an added symbol that say the same but for the name are one that was renamed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from observer.events import Value
from observer.syntax import lines
from observer.syntax.grammars import GRAMMARS
from observer.syntax.outline import is_parsable, sound
from observer.syntax.symbol import Symbol

TELLING_CHARS = 24
"""What a symbol must say beside its name before its double is taken for itself."""

MOST_RENAMED = 100
"""Of symbols that came, and of those that went, beyond which renames are not looked for."""

_DATA = frozenset({"json", "yaml", "toml"})
"""Languages of keys: of what came or went, only the outermost is told."""

_Symbols: TypeAlias = list[Symbol]
_Shape: TypeAlias = tuple[tuple[str, str, str], ...]


class Changes(Value):
    """Paths of symbols by what became of them; `resigned` have another signature.

    `renamed` holds (old path, new path); none of the others holds what it holds, nor what stands
    inside.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    resigned: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()


def compare(edits: Iterable[tuple[str, str]], language: str) -> Changes:
    """Return what (old, new) pieces of one file, taken together, did to its symbols."""
    old: _Symbols = []
    new: _Symbols = []
    for before, after in edits:
        was, now = _both(before, after, language)
        old += was
        new += now
    return _compared(old, new, is_data=language in _DATA)


def _both(old: str, new: str, language: str) -> tuple[Sequence[Symbol], Sequence[Symbol]]:
    """Read both sides the same way: what two readers say differently is no change."""
    if not (_may_define(old, language) or _may_define(new, language)):
        return (), ()
    if is_parsable(old, language) and is_parsable(new, language):
        # First what was just written: it is broken more often than what stood there.
        now = sound(new, language) if new else ()
        was = sound(old, language) if old and now is not None else ()
        if was is not None and now is not None:
            return was, now
    return lines.read(old, language), lines.read(new, language)


def _may_define(text: str, language: str) -> bool:
    """Tell whether a text can hold a definition; looking for a sign costs less than reading it."""
    sign = GRAMMARS[language].sign if language in GRAMMARS else None
    return sign is None or sign.search(text) is not None


def _compared(old: _Symbols, new: _Symbols, *, is_data: bool) -> Changes:
    old, new = _unlike(old, new), _unlike(new, old)
    changed, old, new = _paired(old, new, is_signed=True)
    resigned, old, new = _paired(old, new, is_signed=False)
    renamed = _renamed(old, new)
    return Changes(
        added=_told(new, [after for _, after in renamed], is_data=is_data),
        changed=_unique(changed),
        resigned=_unique(resigned),
        removed=_told(old, [before for before, _ in renamed], is_data=is_data),
        renamed=tuple(renamed),
    )


def _unlike(some: _Symbols, others: _Symbols) -> _Symbols:
    """Return the symbols that the others do not have, each as often as they lack it."""
    spare: dict[tuple[str, str, str], int] = {}
    for other in others:
        spare[_said(other)] = spare.get(_said(other), 0) + 1
    left = []
    for one in some:
        if spare.get(_said(one)):
            spare[_said(one)] -= 1
        else:
            left.append(one)
    return left


def _said(symbol: Symbol) -> tuple[str, str, str]:
    return symbol.path, symbol.signature, symbol.text


def _paired(
    old: _Symbols, new: _Symbols, *, is_signed: bool
) -> tuple[list[str], _Symbols, _Symbols]:
    """Return the paths that both have, with the same signature if that counts, and the rest."""
    waiting: dict[tuple[str, str], _Symbols] = {}
    for one in old:
        waiting.setdefault((one.path, one.signature if is_signed else ""), []).append(one)
    paired = []
    left = []
    for one in new:
        if same := waiting.get((one.path, one.signature if is_signed else "")):
            same.pop(0)
            paired.append(one.path)
        else:
            left.append(one)
    return paired, [one for rest in waiting.values() for one in rest], left


def _renamed(old: _Symbols, new: _Symbols) -> list[tuple[str, str]]:
    """Return (old path, new path) of what can be nothing else than the same symbol."""
    found: list[tuple[str, str]] = []
    if not old or not new or max(len(old), len(new)) > MOST_RENAMED:
        return found
    before, after = _by_shape(old), _by_shape(new)
    for shape, was in before.items():
        now = after.get(shape, ())
        if len(was) == len(now) == 1 and not _is_inside(was[0], [one for one, _ in found]):
            found.append((was[0], now[0]))
    return found


def _by_shape(symbols: _Symbols) -> dict[_Shape, list[str]]:
    shapes: dict[_Shape, list[str]] = {}
    for one in symbols:
        within = [one, *(each for each in symbols if each.path.startswith(f"{one.path}."))]
        shape = tuple(
            (
                each.path[len(one.path) :],
                _without(one.name, each.signature),
                _without(one.name, each.text),
            )
            for each in within
        )
        if sum(len(text) for _, _, text in shape) >= TELLING_CHARS:
            shapes.setdefault(shape, []).append(one.path)
    return shapes


def _without(name: str, text: str) -> str:
    """Return a text without a name wherever it stands as a whole word.

    By hand: compiling a pattern for each name costs more than all else that is done with it.
    """
    kept = []
    start = at = 0
    while name and (found := text.find(name, at)) >= 0:
        at = found + len(name)
        if _is_word(text[found - 1 : found]) or _is_word(text[at : at + 1]):
            at = found + 1
        else:
            kept.append(text[start:found])
            start = at
    return "".join((*kept, text[start:]))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _is_inside(path: str, others: Iterable[str]) -> bool:
    return any(path == other or path.startswith(f"{other}.") for other in others)


def _told(symbols: _Symbols, renamed: list[str], *, is_data: bool) -> tuple[str, ...]:
    paths = _unique(one.path for one in symbols)
    known = set(paths) if is_data else set()
    return tuple(
        path
        for path in paths
        if path.rpartition(".")[0] not in known and not _is_inside(path, renamed)
    )


def _unique(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))
