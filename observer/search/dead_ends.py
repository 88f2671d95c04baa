"""Dead ends that a project knows: command forms that cannot run here, edits that were taken back.

`find_reverted_edit` recognises, by the fingerprints of its lines, an edit that another session made
and took back. `find_form` returns the form of a command that works where the one at hand could not
start. Both are reads of the project's state at the moment of an action.
"""

from __future__ import annotations

from typing import NamedTuple

from observer.code import edits
from observer.core.events import FileWrite
from observer.core.model import item_id
from observer.core.text import relative
from observer.observations.drafts import Where
from observer.observations.project_state import (
    DROPPED,
    STASHED,
    Alternative,
    ProjectState,
    TrackedEdit,
)
from observer.outcomes import check_runs, ending
from observer.shell import command_forms, command_line
from observer.shell.command_forms import InvocationForm


class Returned(NamedTuple):
    """The edit that was taken back, and how that happened."""

    edit: TrackedEdit
    how: str


def find_reverted_edit(
    known: ProjectState, write: FileWrite, where: Where, session_id: int | None
) -> Returned | None:
    """Return the newest edit of an earlier session that a write repeats and that is gone."""
    coming = set(edits.fingerprints_of(write).edits)
    path = relative(write.path, where.root, where.cwd)
    for edit in reversed(known.edits if coming else ()):
        if edit.path == path and coming <= set(edit.marks):
            is_gone = edit.reverted_by not in {"", STASHED} and edit.session not in {
                None,
                session_id,
            }
            return Returned(edit, _how(known, edit)) if is_gone else None
    return None


def _how(known: ProjectState, edit: TrackedEdit) -> str:
    if edit.reverted_by != DROPPED:
        return f"reverted in {edit.reverted_by[:10]}"
    undo = [one for one in known.edits if one.kind == "undo" and one.since <= edit.seq < one.seq]
    return undo[0].said if undo else "taken back"


_CERTAIN = frozenset({"missing", "usage", "script", "folder", "permission"})
_CUT = "…"


def find_form(known: ProjectState, command: str, *, root: str, cwd: str) -> Alternative | None:
    """Return what works instead of a command of this line, by the pair that was met most often."""
    able = [one for one in known.alternatives if _is_certain(one)]
    if not able:
        return None
    folder = check_runs.folder_of(command_line.simple_commands(command), root, cwd)
    typed = command_forms.forms_of(command, folder=folder)
    found = [one for one in able if any(_is_of(form, one) for form in typed)]
    return max(found, key=lambda one: one.times, default=None)


def item_of(found: Alternative) -> int:
    """Return the item that describes a command form that works."""
    return item_id(found.origin.seq, "arc")


def _is_certain(one: Alternative) -> bool:
    whole = not one.failed.line.endswith(_CUT) and not one.worked.line.endswith(_CUT)
    return whole and one.reason in _CERTAIN and not one.is_refuted


def _is_of(form: InvocationForm, one: Alternative) -> bool:
    """Return True if a form is what failed, or begins with the words that were to blame."""
    stem = _stem(one)
    return command_forms.is_same_form(form, one.failed) or (
        bool(stem) and f"{form.line} ".startswith(stem) and not one.worked.line.startswith(stem)
    )


def _stem(one: Alternative) -> str:
    """Return the beginning of a failed line that cannot run, whatever follows; "" for none.

    `wrap bun` of `wrap bun run test` where wrap knows no `bun`: so will `wrap bun run lint`.
    """
    blamed = ending.start_failure(one.error).name
    words = one.failed.line.split()
    if one.reason not in {"missing", "usage"} or blamed.startswith("-") or blamed not in words:
        return ""
    return " ".join(words[: words.index(blamed) + 1]) + " "
