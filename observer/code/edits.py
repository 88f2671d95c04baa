"""What an edit changed: lines added and removed, and symbols.

Part of interpretation (step 6). Lines are compared as multisets between the common beginning and
end, so the time is linear in the text.

A `ChangeSummary` says it of one file in numbers and names, and sums of it are of several edits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from observer.code.diff import (
    compare_files,
    compare_fragments,
    compare_parameters,
)
from observer.code.languages import language_of
from observer.core.events import Edit, FileWrite
from observer.core.text import distinct, one_line
from observer.core.value import SymbolChanges, Value

MOST_SYMBOLS = 24
"""Most symbols of one sort that a change names."""
TEXT_CHARS = 160


class ChangeSummary(Value):
    """What happened to one file; the sum of several edits if they were folded.

    `new`, `changed`, `resigned` (with another signature) and `gone` are paths of symbols,
    `renamed` pairs of an old and a new one, `moved` what only stands elsewhere, `commented` what
    has other comments; a path is in one of them. `only` says that nothing but the layout, or the
    comments, changed. `became` says what became of the line, where an edit is of one.
    """

    added: int = 0
    removed: int = 0
    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    resigned: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    moved: tuple[str, ...] = ()
    commented: tuple[str, ...] = ()
    only: Literal["", "layout", "comments"] = ""
    became: str = ""

    @property
    def symbols(self) -> tuple[str, ...]:
        """Every symbol that was touched, new ones first."""
        renamed = [name for pair in self.renamed for name in pair[::-1]]
        every = (*self.new, *self.resigned, *renamed, *self.changed, *self.gone)
        return distinct((*every, *self.commented, *self.moved), 4 * MOST_SYMBOLS)


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
        moved=_besides(settled, first.moved, then.moved),
        commented=_besides(settled, first.commented, then.commented),
        only=then.only if then.only == first.only else "",
    )


def _besides(settled: set[str], first: Sequence[str], then: Sequence[str]) -> tuple[str, ...]:
    return distinct((name for name in (*first, *then) if name not in settled), MOST_SYMBOLS)


_PATH_CHARS = 160
_MOST_NAMED = 48
"""Symbols kept of each sort."""


def summarize_write(write: FileWrite) -> ChangeSummary:
    """Return what a write changed, as far as the event shows it."""
    edits = write.edits or ((Edit(new=write.content),) if write.content else ())
    if not edits:
        return ChangeSummary()
    return summarize_edits(edits, _language_of(write.path), write.symbols)


def parameters_changed(write: FileWrite) -> dict[str, tuple[list[str], list[str]]]:
    """Return which parameters each function gained and lost by a write, by its path."""
    pieces = ((edit.old, edit.new) for edit in write.edits)
    return compare_parameters(pieces, _language_of(write.path))


def summarize_edits(
    edits: Sequence[Edit], language: str, symbols: SymbolChanges | None = None
) -> ChangeSummary:
    """Compare what pieces of one file said before and after, taken together.

    Args:
        edits: the pieces.
        language: as `languages.language_of` names it.
        symbols: what became of the symbols, where that was seen in the whole file.
    """
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
        moved=_shown(symbols.moved),
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


def has_symbols(path: str) -> bool:
    """Return whether a file's name is one of a language whose symbols are known."""
    return bool(_language_of(path))


def symbol_changes_of(path: str, old: str | None, new: str | None) -> SymbolChanges | None:
    """Return what became of the symbols of a file; None if one of its texts is not known."""
    language = _language_of(path)
    if old is None or new is None or not language:
        return None
    found = compare_files(old, new, language)
    return found and SymbolChanges(
        added=_short(found.added),
        changed=_short(found.changed),
        resigned=_short(found.resigned),
        removed=_short(found.removed),
        renamed=tuple((was[:_PATH_CHARS], now[:_PATH_CHARS]) for was, now in found.renamed)[
            :_MOST_NAMED
        ],
        moved=_short(found.moved),
        commented=_short(found.commented),
        only=found.only,
    )


def _language_of(path: str) -> str:
    return language_of(path.replace("\\", "/"))


def _short(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name[:_PATH_CHARS] for name in names[:_MOST_NAMED])


def texts_around(text: str, edits: Sequence[Edit]) -> tuple[str, str] | None:
    """Return a file before and after some edits, by a later text of it that still shows them all.

    What else changed in the file since is in both. None if an edit is not there, or stands at
    several places.
    """
    before = text
    for edit in reversed(edits):
        if not edit.new.strip() or before.count(edit.new) != 1:
            return None
        before = before.replace(edit.new, edit.old)
    return before, text
