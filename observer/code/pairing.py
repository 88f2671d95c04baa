"""What became of symbols: those that were there before and those that are there after.

Symbols are paired by path; several of one path (overloads, branches of an `#ifdef`) by what they
say, then by their signatures, then in order. What only moved or was laid out anew did not change.
Of what is left, a removed and an added symbol that say the same but for the name are one that was
renamed.

What code says however it is laid out: its tokens, without what a formatter decides.

Text in quotes stays as it is. Of a language where indentation has a meaning, the breaks between
lines stay too, unless they are inside brackets. The time is linear in the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TypeAlias

from observer.code.symbol import Symbol
from observer.core.value import SymbolChanges

_TOKEN = re.compile(
    r"""(?P<text>\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)"""
    r"""|(?P<word>[\w$]+)|(?P<line>\n[ \t]*)|(?P<space>\s+)|(?P<sign>.)""",
    re.DOTALL,
)
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_SEPARATORS = frozenset(",;")


def tokenize(code: str, *, is_indented: bool) -> tuple[str, ...]:
    """Return the tokens of some code that a formatter leaves alone."""
    found: list[str] = []
    depth = 0
    for match in _TOKEN.finditer(code):
        token, kind = match[0], match.lastgroup
        if kind == "space" or (kind == "line" and (depth or not is_indented)):
            continue
        if kind == "sign" and token in _CLOSING:
            depth = max(depth - 1, 0)
            if found and found[-1] in _SEPARATORS:  # the last of several
                found.pop()
        elif kind == "sign" and token in _OPENING:
            depth += 1
        elif kind == "text" and token[0] == "'" and '"' not in token:
            token = f'"{token[1:-1]}"'
        found.append(token)
    return tuple(found)


DISTINCTIVE_CHARS = 24
"""What a symbol must say beside its name before its double is taken for itself."""

MOST_RENAMED = 100
"""Of symbols that came, and of those that went, beyond which renames are not looked for."""

_LAYOUT = {ord(sign): None for sign in ",;'\""}
"""What, beside spaces, a formatter adds, drops or replaces."""

MOST_MOVED = 1_000
"""Symbols beyond which nobody looks for those that stand in another order."""

_Symbols: TypeAlias = list[Symbol]
_Shape: TypeAlias = tuple[tuple[str, str, str], ...]
_Key: TypeAlias = Callable[[Symbol], Hashable]


def pair_symbols(
    before: Sequence[Symbol], after: Sequence[Symbol], *, is_data: bool, is_indented: bool
) -> SymbolChanges:
    """Return what became of some symbols.

    Args:
        before: those that were there.
        after: those that are there.
        is_data: of what came or went, only the outermost is listed.
        is_indented: indentation has a meaning.
    """

    def laid_out(text: str) -> tuple[str, ...]:
        return _tokens(text, is_indented=is_indented)

    same, old, new = _matched(list(before), list(after), _said)
    rough = Counter(map(_roughly, (*old, *new)))
    alike, old, new = _matched(
        old,
        new,
        lambda one: (one.path, laid_out(one.text)) if rough[key := _roughly(one)] > 1 else key,
    )
    same += alike
    changed, old, new = _matched(old, new, lambda one: (one.path, laid_out(one.signature)))
    resigned, old, new = _matched(old, new, lambda one: one.path)
    renamed = _renamed(old, new)
    listed = _unique(one.path for _, one in changed)
    known = {*listed, *(one.path for _, one in resigned)}
    commented = [now.path for was, now in same if was.comments != now.comments]
    return SymbolChanges(
        added=_listed(new, [now for _, now in renamed], is_data=is_data),
        changed=listed,
        resigned=_unique(one.path for _, one in resigned),
        removed=_listed(old, [was for was, _ in renamed], is_data=is_data),
        renamed=tuple(renamed),
        moved=_moved(same, before, after),
        commented=_unique(path for path in commented if path not in known),
    )


_tokens = lru_cache(maxsize=256)(tokenize)


def _said(symbol: Symbol) -> tuple[str, str, str]:
    return symbol.path, symbol.signature, symbol.text


def _roughly(symbol: Symbol) -> tuple[str, str]:
    """Return what is the same of symbols that differ in layout alone; far cheaper than tokens."""
    return symbol.path, "".join(symbol.text.translate(_LAYOUT).split())


def _matched(
    old: _Symbols, new: _Symbols, key: _Key
) -> tuple[list[tuple[Symbol, Symbol]], _Symbols, _Symbols]:
    """Return pairs of symbols that have the same key, each once, and the rest of both."""
    if not old or not new:
        return [], old, new
    waiting: dict[Hashable, _Symbols] = {}
    for one in old:
        waiting.setdefault(key(one), []).append(one)
    pairs = []
    left = []
    for one in new:
        if same := waiting.get(key(one)):
            pairs.append((same.pop(0), one))
        else:
            left.append(one)
    return pairs, [one for rest in waiting.values() for one in rest], left


def _moved(
    same: Sequence[tuple[Symbol, Symbol]], before: Sequence[Symbol], after: Sequence[Symbol]
) -> tuple[str, ...]:
    """Return the symbols that stand on another side of others around them than before."""
    if len(same) > MOST_MOVED:
        return ()
    was_at = {id(one): place for place, one in enumerate(before)}
    now_at = {id(one): place for place, one in enumerate(after)}
    was = _by_owner(one for one, _ in sorted(same, key=lambda pair: was_at[id(pair[0])]))
    now = _by_owner(one for _, one in sorted(same, key=lambda pair: now_at[id(pair[1])]))
    found: list[str] = []
    for owner, paths in now.items():
        if paths != was[owner]:
            moves = SequenceMatcher(None, was[owner], paths, autojunk=False).get_opcodes()
            for tag, _, _, start, end in moves:
                found += paths[start:end] if tag != "equal" else ()
    return _unique(found)


def _by_owner(symbols: Iterable[Symbol]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in symbols:
        found.setdefault(one.path.rpartition(".")[0], []).append(one.path)
    return found


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
        if sum(len(text) for _, _, text in shape) >= DISTINCTIVE_CHARS:
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


def _listed(symbols: _Symbols, renamed: list[str], *, is_data: bool) -> tuple[str, ...]:
    paths = _unique(one.path for one in symbols)
    known = set(paths) if is_data else set()
    return tuple(
        path
        for path in paths
        if path.rpartition(".")[0] not in known and not _is_inside(path, renamed)
    )


def _unique(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))
