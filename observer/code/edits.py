"""What an edit changed: lines added and removed, symbols, and the edit's fingerprint.

Part of interpretation (step 6). Lines are compared as multisets between the common beginning and
end, so the time is linear in the text. A fingerprint is two digests, of what was removed and of
what was added, without the lines that both have around it: an edit and its inverse have each
other's, whatever was quoted with them. The fingerprint of a whole file is that of its content.

A `ChangeSummary` says it of one file in numbers and names, and sums of it are of several edits.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Literal

from observer.code.diff import (
    common_affixes,
    compare_files,
    compare_fragments,
    compare_parameters,
    indexes_only_in,
)
from observer.code.languages import PROSE, language_of
from observer.core.events import Edit, FileWrite
from observer.core.text import distinct, one_line
from observer.core.value import SymbolChanges, Value

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


_PATH_CHARS = 160
_MOST_NAMED = 48
"""Symbols kept of each sort."""
_AROUND = 40
"""Characters that are shown before a difference."""
_WORD = re.compile(r"[^\W\d_]{2}")
_NO_PROSE = re.compile(r"\s*(?:[#=~`<|:]|\.\.|---)")
"""How headings, rules, tables and code begin in prose."""
_NO_CODE = re.compile(
    r"\s*(?:[{}()\[\];,]+\s*$|//|#(?:\s|!)|/?\*|<!--|--\s|[\"']{3}|import\b|use\s|package\s|using\s"
    r"|from\s+\S+\s+import\b|export\s+(?:\*|\{))"
)
"""How lines begin that say little of a change of code."""
_OPENING = ("{", "(", "[", "=>", "&&", "||", "=", "<")
"""How lines end that open a block or a statement."""


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
        old, new = differing_lines(edit)
        gone += [old[place] for place in indexes_only_in(old, new)]
        fresh += [new[place] for place in indexes_only_in(new, old)]
    before, after = _quoted(gone, fresh, language)
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
        names=distinct(symbols.names, MOST_NAMES),
        dropped=distinct(symbols.dropped, MOST_NAMES),
        before=before,
        after=after,
    )


def _quoted(gone: Sequence[str], fresh: Sequence[str], language: str) -> tuple[str, str]:
    """Return `before` and `after`: a short change as it is, of a longer one how it begins."""
    if max(len(gone), len(fresh)) > FEW_LINES:
        opening = _opening(fresh, language)
        return "" if opening else _opening(gone, language), opening
    if gone and fresh:
        return _from_difference(" ".join(gone), " ".join(fresh))
    return joined(*gone), joined(*fresh)


def _from_difference(before: str, after: str) -> tuple[str, str]:
    """Return two texts on a line each, cut so that it is seen in what they differ."""
    old, new = " ".join(before.split()), " ".join(after.split())
    at = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), len(old))
    start = max(0, at - _AROUND) if max(len(old), len(new)) > TEXT_CHARS else 0
    cut = "\u2026" if start else ""
    return cut + one_line(old[start:], TEXT_CHARS), cut + one_line(new[start:], TEXT_CHARS)


def _opening(lines: Sequence[str], language: str) -> str:
    """Return the first line that says something: no heading, import, bracket or comment.

    A line that only opens a block says less than one inside of it.
    """
    no_text = _NO_PROSE if language in PROSE else _NO_CODE
    said = [line for line in lines if _WORD.search(line) and not no_text.match(line)]
    whole = (line for line in said if not line.rstrip().endswith(_OPENING))
    return one_line(next(whole, max(said, key=len, default="")), TEXT_CHARS)


def _shown(paths: Sequence[str]) -> tuple[str, ...]:
    return distinct([_path(path) for path in paths[:MOST_SYMBOLS]], MOST_SYMBOLS)


def _path(path: str) -> str:
    return one_line(path, _PATH_CHARS)


def differing_lines(edit: Edit) -> tuple[list[str], list[str]]:
    """Return the lines that left and those that came, without those around that both have."""
    old, new = _split(edit.old), _split(edit.new)
    start, end = common_affixes(old, new)
    return old[start : len(old) - end], new[start : len(new) - end]


def _split(text: str) -> list[str]:
    if not text:
        return []
    return text.removesuffix("\n").split("\n")


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
        names=_short(found.names),
        dropped=_short(found.dropped),
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


MOST_FINGERPRINTS = 40
"""Most edits of a write that are fingerprinted; one with more gets no fingerprint."""
_PROBE = re.compile(
    r"\s*(?:(?:print|pprint|pp|p|puts|printf|var_dump|error_log|dbg!|e?println!|eprint!)(?:\s*\(| )"
    r"|console\.(?:log|debug|error|warn|dir)\(|log(?:ger|ging)?\.[a-z]+\(|fmt\.Print[a-z]*\("
    r"|System\.(?:out|err)\.print|breakpoint\(|debugger\b|i?pdb\.set_trace\("
    r"|import (?:pdb|ipdb|pprint|logging)\b)"
)


def fingerprints_of(write: FileWrite) -> EditFingerprints:
    """Return the fingerprints of a write; none if it has more than `MOST_FINGERPRINTS` edits."""
    if not write.edits:
        whole = write.content
        return (
            EditFingerprints()
            if whole is None
            else EditFingerprints(edits=(f"={_digest([whole])}",))
        )
    cores = [differing_lines(edit) for edit in write.edits[:MOST_FINGERPRINTS]]
    marks = [f"{_digest(old)}:{_digest(new)}" for old, new in cores if old != new]
    came = [line for _, new in cores for line in new if line.strip()]
    return EditFingerprints(
        edits=tuple(marks) if len(write.edits) <= MOST_FINGERPRINTS else (),
        is_probe=bool(came) and not any(old for old, _ in cores) and all(map(_PROBE.match, came)),
    )


def _digest(lines: list[str]) -> str:
    text = "\n".join(lines)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
