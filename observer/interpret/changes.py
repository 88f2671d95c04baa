"""What an edit changed: lines in and out, and what became of which symbols.

Part of interpretation (step 6). Lines are compared as multisets between the common beginning and
end, so the time is linear in the text; symbols are those of `syntax`.
"""

from __future__ import annotations

from collections.abc import Sequence

from observer import syntax
from observer.capture.secrets import MARKER
from observer.events import Edit, FileWrite, Value
from observer.interpret.wording import distinct, one_line
from observer.languages import IDENTIFIER, KEYWORDS, language_of

SYMBOLS = 24
"""Most symbols of one sort that a change names."""
NAMES = 12
"""Most identifiers that a change names as coming in or going out."""

_NAMED_CHARS = 8192
_PATH_CHARS = 160


class Change(Value):
    """What happened to one file; the sum of several edits if they were folded.

    `new`, `changed`, `resigned` (with another signature) and `gone` are paths of symbols,
    `renamed` pairs of an old and a new one; a path is in one of them. `names` are identifiers that
    came in, `dropped` those that went. `before` and `after` hold the text of a change of a single
    line.
    """

    added: int = 0
    removed: int = 0
    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    resigned: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    before: str = ""
    after: str = ""

    @property
    def symbols(self) -> tuple[str, ...]:
        """Every symbol that was touched, new ones first."""
        renamed = [name for pair in self.renamed for name in pair[::-1]]
        every = (*self.new, *self.resigned, *renamed, *self.changed, *self.gone)
        return distinct(every, 4 * SYMBOLS)


def change_of(write: FileWrite) -> Change:
    """Return what a write changed, as far as the event shows it."""
    edits = write.edits or ((Edit(new=write.content),) if write.content else ())
    if not edits:
        return Change()
    return difference(edits, language_of(write.path.replace("\\", "/")))


def difference(edits: Sequence[Edit], language: str) -> Change:
    """Compare what pieces of one file said before and after, taken together."""
    gone: list[str] = []
    fresh: list[str] = []
    for edit in edits:
        old, new = differing(edit)
        gone += _only_in(old, new)
        fresh += _only_in(new, old)
    is_single = len(gone) == len(fresh) == 1
    symbols = syntax.compare(((edit.old, edit.new) for edit in edits), language)
    return Change(
        added=len(fresh),
        removed=len(gone),
        new=_shown(symbols.added),
        changed=_shown(symbols.changed),
        resigned=_shown(symbols.resigned),
        gone=_shown(symbols.removed),
        renamed=tuple((_path(old), _path(new)) for old, new in symbols.renamed[:SYMBOLS]),
        names=_identifiers(fresh, "\n".join(edit.old for edit in edits)),
        dropped=_identifiers(gone, "\n".join(edit.new for edit in edits)),
        before=one_line(gone[0], 100) if is_single else "",
        after=one_line(fresh[0], 100) if is_single else "",
    )


def merged(first: Change, then: Change) -> Change:
    """Return the sum of two changes of one file, in the order they were made."""
    was_new, was_gone = {*first.new}, {*first.gone}
    passing, back = was_new & {*then.gone}, was_gone & {*then.new}
    new = [name for name in (*first.new, *then.new) if name not in passing | back]
    gone = [name for name in (*first.gone, *then.gone) if name not in passing | back]
    settled = {*new, *gone, *passing}
    resigned = [name for name in (*first.resigned, *then.resigned) if name not in settled]
    changed = [*first.changed, *then.changed, *(name for name in then.new if name in back)]
    settled.update(resigned)
    return Change(
        added=first.added + then.added,
        removed=first.removed + then.removed,
        new=distinct(new, SYMBOLS),
        changed=distinct((name for name in changed if name not in settled), SYMBOLS),
        resigned=distinct(resigned, SYMBOLS),
        gone=distinct(gone, SYMBOLS),
        renamed=tuple(dict.fromkeys((*first.renamed, *then.renamed)))[:SYMBOLS],
        names=_lasting(first.names, first.dropped, then.names, then.dropped),
        dropped=_lasting(first.dropped, first.names, then.dropped, then.names),
    )


def _lasting(
    first: Sequence[str], undone: Sequence[str], then: Sequence[str], undoing: Sequence[str]
) -> tuple[str, ...]:
    """Return what happened first and was not undone, and then, where that undid nothing."""
    kept = [name for name in first if name not in undoing]
    return distinct((*kept, *(name for name in then if name not in undone)), NAMES)


def _shown(paths: Sequence[str]) -> tuple[str, ...]:
    return distinct([_path(path) for path in paths[:SYMBOLS]], SYMBOLS)


def _path(path: str) -> str:
    return one_line(path, _PATH_CHARS)


def differing(edit: Edit) -> tuple[list[str], list[str]]:
    """Return the lines that left and those that came, without those around that both have."""
    old, new = _split(edit.old), _split(edit.new)
    start, end = syntax.frame(old, new)
    return old[start : len(old) - end], new[start : len(new) - end]


def _split(text: str) -> list[str]:
    if not text:
        return []
    return text.removesuffix("\n").split("\n")


def _only_in(part: list[str], other: list[str]) -> list[str]:
    """Return the lines of a part that the other does not have, each as often as it lacks it."""
    if not part or not other:
        return part
    spare: dict[str, int] = {}
    for line in other:
        spare[line] = spare.get(line, 0) + 1
    found = []
    for line in part:
        if spare.get(line):
            spare[line] -= 1
        else:
            found.append(line)
    return found


def _identifiers(lines: list[str], other: str) -> tuple[str, ...]:
    if not lines:
        return ()
    found: dict[str, None] = {}
    text = "\n".join(lines)[:_NAMED_CHARS]
    for name in IDENTIFIER.findall(MARKER.sub(" ", text)):
        if name not in found and name not in KEYWORDS and name not in other:
            found[name] = None
            if len(found) == NAMES:
                break
    return tuple(found)
