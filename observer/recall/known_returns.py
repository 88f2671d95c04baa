"""Whether an edit brings back what another session has made, tried and taken back.

A read, before the edit. Edits are compared by their marks (`interpret.marks`): the same lines go,
the same lines come.
"""

from __future__ import annotations

from typing import NamedTuple

from observer.events import FileWrite
from observer.interpret import marks
from observer.interpret.story import ASIDE, DROPPED, Edited, Story
from observer.interpret.told import Where
from observer.interpret.wording import relative


class Returned(NamedTuple):
    """The edit that was taken back, and how that happened."""

    edit: Edited
    how: str


def find(known: Story, write: FileWrite, where: Where, session_id: int | None) -> Returned | None:
    """Return the newest edit of an earlier session that a write repeats and that is gone."""
    coming = set(marks.of(write).edits)
    path = relative(write.path, where.root, where.cwd)
    for edit in reversed(known.edits if coming else ()):
        if edit.path == path and coming <= set(edit.marks):
            is_gone = edit.gone not in {"", ASIDE} and edit.session not in {None, session_id}
            return Returned(edit, _how(known, edit)) if is_gone else None
    return None


def _how(known: Story, edit: Edited) -> str:
    if edit.gone != DROPPED:
        return f"reverted in {edit.gone[:10]}"
    undo = [one for one in known.edits if one.sort == "undo" and one.since <= edit.seq < one.seq]
    return undo[0].said if undo else "taken back"
