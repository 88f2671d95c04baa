"""What calls of Codex's shells ask, and how their answers say that a command ended.

The shell had other names and other answers in older versions. Pure.
"""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, number, parsed, prose, text, words

SHELLS = frozenset(
    {"exec_command", "shell", "shell_command", "local_shell", "container.exec", "unified_exec"}
)
STDIN = "write_stdin"
_PATCHES = ("apply_patch", "applypatch")
_BEGIN = "*** Begin Patch"
_HEAD = re.compile(
    r"(?:Chunk ID: [^\n]*\n)?(?:Exit code: (?P<old>-?\d{1,9})\n)?(?:Wall time: [^\n]*\n)?"
    r"(?:Process (?:exited with code (?P<new>-?\d{1,9})"
    r"|running with session ID (?P<on>\d{1,18}))\n)?"
    r"(?:Original token count: \d+\n)?(?:Total output lines: \d+\n)?Output:\n"
)
"""What stands before the output of a command: how it ended, or the session in which it goes on."""


class Answer(NamedTuple):
    """What a command printed; its exit code, or the session in which it goes on, where known."""

    printed: str
    code: int | None = None
    going_on: str = ""


def command_of(given: Object) -> str:
    """Return the command line of a call: a text, or words of which the first may be a shell."""
    asked = given.get("command")
    if not isinstance(asked, list):
        return text(given, "cmd", "command")
    said = words(given, "command")
    is_script = len(said) == 3 and said[1] in {"-c", "-lc"}
    return said[2] if is_script else shlex.join(said)


def patch_of(given: Object) -> str:
    """Return the patch that a call of a shell applies; "" if it runs something else."""
    said = words(given, "command") or (text(given, "cmd"),)
    if said[0] in _PATCHES:
        return "\n".join(said[1:])
    line = command_of(given).lstrip()
    begin = line.find(_BEGIN)
    return line[begin:] if line.startswith(_PATCHES) and begin >= 0 else ""


def answer_of(output: Json) -> Answer:
    """Return what an answer says: text with a head, or an object with the exit code."""
    said = prose(output)
    value = parsed(said) if said.startswith("{") else output
    if isinstance(value, dict) and "output" in value and "metadata" in value:
        return Answer(text(value, "output"), number(inner(value, "metadata"), "exit_code"))
    head = _HEAD.match(said)
    if head is None:
        return Answer(said)
    code = head["old"] or head["new"]
    return Answer(said[head.end() :], int(code) if code else None, head["on"] or "")
