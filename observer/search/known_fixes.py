"""What the project already knows about an action: fixes, reverted edits, working command forms.

`find_fix` returns the command that fixed a failure before, unless it is obvious (`lint:fix` after
`lint`). `find_reverted_edit` recognises, by the fingerprints of its lines, an edit that another
session made and took back. `find_form` returns the form of a command that works where the one at
hand could not start. All are reads at the moment of an action.
"""

from __future__ import annotations

from typing import NamedTuple

from observer.code import edits
from observer.core.events import FileWrite
from observer.core.filters import Filters
from observer.core.model import Item, item_id
from observer.core.text import relative
from observer.core.value import Value
from observer.observations.drafts import Where
from observer.observations.failure_records import DROPPED, STASHED, Alternative, Repair, TrackedEdit
from observer.observations.project_state import ProjectState
from observer.outcomes import not_started, same_check
from observer.shell import command_forms, command_line
from observer.shell.command_forms import InvocationForm
from observer.shell.fixers import fix_kind
from observer.store.interface import StoreReader

SEEN = 50
"""Newest items of one failure that are looked at."""
OFTEN = 2
"""Times that a command must have fixed a check."""
AT_ONCE = 2
"""Events within which a remedy was found at once."""
_CERTAIN = frozenset({"fixer", "install", "generate", "service"})


class Remedy(Value):
    """A command that fixed a failure, how often, and the item that describes it."""

    command: str
    times: int
    item: int


def find_fix(
    reader: StoreReader,
    known: ProjectState,
    signature: str,
    here: Filters,
    *,
    session_id: int | None,
) -> Remedy | None:
    """Return the command that mends a failure; None if there is none, or everybody finds it.

    Args:
        reader: where to look.
        known: the state of the project.
        signature: of the failure.
        here: the project.
        session_id: the session at hand, whose own remedies are no news to it.
    """
    if not signature:
        return None
    for one in known.repairs:
        if signature in one.signatures and one.times >= OFTEN and not _is_obvious(one):
            return Remedy(command=one.by, times=one.times, item=item_id(one.origin.seq, "arc"))
    met = reader.with_signature(signature, here, limit=SEEN)
    fixes = [one for one in met if one.type == "fix" and not one.category]
    said = {command_of(one) for one in fixes}
    if len(said) != 1 or fixes[0].session_id == session_id:
        return None  # a failure fixed in several ways has no certain fix
    command = said.pop()
    return Remedy(command=command, times=len(fixes), item=fixes[0].id) if command else None


def command_of(fix: Item) -> str:
    """Return the command that alone made the difference of a fix; "" if something else did."""
    causes = {link.excerpt for link in fix.links if link.kind == "edit"}
    parts = [part for said in causes for part in command_line.simple_commands(said)]
    is_certain = len(causes) == 1 and parts and all(fix_kind(one) in _CERTAIN for one in parts)
    return causes.pop() if is_certain and not fix.files_modified else ""


def _is_obvious(one: Repair) -> bool:
    """Return True if mostly the fixer was the very next thing that was run."""
    return 2 * sum(span <= AT_ONCE for span in one.spans) >= len(one.spans)


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


_CERTAIN_KNOWN_FORMS = frozenset({"missing", "usage", "script", "folder", "permission"})
_CUT = "…"


def find_form(known: ProjectState, command: str, *, root: str, cwd: str) -> Alternative | None:
    """Return what works instead of a command of this line, by the pair that was met most often."""
    able = [one for one in known.alternatives if _is_certain(one)]
    if not able:
        return None
    folder = same_check.folder_of(command_line.simple_commands(command), root, cwd)
    typed = command_forms.forms_of(command, folder=folder)
    found = [one for one in able if any(_is_of(form, one) for form in typed)]
    return max(found, key=lambda one: one.times, default=None)


def item_of(found: Alternative) -> int:
    """Return the item that describes a command form that works."""
    return item_id(found.origin.seq, "arc")


def _is_certain(one: Alternative) -> bool:
    whole = not one.failed.line.endswith(_CUT) and not one.worked.line.endswith(_CUT)
    return whole and one.reason in _CERTAIN_KNOWN_FORMS and not one.is_refuted


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
    blamed = not_started.start_failure(one.error).name
    words = one.failed.line.split()
    if one.reason not in {"missing", "usage"} or blamed.startswith("-") or blamed not in words:
        return ""
    return " ".join(words[: words.index(blamed) + 1]) + " "
