"""Detects file changes from the texts before and after, and makes events of them.

Several saves of one file are one change, from the first text to the last. The symbols of an edit
whose client shows only the piece that changed follow from the file, where that stands in it once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from observer.code.edits import common_affixes, symbol_changes_of, texts_around
from observer.code.languages import FLAT, definition_name, language_of
from observer.core.events import Custom, Edit, Event, FileWrite
from observer.core.paths import read_head
from observer.core.value import Value

ABOVE = 40
"""Lines looked through above a change for the definition that it is in."""
BELOW = 2
MOST_COMPARED = 1_500
"""Lines, common beginning and end left out, up to which changes far apart are separate edits."""
MOST_NAMED = 200

_PASSING = re.compile(
    r"4913|.*~|#.*#|\.#.*|.*\.sw[a-z]|.*\.(?:tmp|temp|bak|orig|rej|part|crdownload)"
    r"|\.goutputstream-.*|.*___jb_(?:tmp|old)___|\.~lock\..*|.*\.tmp[.-].*|\.\d+\.\d+\.tmp|sed[A-Za-z0-9]{6}",
    re.IGNORECASE,
)


class Save(Value):
    """One file before and after, None if not there; without `has_text` it was too much."""

    path: str
    from_ms: int
    to_ms: int
    old: str | None
    new: str | None
    has_text: bool = True


def is_temporary(name: str) -> bool:
    """Return True if a file only exists while an editor saves: swap, backup, temporary files."""
    return _PASSING.fullmatch(name) is not None


def merge_saves(first: Save, then: Save) -> Save:
    """Return two saves of one file, one after the other, as one."""
    has_text = first.has_text and then.has_text
    return replace(first, to_ms=then.to_ms, new=then.new, has_text=has_text)


def has_effect(save: Save) -> bool:
    """Return True if a save changed the file."""
    return not save.has_text or save.old != save.new


def save_event(save: Save, root: str) -> FileWrite:
    """Return what happened to one file."""
    path = f"{root}/{save.path}"
    if save.new is None:
        return FileWrite(path=path, operation="delete")
    is_new = save.old is None
    if not save.has_text:
        return FileWrite(path=path, operation="create" if is_new else "edit")
    symbols = symbol_changes_of(path, save.old or "", save.new)
    if save.old is None:
        return FileWrite(path=path, operation="create", content=save.new, symbols=symbols)
    edits = tuple(edits_of(save.old, save.new, save.path))
    return FileWrite(path=path, operation="edit", edits=edits, symbols=symbols)


def bulk_change_event(saves: Sequence[Save], root: str) -> Custom:
    """Return what happened to so many files that they count as one event."""
    by_folder: dict[str, int] = {}
    for save in saves:
        folder = save.path.rpartition("/")[0] or "."
        by_folder[folder] = by_folder.get(folder, 0) + 1
    most = sorted(by_folder.items(), key=lambda each: (-each[1], each[0]))[:10]
    where = ", ".join(f"{count:,} in {folder}" for folder, count in most)
    return Custom(
        name="files-changed",
        text=f"{len(saves):,} files changed at once: {where}",
        files=tuple(f"{root}/{save.path}" for save in saves[:MOST_NAMED]),
    )


def edits_of(old: str, new: str, path: str) -> Iterator[Edit]:
    """Yield the changes between two texts, each with the lines around that say where it is."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    hunks = _hunks(before, after)
    language = language_of(path)
    done = 0
    for number, hunk in enumerate(hunks):
        following = hunks[number + 1].old_from if number + 1 < len(hunks) else len(before)
        changed = next(filter(str.strip, after[hunk.new_from :]), "")
        above = _above(before[done : hunk.old_from], changed, language)
        below = min(BELOW, following - hunk.old_to)
        yield Edit(
            old="".join(before[hunk.old_from - above : hunk.old_to + below]),
            new="".join(after[hunk.new_from - above : hunk.new_to + below]),
        )
        done = hunk.old_to


class _Hunk(NamedTuple):
    """Lines that differ: those from `old_from` to before `old_to` became the other ones."""

    old_from: int
    old_to: int
    new_from: int
    new_to: int


def _hunks(before: Sequence[str], after: Sequence[str]) -> list[_Hunk]:
    start, end = common_affixes(before, after)
    inner = before[start : len(before) - end], after[start : len(after) - end]
    if max(map(len, inner)) > MOST_COMPARED:
        return [_Hunk(start, len(before) - end, start, len(after) - end)]
    return [
        _Hunk(start + old_from, start + old_to, start + new_from, start + new_to)
        for tag, old_from, old_to, new_from, new_to in SequenceMatcher(None, *inner).get_opcodes()
        if tag != "equal"
    ]


def _above(lines: Sequence[str], changed: str, language: str) -> int:
    """Return how many of the lines before a change to show: up to the definition that it is in."""
    inside = len(changed) - len(changed.lstrip())
    for count, line in enumerate(reversed(lines[-ABOVE:]), 1):
        indent = len(line) - len(line.lstrip())
        if (indent < inside or language in FLAT) and definition_name(
            line.strip(), indent, language
        ):
            return count
    return min(BELOW, len(lines))


MOST_BYTES = 1 << 20


def with_symbols(event: Event) -> Event:
    """Return an event of an edit with the symbols that it changed, as far as the file shows it."""
    body = event.body
    if not isinstance(body, FileWrite) or body.symbols or body.error or not body.edits:
        return event
    path, read = Path(event.cwd, body.path), b""
    if path.is_absolute() and language_of(body.path):
        with suppress(OSError, ValueError):
            read = read_head(path, MOST_BYTES + 1)
    is_usual = 0 < len(read) <= MOST_BYTES
    found = texts_around(read.decode("utf-8", "replace"), body.edits) if is_usual else None
    symbols = symbol_changes_of(body.path, *found) if found else None
    return replace(event, body=replace(body, symbols=symbols)) if symbols else event
