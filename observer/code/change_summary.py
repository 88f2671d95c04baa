"""What a change of one file says: its lines and symbols in numbers and names, and their sums.

Values and what is made of values alone; `edits` makes them of texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from observer.core.text import distinct, one_line
from observer.core.value import Value

MOST_SYMBOLS = 24
"""Most symbols of one sort that a change names."""
MOST_NAMES = 12
"""Most identifiers that a change names as coming in or going out."""
FEW_LINES = 3
"""Most lines, in and out, that are quoted as they are."""
TEXT_CHARS = 160


class ChangeSummary(Value):
    """What happened to one file; the sum of several edits if they were folded.

    `new`, `changed`, `resigned` (with another signature) and `gone` are paths of symbols,
    `renamed` pairs of an old and a new one, `moved` what only stands elsewhere, `commented` what
    has other comments; a path is in one of them. `names` are identifiers that the code uses now,
    `dropped` those that it uses no more. `only` says that nothing but the layout, or the comments,
    changed. `before` and `after` hold the text of a change of a few lines; of more, one of
    them holds the first line that says something.
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
    names: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    before: str = ""
    after: str = ""

    @property
    def symbols(self) -> tuple[str, ...]:
        """Every symbol that was touched, new ones first."""
        renamed = [name for pair in self.renamed for name in pair[::-1]]
        every = (*self.new, *self.resigned, *renamed, *self.changed, *self.gone)
        return distinct((*every, *self.commented, *self.moved), 4 * MOST_SYMBOLS)


class EditFingerprints(Value):
    """The fingerprints of a write's edits in order, and whether it only adds debugging code.

    A probe adds statements that print or stop and nothing else: it finds a fault and fixes none.
    """

    edits: tuple[str, ...] = ()
    is_probe: bool = False


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
    before, after = _texts(first, then)
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
        names=_lasting(first.names, first.dropped, then.names, then.dropped),
        dropped=_lasting(first.dropped, first.names, then.dropped, then.names),
        before=before,
        after=after,
    )


def _texts(first: ChangeSummary, then: ChangeSummary) -> tuple[str, str]:
    """Return the text of two changes before and after, of many lines how they begin."""
    if then.before and first.after == then.before:
        return first.before, then.after
    if max(first.added + then.added, first.removed + then.removed) > FEW_LINES:
        after = first.after or then.after
        return "" if after else first.before or then.before, after
    return joined(first.before, then.before), joined(first.after, then.after)


def joined(*texts: str) -> str:
    """Return texts on one line of at most `TEXT_CHARS` characters."""
    return one_line(" ".join(filter(None, texts)), TEXT_CHARS)


def _besides(settled: set[str], first: Sequence[str], then: Sequence[str]) -> tuple[str, ...]:
    return distinct((name for name in (*first, *then) if name not in settled), MOST_SYMBOLS)


def _lasting(
    first: Sequence[str], undone: Sequence[str], then: Sequence[str], undoing: Sequence[str]
) -> tuple[str, ...]:
    """Return what happened first and was not undone, and then, where that undid nothing."""
    kept = [name for name in first if name not in undoing]
    return distinct((*kept, *(name for name in then if name not in undone)), MOST_NAMES)


def inverse_fingerprint(mark: str) -> str:
    """Return the fingerprint of the edit that undoes the one with this fingerprint."""
    old, _, new = mark.partition(":")
    return f"{new}:{old}"
