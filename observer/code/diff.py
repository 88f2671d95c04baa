"""Comparing two versions of a file, or of pieces of one: symbols changed, lines in common.

Both versions are read the same way, so that a difference between readers is never a change. Of a
whole file, only what its changed lines touch is read. Line comparison takes linear time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from observer.code import lines
from observer.code.grammars import DATA_LANGUAGES, GRAMMARS
from observer.code.outline import is_parsable, parse_fragment, parse_lines
from observer.code.pairing import pair_symbols, tokenize
from observer.code.symbol import Symbol, mentioned_names
from observer.core.value import SymbolChanges


def common_affixes(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """Return how many lines both begin with, and how many more both end with."""
    start = _alike(before, after)
    return start, _alike(before[start:][::-1], after[start:][::-1])


def indexes_only_in(part: Sequence[str], other: Sequence[str]) -> list[int]:
    """Return the places of lines that the other does not have, each as often as it lacks it."""
    if not part or not other:
        return [*range(len(part))]
    spare: dict[str, int] = {}
    for line in other:
        spare[line] = spare.get(line, 0) + 1
    found = []
    for place, line in enumerate(part):
        if spare.get(line):
            spare[line] -= 1
        else:
            found.append(place)
    return found


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
    """One version of some lines; `code` and `plain` as in `Parsed`, empty if it was not parsed."""

    text: tuple[str, ...]
    symbols: tuple[Symbol, ...]
    code: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()


_Sides: TypeAlias = tuple[_Side, _Side]
_NOTHING = _Side((), ())


def compare_fragments(edits: Iterable[tuple[str, str]], language: str) -> SymbolChanges:
    """Return what (old, new) pieces of one file, taken together, did to its symbols."""
    return _changes([_pieces(old, new, language) for old, new in edits], language)


def compare_files(old: str, new: str, language: str) -> SymbolChanges | None:
    """Return what became of the symbols of a file; None if it is too large to be looked at."""
    if max(len(old), len(new)) > MOST_CHARS:
        return None
    before, after = old.split("\n"), new.split("\n")
    start, end = common_affixes(before, after)
    if start == len(before) == len(after):
        return SymbolChanges()
    end -= _behind(before[len(before) - end :])
    sides = _parts(old, new, language, (start, end))
    if not sides:
        sides = _by_lines(old, language), _by_lines(new, language)
    return _changes([sides], language, whole=(old, new))


def _behind(following: Sequence[str]) -> int:
    """Return how many lines behind a change to look at: those up to what a comment is of."""
    for count, line in enumerate(following[:_COMMENT_LINES], 1):
        code = line.strip()
        if code and not code.startswith(_COMMENTING):
            return count
    return min(len(following), _COMMENT_LINES)


def _parts(old: str, new: str, language: str, around: tuple[int, int]) -> _Sides | None:
    """Read the lines of a file that differ; None if its trees are not sound there."""
    # First what was just written: it is broken more often than what stood there.
    now = _part(new, language, around)
    was = _part(old, language, around) if now else None
    return (was, now) if was and now else None


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
    symbols = tuple(
        one for one in found.symbols if _is_outermost(one, every, is_indented=is_indented)
    )
    return _Side(every, symbols, found.code, found.plain)


def _is_outermost(one: Symbol, text: Sequence[str], *, is_indented: bool) -> bool:
    """Return False for a variable that may be inside of a function which a piece does not show."""
    if one.kind != "variable":
        return True
    if is_indented:  # a script may have any number of them; a file says which are its own
        return False
    first, last = text[one.first_line - 1], text[one.last_line - 1]
    if one.first_line == 1 and (one.last_line == 1 or last[:1].isspace()):
        return False  # the piece may begin amid a line
    return not first[:1].isspace()


def _by_lines(text: str, language: str) -> _Side:
    return _Side(tuple(text.split("\n")) if text else (), lines.read_symbols(text, language))


def _changes(sides: Sequence[_Sides], language: str, *, whole: Sequence[str] = ()) -> SymbolChanges:
    """Return what became of symbols; `whole` are the files, if they are known."""
    was = [one for side, _ in sides for one in side.symbols]
    now = [one for _, side in sides for one in side.symbols]
    is_indented = language in GRAMMARS and GRAMMARS[language].is_indented
    changes = pair_symbols(was, now, is_data=language in DATA_LANGUAGES, is_indented=is_indented)
    if language not in GRAMMARS or not all(
        side.code for pair in sides for side in pair if side.text
    ):
        return changes
    if changes == SymbolChanges(commented=changes.commented):
        changes = replace(changes, only=_only(sides, is_indented=is_indented))
    if not GRAMMARS[language].is_code:
        return changes
    old, new = whole or ("\n".join(_texts(sides, 0)), "\n".join(_texts(sides, 1)))
    named = {parse_lines for one in (*was, *now) for parse_lines in one.path.split(".")}
    return replace(
        changes,
        names=tuple(one for one in _mentioned(sides, 1) if one not in old and one not in named),
        dropped=tuple(one for one in _mentioned(sides, 0) if one not in new and one not in named),
    )


def _texts(sides: Sequence[_Sides], which: int) -> Iterator[str]:
    return (line for pair in sides for line in pair[which].text)


def _mentioned(sides: Sequence[_Sides], which: int) -> Iterable[str]:
    """Return the names in the lines that one version has and the other has not."""
    found: dict[str, None] = {}
    for pair in sides:
        side = pair[which]
        fresh = (side.plain[place] for place in indexes_only_in(side.text, pair[1 - which].text))
        found.update(mentioned_names(fresh))
    return found


def _only(sides: Sequence[_Sides], *, is_indented: bool) -> Literal["", "layout", "comments"]:
    """Return what differs, if it is not the code."""
    raw = [list(_texts(sides, which)) for which in (0, 1)]
    code = [[line for pair in sides for line in pair[which].code] for which in (0, 1)]
    if raw[0] == raw[1] or not _is_same(*code, is_indented=is_indented):
        return ""
    return "layout" if _is_same(*raw, is_indented=is_indented) else "comments"


def _is_same(one: Sequence[str], other: Sequence[str], *, is_indented: bool) -> bool:
    said = [tokenize("\n".join(lines), is_indented=is_indented) for lines in (one, other)]
    return said[0] == said[1]
