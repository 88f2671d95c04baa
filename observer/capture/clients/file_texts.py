"""A file before and after a tool call, as far as the call's answer shows it whole. Pure.

What an edit did to the symbols of a file is read from both texts, before the event is cut to size:
of a function whose middle changed, the lines around the change do not say the name.
"""

from __future__ import annotations

from collections.abc import Iterable

from observer.capture.clients.payload import Object, flag, number, rows, text, words
from observer.events import Edit


def original(answer: Object) -> str | None:
    """Return the text of a file before a tool call; None if the answer does not hold it."""
    if text(answer, "type") == "create":
        return ""
    before = answer.get("originalFile")
    return before if isinstance(before, str) else None


def edited(before: str, answer: Object, given: Object, edits: Iterable[Edit]) -> str | None:
    """Return the text of a file after replacements in it; None if they do not fit it."""
    patched = _patched(before, answer, old="-", new="+")
    if patched is not None:
        return patched
    most = -1 if flag(given, "replace_all") else 1
    after = before
    for edit in edits:
        if edit.old not in after:
            return None
        after = after.replace(edit.old, edit.new, most)
    return None if after == before else after


def unpatched(after: str, answer: Object) -> str | None:
    """Return the text of a file before the patch in an answer; None if there is none that fits."""
    return _patched(after, answer, old="+", new="-")


def _patched(text: str, answer: Object, *, old: str, new: str) -> str | None:
    start_name = "oldStart" if old == "-" else "newStart"
    lines = text.split("\n")
    done: list[str] = []
    at = 0
    for hunk in rows(answer, "structuredPatch"):
        shown = [line for line in words(hunk, "lines") if not line.startswith("\\")]
        was = [line[1:] for line in shown if line[:1] in {" ", old}]
        start = max((number(hunk, start_name) or 0) - (1 if was else 0), 0)
        if start < at or lines[start : start + len(was)] != was:
            return None
        done += lines[at:start]
        done += [line[1:] for line in shown if line[:1] in {" ", new}]
        at = start + len(was)
    return "\n".join(done + lines[at:]) if at or done else None
