"""Comparing two versions of a file, or of pieces of one: symbols changed, lines in common.

Both versions are read the same way, so that a difference between readers is never a change. Of a
whole file, only what its changed lines touch is read. Line comparison takes linear time.

Symbols are paired by path; several of one path (overloads, branches of an `#ifdef`) by what they
say, then by their signatures, then in order. What only moved or was laid out anew did not change:
code is compared by its tokens, without what a formatter decides. Text in quotes stays as it is. Of
a language where indentation has a meaning, the breaks between lines stay too, unless they are
inside brackets. Of what is left, a removed and an added symbol that say the same but for the name
are one that was renamed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from observer.code import lines
from observer.code.lines import Symbol
from observer.code.outline import is_parsable, parse_fragment, parse_lines
from observer.code.tree import DATA_LANGUAGES, GRAMMARS
from observer.core.value import SymbolChanges


def common_affixes(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """Return how many lines both begin with, and how many more both end with."""
    start = _alike(before, after)
    return start, _alike(before[start:][::-1], after[start:][::-1])


def _alike(first: Sequence[str], second: Sequence[str]) -> int:
    for count, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return count
    return min(len(first), len(second))


MOST_CHARS = 320 << 10
"""Of a file that is compared as a whole: the worst that a parser can be given takes seconds."""

_COMMENTING = ("//", "/*", "*", "#", "--", "@")
"""How the lines may begin that stand before a definition and belong to it."""
_COMMENT_LINES = 60


class _Side(NamedTuple):
    """One version of some lines; `code` as in `ParsedText`, empty if it was not parsed."""

    text: tuple[str, ...]
    symbols: tuple[Symbol, ...]
    code: tuple[str, ...] = ()


_Sides: TypeAlias = tuple[_Side, _Side]
_NOTHING = _Side((), ())


def compare_fragments(edits: Iterable[tuple[str, str]], language: str) -> SymbolChanges:
    """Return what (old, new) pieces of one file, taken together, did to its symbols."""
    return _changes([_pieces(old, new, language) for old, new in edits], language)


def compare_parameters(
    edits: Iterable[tuple[str, str]], language: str
) -> dict[str, tuple[list[str], list[str]]]:
    """Return which parameters each function gained and lost in (old, new) pieces, by its path."""
    found = {}
    for was, now in (_pieces(old, new, language) for old, new in edits):
        before = {one.path: one for one in was.symbols if one.kind != "class"}
        for one in now.symbols:
            if one.path in before and one.signature != before[one.path].signature:
                then, since = _parameters(before[one.path]), _parameters(one)
                gained = [each for each in since if each not in then]
                lost = [each for each in then if each not in since]
                if gained or lost:
                    found[one.path] = gained, lost
    return found


def _parameters(symbol: Symbol) -> list[str]:
    """Return the parameters of a signature, each as it begins."""
    signature = symbol.signature
    at = signature.find("(", max(0, signature.find(symbol.name)))
    parts, depth = [""], 0
    for before, sign in pairwise(signature[at:] if at >= 0 else ""):
        if (sign == "{" and not parts[-1].strip()) or (sign == "}" and not depth):
            continue  # around what is taken out of an object
        if sign in ")]}" or (sign == ">" and before not in "-="):
            if not depth:
                break
            depth -= 1
        depth += sign in "([{<"
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return [one for part in parts if (one := re.split("[:=]", part)[0].strip())]


def compare_files(old: str, new: str, language: str) -> SymbolChanges | None:
    """Return what became of the symbols of a file; None if it is too large to be looked at."""
    if max(len(old), len(new)) > MOST_CHARS:
        return None
    before, after = old.split("\n"), new.split("\n")
    start, end = common_affixes(before, after)
    if start == len(before) == len(after):
        return SymbolChanges()
    end -= _behind(before[len(before) - end :])
    # First what was just written: it is broken more often than what stood there.
    now = _part(new, language, (start, end))
    was = _part(old, language, (start, end)) if now else None
    both = (was, now) if was and now else (_by_lines(old, language), _by_lines(new, language))
    return _changes([both], language)


def _behind(following: Sequence[str]) -> int:
    """Return how many lines behind a change to look at: those up to what a comment is of."""
    for count, line in enumerate(following[:_COMMENT_LINES], 1):
        code = line.strip()
        if code and not code.startswith(_COMMENTING):
            return count
    return min(len(following), _COMMENT_LINES)


def _part(text: str, language: str, around: tuple[int, int]) -> _Side | None:
    if not text:
        return _NOTHING
    every = text.split("\n")
    first, last = around[0], len(every) - around[1]
    found = parse_lines(text, language, first, last) if is_parsable(text, language) else None
    return _Side(tuple(every[first:last]), *found) if found else None


def _pieces(old: str, new: str, language: str) -> _Sides:
    if is_parsable(old, language) and is_parsable(new, language):
        now = _piece(new, language)
        was = _piece(old, language) if now else None
        if was and now:
            return was, now
    return _by_lines(old, language), _by_lines(new, language)


def _piece(text: str, language: str) -> _Side | None:
    found = parse_fragment(text, language) if text else None
    if not found:
        return None if text else _NOTHING
    every = tuple(text.split("\n"))
    is_indented = GRAMMARS[language].is_indented
    kept = []
    for one in found.symbols:
        first, last = every[one.first_line - 1], every[one.last_line - 1]
        # A piece that begins amid a line does not show what is around that.
        is_amid = one.first_line == 1 and (one.last_line == 1 or last[:1].isspace())
        if one.kind != "variable" or not (is_indented or is_amid or first[:1].isspace()):
            kept.append(one)  # a variable may be one of a function that the piece does not show
    return _Side(every, tuple(kept), found.code)


def _by_lines(text: str, language: str) -> _Side:
    return _Side(tuple(text.split("\n")) if text else (), lines.read_symbols(text, language))


def _changes(sides: Sequence[_Sides], language: str) -> SymbolChanges:
    """Return what became of symbols."""
    was = [one for side, _ in sides for one in side.symbols]
    now = [one for _, side in sides for one in side.symbols]
    is_indented = language in GRAMMARS and GRAMMARS[language].is_indented
    changes = pair_symbols(was, now, is_data=language in DATA_LANGUAGES, is_indented=is_indented)
    if language not in GRAMMARS or not all(
        side.code for pair in sides for side in pair if side.text
    ):
        return changes
    if changes == SymbolChanges(commented=changes.commented):
        raw = [[line for pair in sides for line in pair[which].text] for which in (0, 1)]
        code = [[line for pair in sides for line in pair[which].code] for which in (0, 1)]
        if raw[0] != raw[1] and _is_same(*code, is_indented=is_indented):
            is_layout = _is_same(*raw, is_indented=is_indented)
            changes = replace(changes, only="layout" if is_layout else "comments")
    return changes


def _is_same(one: Sequence[str], other: Sequence[str], *, is_indented: bool) -> bool:
    said = [tokenize("\n".join(lines), is_indented=is_indented) for lines in (one, other)]
    return said[0] == said[1]


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

    same, old, new = _matched(
        list(before), list(after), lambda one: (one.path, one.signature, one.text)
    )
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
