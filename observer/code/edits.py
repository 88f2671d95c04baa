"""Comparing two versions of a file, or of pieces of one: symbols changed, lines in common.

Both versions are read the same way, so that a difference between readers is never a change. Symbols
are paired by path; several of one path by what they say, then by their signatures, then in order.
Code is compared by its tokens, without what a formatter decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from observer.code import lines
from observer.code.languages import language_of
from observer.code.lines import Symbol
from observer.code.outline import is_parsable, parse_fragment, parse_lines
from observer.code.tree import DATA_LANGUAGES, GRAMMARS
from observer.core.events import Edit, FileWrite
from observer.core.text import distinct, one_line
from observer.core.value import SymbolChanges, Value


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


def parameters_changed(write: FileWrite) -> dict[str, tuple[list[str], list[str]]]:
    """Return which parameters each function gained and lost by a write, by its path."""
    found, language = {}, language_of(write.path)
    for was, now in (_pieces(edit.old, edit.new, language) for edit in write.edits):
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
    following = before[len(before) - end :][:_COMMENT_LINES]
    # Up to what a comment behind the change is of.
    codes = ((count, line.strip()) for count, line in enumerate(following, 1))
    own = (count for count, code in codes if code and not code.startswith(_COMMENTING))
    end -= next(own, len(following))
    # First what was just written: it is broken more often than what stood there.
    now = _part(new, language, (start, end))
    was = _part(old, language, (start, end)) if now else None
    both = (was, now) if was and now else (_by_lines(old, language), _by_lines(new, language))
    return _changes([both], language)


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
    symbols, code = found
    every = tuple(text.split("\n"))
    is_indented = GRAMMARS[language].is_indented
    kept = []
    for one in symbols:
        first, last = every[one.first_line - 1], every[one.last_line - 1]
        # A piece that begins amid a line does not show what is around that.
        is_amid = one.first_line == 1 and (one.last_line == 1 or last[:1].isspace())
        if one.kind != "variable" or not (is_indented or is_amid or first[:1].isspace()):
            kept.append(one)  # a variable may be one of a function that the piece does not show
    return _Side(every, tuple(kept), code)


def _by_lines(text: str, language: str) -> _Side:
    return _Side(tuple(text.split("\n")) if text else (), lines.read_symbols(text, language))


def _changes(sides: Sequence[_Sides], language: str) -> SymbolChanges:
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

_Symbols: TypeAlias = list[Symbol]
_Shape: TypeAlias = tuple[tuple[str, str, str], ...]
_Key: TypeAlias = Callable[[Symbol], Hashable]


def pair_symbols(
    before: Sequence[Symbol], after: Sequence[Symbol], *, is_data: bool, is_indented: bool
) -> SymbolChanges:
    """Return what became of some symbols; of data, only the outermost that came or went."""

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
        commented=_unique(path for path in commented if path not in known),
    )


_tokens = lru_cache(maxsize=256)(tokenize)


def _roughly(symbol: Symbol) -> tuple[str, str]:
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


def _renamed(old: _Symbols, new: _Symbols) -> list[tuple[str, str]]:
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


MOST_SYMBOLS = 24
TEXT_CHARS = 160


class ChangeSummary(Value):
    """What happened to one file; the sum of several edits if they were folded.

    `new`, `changed`, `resigned` (with another signature) and `gone` are paths of symbols, `renamed`
    pairs of an old and a new one, `commented` what has other comments; a path is in one of them.
    `became` says what became of the line, where an edit is of one.
    """

    added: int = 0
    removed: int = 0
    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    resigned: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    commented: tuple[str, ...] = ()
    only: Literal["", "layout", "comments"] = ""
    became: str = ""

    @property
    def symbols(self) -> tuple[str, ...]:
        """Every symbol that was touched, new ones first."""
        renamed = [name for pair in self.renamed for name in pair[::-1]]
        every = (*self.new, *self.resigned, *renamed, *self.changed, *self.gone)
        return distinct((*every, *self.commented), 4 * MOST_SYMBOLS)


def merge_changes(first: ChangeSummary, then: ChangeSummary) -> ChangeSummary:
    """Return the sum of two changes of one file, in the order they were made."""
    became = {old: new for old, new in then.renamed if old in first.new}
    was_new = {became.get(name, name): None for name in first.new}
    passing, back = was_new.keys() & {*then.gone}, {*first.gone} & {*then.new}
    new = [name for name in (*was_new, *then.new) if name not in passing | back]
    gone = [name for name in (*first.gone, *then.gone) if name not in passing | back]
    pairs = [pair for pair in then.renamed if pair[0] not in became]
    settled = {*new, *gone, *passing}
    resigned = [name for name in (*first.resigned, *then.resigned) if name not in settled]
    changed = [*first.changed, *then.changed, *(name for name in then.new if name in back)]
    settled.update(resigned)
    changed = [name for name in changed if name not in settled]
    settled.update(changed)
    return ChangeSummary(
        added=first.added + then.added,
        removed=first.removed + then.removed,
        new=distinct(new, MOST_SYMBOLS),
        changed=distinct(changed, MOST_SYMBOLS),
        resigned=distinct(resigned, MOST_SYMBOLS),
        gone=distinct(gone, MOST_SYMBOLS),
        renamed=tuple(dict.fromkeys((*first.renamed, *pairs)))[:MOST_SYMBOLS],
        commented=distinct(
            (name for name in (*first.commented, *then.commented) if name not in settled),
            MOST_SYMBOLS,
        ),
        only=then.only if then.only == first.only else "",
    )


_PATH_CHARS = 160
_MOST_NAMED = 48


def summarize_write(write: FileWrite) -> ChangeSummary:
    """Return what a write changed, as far as the event shows it."""
    edits = write.edits or ((Edit(new=write.content),) if write.content else ())
    if not edits:
        return ChangeSummary()
    return summarize_edits(edits, language_of(write.path), write.symbols)


def summarize_edits(
    edits: Sequence[Edit], language: str, symbols: SymbolChanges | None = None
) -> ChangeSummary:
    """Compare pieces of a file before and after; `symbols` if they were seen in the whole file."""
    gone: list[str] = []
    fresh: list[str] = []
    for edit in edits:
        old, new = _lines(edit.old), _lines(edit.new)
        gone += (old - new).elements()
        fresh += (new - old).elements()
    became = ""
    if len(gone) == len(fresh) == 1:
        before, after = one_line(gone[0], TEXT_CHARS), one_line(fresh[0], TEXT_CHARS)
        became = f"`{before}` became `{after}`" if before and after and before != after else ""
    symbols = symbols or compare_fragments(((edit.old, edit.new) for edit in edits), language)
    return ChangeSummary(
        added=len(fresh),
        removed=len(gone),
        new=_shown(symbols.added),
        changed=_shown(symbols.changed),
        resigned=_shown(symbols.resigned),
        gone=_shown(symbols.removed),
        renamed=tuple((_path(old), _path(new)) for old, new in symbols.renamed[:MOST_SYMBOLS]),
        commented=_shown(symbols.commented),
        only=symbols.only,
        became=became,
    )


def _lines(text: str) -> Counter[str]:
    return Counter(text.removesuffix("\n").split("\n") if text else ())


def _shown(paths: Sequence[str]) -> tuple[str, ...]:
    return distinct([_path(path) for path in paths[:MOST_SYMBOLS]], MOST_SYMBOLS)


def _path(path: str) -> str:
    return one_line(path, _PATH_CHARS)


def symbol_changes_of(path: str, old: str | None, new: str | None) -> SymbolChanges | None:
    """Return what became of the symbols of a file; None if one of its texts is not known."""
    language = language_of(path)
    if old is None or new is None or not language:
        return None
    found = compare_files(old, new, language)
    if found is None:
        return None
    renamed = ((was[:_PATH_CHARS], now[:_PATH_CHARS]) for was, now in found.renamed[:_MOST_NAMED])
    kept = {
        sort: tuple(path[:_PATH_CHARS] for path in getattr(found, sort)[:_MOST_NAMED])
        for sort in ("added", "changed", "resigned", "removed", "commented")
    }
    return replace(found, renamed=tuple(renamed), **kept)


def texts_around(text: str, edits: Sequence[Edit]) -> tuple[str, str] | None:
    """Return a file before and after edits, by a later text that shows each once; else None."""
    before = text
    for edit in reversed(edits):
        if not edit.new.strip() or before.count(edit.new) != 1:
            return None
        before = before.replace(edit.new, edit.old)
    return before, text
