"""Scripts by which newer models call the tools of Codex, several in one call of `exec`. Pure.

    const r = await tools.exec_command({cmd: "make", workdir: "/p"}); text(r.output);

Newer rollouts have an item of each command and patch that a script ran. Where there is none, what
the script writes out is what was asked, and only a script with a single call says how it ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, number, parsed, prose, rows, text
from observer.code import method_calls

NAMES = frozenset({"exec"})
WAIT = "wait"
WEB = frozenset({"web__run", "web_run"})

_HEAD = re.compile(
    r"Script (?P<how>completed|failed|running with cell ID (?P<cell>\w{1,40}))\n"
    r"(?:Wall time[^\n]*\n)?(?:Output:\n?)?"
)


class ScriptCall(NamedTuple):
    """A call in a script, as far as it is written out."""

    name: str
    given: Object


class ScriptEnd(NamedTuple):
    """What a script printed, and how it ended: the cell in which it goes on, a command's code."""

    printed: str
    cell: str = ""
    code: int | None = None
    has_failed: bool = False


def calls_in(script: str) -> list[ScriptCall]:
    """Return the calls of tools in a script, those whose arguments are written out."""
    calls = ((one.method, _given(one.argument)) for one in method_calls(script, "tools"))
    return [ScriptCall(name, given) for name, given in calls if given]


def _given(value: Json) -> Object:
    if isinstance(value, str):
        return {"command": value}  # a patch
    return value if isinstance(value, dict) else {}


def end_of(output: Json) -> ScriptEnd:
    """Return what the answer of a script says."""
    said = prose(output)
    head = _HEAD.match(said)
    printed = said[head.end() :].lstrip("\n") if head else said
    result = parsed(printed) if printed.startswith("{") else None
    code = None
    if isinstance(result, dict) and "output" in result:
        code, printed = number(result, "exit_code"), text(result, "output")
    failed = head is not None and head["how"] == "failed"
    return ScriptEnd(printed, (head["cell"] or "") if head else "", code, failed)


def asked_web(given: Object) -> str:
    """Return the questions of a call that looks at the web."""
    lists = ("search_query", "image_query")
    return " ".join(text(row, "q") for name in lists for row in rows(given, name))


def patch_of_changes(changes: Object) -> str:
    """Return the patch that made changes of files, which are given by their paths."""
    return "\n".join(["*** Begin Patch", *_changed(changes), "*** End Patch"])


def _changed(changes: Object) -> Iterator[str]:
    for path in changes:
        change = inner(changes, path)
        match text(change, "type"):
            case "add":
                yield f"*** Add File: {path}"
                yield from (f"+{line}" for line in text(change, "content").splitlines())
            case "delete":
                yield f"*** Delete File: {path}"
            case "update":
                yield f"*** Update File: {path}"
                if moved := text(change, "move_path"):
                    yield f"*** Move to: {moved}"
                yield text(change, "unified_diff").rstrip("\n")
