"""Reads the patches of `apply_patch`, by which models of OpenAI edit files in several clients.

Such a patch names the files that it adds, updates, moves and deletes, and shows of an update the
changed lines with those around them, but no line numbers. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from observer.clients.payload import text
from observer.clients.tools import ToolCall, other, said
from observer.code.edits import symbol_changes_of
from observer.core.events import Edit, FileWrite, ToolUse

TOOLS = frozenset({"apply_patch", "ApplyPatch"})
"""Names of the tool."""

_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_HUNK = re.compile(r"^@@.*$", re.MULTILINE)
_MOVE = re.compile(r"\n\*\*\* Move to: (.+)")


def writes(call: ToolCall) -> Iterator[FileWrite | ToolUse]:
    """Yield what a patch does to each file; the call as it came where it names none.

    A file that moves is one that is edited at its new place and one that is deleted.
    """
    given = text(call.given, "command", "input", "patch", "patchText").partition("\n*** End Patch")[
        0
    ]
    error = (said(call) or "failed") if call.failed else ""
    _, *parts = _FILE.split(given)
    if not parts:
        yield other(call)
    for action, path, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        for write in _writes(action, path.strip(), body):
            yield msgspec.structs.replace(write, tool=call.tool, error=error)


def _writes(action: str, path: str, body: str) -> Iterator[FileWrite]:
    moved = _MOVE.match(body)
    if action == "Add":
        content = "".join(f"{line[1:]}\n" for line in body.split("\n") if line[:1] == "+")
        symbols = symbol_changes_of(path, "", content)
        yield FileWrite(path=path, operation="create", content=content, symbols=symbols)
    if action == "Update":
        yield FileWrite(path=moved[1].strip() if moved else path, edits=tuple(_edits(body)))
    if action == "Delete" or moved:
        yield FileWrite(path=path, operation="delete")


def _edits(body: str) -> Iterator[Edit]:
    """Yield the replacements of an update, with the lines around them."""
    for hunk in _HUNK.split(body):
        lines = [line or " " for line in hunk.strip("\n").split("\n")]
        old, new = (
            "\n".join(line[1:] for line in lines if line[0] in (" ", sign)) for sign in "-+"
        )
        if old != new:
            yield Edit(old=old, new=new)
