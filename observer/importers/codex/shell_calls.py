"""What calls of Codex's shells ask, and how their answers say that a command ended.

The shell had other names and other answers in older versions. Pure.
"""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

from observer.clients.envelope import Json, Object
from observer.clients.payload import flag, inner, number, parsed, prose, text, words

SHELLS = frozenset(
    {"exec_command", "shell", "shell_command", "local_shell", "container.exec", "unified_exec"}
)
STDIN = "write_stdin"
_PATCHES = ("apply_patch", "applypatch")
_APPLY = re.compile(
    r"(?:cd\s+(?P<folder>'[^'\n]+'|\"[^\"\n]+\"|[^\s;&|'\"]+)\s*(?:&&|;|\n)\s*)?(?:apply_?patch)\b"
)
"""How a line of a shell begins that applies a patch, in another folder or where it is."""
_BEGIN = "*** Begin Patch"
_HEAD = re.compile(
    r"(?:Chunk ID: [^\n]*\n)?(?:Exit code: (?P<old>-?\d{1,9})\n)?(?:Wall time: [^\n]*\n)?"
    r"(?:Process (?:exited with code (?P<new>-?\d{1,9})"
    r"|running with session ID (?P<on>\d{1,18}))\n)?"
    r"(?:Original token count: \d+\n)?(?:Total output lines: \d+\n)?Output:\n"
)
"""What stands before the output of a command: how it ended, or the session in which it goes on."""


_BROKEN = re.compile(
    r"(?:exec_command failed|write_stdin failed|failed in sandbox|execution error"
    r"|failed to (?:parse|read|list|spawn)|unsupported call|command timed out|tool call error"
    r"|(?:exec command|patch|command) rejected|rejected by user|approval policy is )",
    re.IGNORECASE,
)
"""How answers begin of calls that came to nothing, which have no exit code."""
_REJECTED = re.compile(r"(?:exec command|patch) rejected by user")
_ABORTED = re.compile(
    r"(?:Wall time: [^\n]{1,40}\n)?aborted(?: by user)?(?: after [^\n]{1,20})?(?:\n|\Z)"
)


class Answer(NamedTuple):
    """What a command printed; its exit code, or the session in which it goes on, where known.

    `is_broken` if it never ran to its end for a reason of the client's, `is_aborted` if the person
    broke it off.
    """

    printed: str
    code: int | None = None
    going_on: str = ""
    is_broken: bool = False
    is_aborted: bool = False


class Patch(NamedTuple):
    """A patch, and the folder in which it is applied; "" for the one where the shell is."""

    lines: str
    folder: str = ""


def command_of(given: Object) -> str:
    """Return the command line of a call: a text, or words of which the first may be a shell."""
    name = "command" if "command" in given else "cmd"
    if not isinstance(given.get(name), list):
        return text(given, name)
    said = words(given, name)
    is_script = len(said) == 3 and said[1] in {"-c", "-lc"}
    return said[2] if is_script else shlex.join(said)


def patch_of(given: Object) -> Patch | None:
    """Return the patch that a call of a shell applies; None if it runs something else."""
    said = words(given, "command") or words(given, "cmd") or ("",)
    if said[0] in _PATCHES:
        return Patch("\n".join(said[1:]))
    line = command_of(given).lstrip()
    begin, found = line.find(_BEGIN), _APPLY.match(line)
    if found is None or begin < 0:
        return None
    return Patch(line[begin:], (found["folder"] or "").strip("'\""))


def answer_of(output: Json) -> Answer:
    """Return what an answer says: text with a head, or an object with the exit code."""
    said = prose(output)
    value = parsed(said) if said.startswith("{") else output
    if isinstance(value, dict) and "output" in value and "metadata" in value:
        printed = text(value, "output")
        if _REJECTED.match(printed):  # what has never run has a code of 1
            return Answer(printed, is_broken=True)
        return Answer(printed, number(inner(value, "metadata"), "exit_code"))
    head = _HEAD.match(said)
    if head is None:
        is_broken = _BROKEN.match(said) is not None
        return Answer(said, is_broken=is_broken, is_aborted=_ABORTED.match(said) is not None)
    code = head["old"] or head["new"]
    return Answer(said[head.end() :], int(code) if code else None, head["on"] or "")


def looked_up(action: Object) -> tuple[str, Object]:
    """Return the tool and the question of a look at the web; "" where it says none."""
    if query := text(action, "query") or " ".join(words(action, "queries")):
        return "web_search", {"query": query}
    if url := text(action, "url"):
        return "open_page", {"url": url, "prompt": text(action, "pattern")}
    return "", {}


def whole(answer: Answer, *, success: bool | None) -> str:
    """Return the answer of a patch with the exit code before it, as hooks report it."""
    code = answer.code if success is None else int(not success)
    return answer.printed if code is None else f"Exit code: {code}\n{answer.printed}"


def success_of(payload: Object) -> bool | None:
    """Return how a call went by the event of its end; None for other events, or if none says it."""
    kind, result = text(payload, "type"), inner(payload, "result")
    if kind == "patch_apply_end":
        return flag(payload, "success")
    if kind == "FileChange":
        return text(payload, "status") == "completed"
    if kind == "mcp_tool_call_end" and result:
        done = inner(result, "Ok")
        return "Err" not in result and True not in (done.get("isError"), done.get("is_error"))
    return None
