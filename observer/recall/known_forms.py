"""Which form of a command works where the one at hand could not run.

A read, at the moment of an action. Only what the project has met counts: a form that could not do
its work (`unstarted`), not one that lacked a setting once; and not any more once it has worked.
"""

from __future__ import annotations

from observer.interpret import commandline, forms, invocation, unstarted
from observer.interpret.forms import Form
from observer.interpret.lessons import Alternative
from observer.interpret.story import Story
from observer.model import item_id

_CERTAIN = frozenset({"missing", "usage", "script", "folder", "permission"})
_CUT = "…"


def find(known: Story, command: str, *, root: str, cwd: str) -> Alternative | None:
    """Return what works instead of a command of this line, by the pair that was met most often."""
    able = [one for one in known.alternatives if _is_certain(one)]
    if not able:
        return None
    folder = invocation.folder_of(commandline.parts_of(command), root, cwd)
    typed = forms.forms_of(command, folder=folder)
    found = [one for one in able if any(_is_of(form, one) for form in typed)]
    return max(found, key=lambda one: one.times, default=None)


def item_of(found: Alternative) -> int:
    """Return the item that tells of a form that works."""
    return item_id(found.origin.seq, "arc")


def _is_certain(one: Alternative) -> bool:
    whole = not one.failed.line.endswith(_CUT) and not one.worked.line.endswith(_CUT)
    return whole and one.reason in _CERTAIN and not one.is_refuted


def _is_of(form: Form, one: Alternative) -> bool:
    """Return True if a form is what failed, or begins with the words that were to blame."""
    stem = _stem(one)
    return forms.is_same(form, one.failed) or (
        bool(stem) and f"{form.line} ".startswith(stem) and not one.worked.line.startswith(stem)
    )


def _stem(one: Alternative) -> str:
    """Return the beginning of a failed line that cannot run, whatever follows; "" for none.

    `wrap bun` of `wrap bun run test` where wrap knows no `bun`: so will `wrap bun run lint`.
    """
    blamed = unstarted.read(one.error).name
    words = one.failed.line.split()
    if one.reason not in {"missing", "usage"} or blamed.startswith("-") or blamed not in words:
        return ""
    return " ".join(words[: words.index(blamed) + 1]) + " "
