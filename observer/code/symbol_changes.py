"""What an edit did to the symbols of a file whose texts before and after are known. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from observer.code import compare_files
from observer.code.languages import language_of
from observer.core.events import Edit
from observer.core.value import SymbolChanges

MOST_NAMED = 48
"""Symbols kept of each sort."""
NAME_CHARS = 160


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
        renamed=tuple((was[:NAME_CHARS], now[:NAME_CHARS]) for was, now in found.renamed)[
            :MOST_NAMED
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
    return tuple(name[:NAME_CHARS] for name in names[:MOST_NAMED])


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
