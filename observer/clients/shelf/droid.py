"""Droid: hooks of `settings.json`, in the form of Claude Code's. Source: payloads of 0.225.2.

A command that fails is reported before it runs and never again: what is about to run is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from observer.clients import claude_events, tools
from observer.clients.claude_events import Dialect
from observer.clients.client import Client, prompt_sample
from observer.clients.envelope import Json, Object
from observer.clients.parts import Hooks, Servers, config_file, installer_of, placed, seconds
from observer.clients.payload import flag, inner, number, parsed, rows, text
from observer.core.events import AnyBody, Intent
from observer.core.text import uncoloured, word_set

NAME = "droid"

NOISE = word_set("PermissionRequest Notification")

_SHELL = "Execute"
TOOLS: Mapping[str, tools.Maker] = tools.by_name(
    command=_SHELL,
    write="Create",
    edit="Edit MultiEdit",
    read="Read",
    find="LS Glob",
    grep="Grep",
    fetch="FetchUrl",
    ask_web="WebSearch",
    delegate="Task",
)

_WRITING = frozenset({"Create", "Edit", "MultiEdit"})
_END = re.compile(r"\n*\[Process exited with code (\d{1,9})\]\s*\Z")
_SILENT = "Command completed successfully"
_SIGNS = {"added": "+", "removed": "-", "unchanged": " "}


def _intent(payload: Object) -> AnyBody | None:
    call = claude_events.read_call(payload, failed=False)
    if call.tool != _SHELL:
        return None
    return Intent(tool=_SHELL, of=tools.command(replace(call, failed=None)))


def _correct(call: tools.ToolCall) -> tools.ToolCall:
    said = call.response if isinstance(call.response, str) else ""
    if call.tool == _SHELL:
        shown = uncoloured(said)
        end = _END.search(shown)
        printed = shown[: end.start()] if end else shown
        return replace(
            call,
            response="" if printed == _SILENT else printed,
            exit_code=int(end[1]) if end else None,
            failed=None,
        )
    answer = parsed(said) if call.tool in _WRITING else None
    if not isinstance(answer, dict):
        return call
    if flag(answer, "success") is False:
        return replace(call, failed=True, error=text(answer, "error", "message") or said)
    kind = "create" if call.tool == "Create" else "update"
    return replace(call, response={"type": kind, "structuredPatch": list(_hunks(answer))})


def _hunks(answer: Object) -> Iterator[Json]:
    """Yield the changed lines with those around them, those that follow one another together."""
    lines: list[Json] = []
    seen: dict[str, int] = {}
    for row in rows(answer, "diffLines"):
        numbers = inner(row, "lineNumber")
        at = {side: number(numbers, side) or 0 for side in numbers}
        if any(at[side] > seen.get(side, at[side]) + 1 for side in at):
            yield {"lines": lines}
            lines = []
        seen.update(at)
        lines.append(_SIGNS.get(text(row, "type"), " ") + text(row, "content"))
    yield {"lines": lines}


_DIALECT = Dialect(
    client=NAME, tools=TOOLS, noise=NOISE, readers={"PreToolUse": _intent}, correct=_correct
)

# --- how it is installed -------------------------------------------------------------------------

# Seconds.
HOOKS = Hooks(
    client=NAME,
    # PreToolUse is all that it reports of a command that fails.
    reporting=seconds("SessionStart", 10)
    | seconds("UserPromptSubmit PreToolUse PostToolUse Stop SubagentStop PreCompact SessionEnd", 5),
    recalling={"PostToolUse": "Execute"},
    matchers={"PreToolUse": "Execute", "PostToolUse": "*"},
)

CLIENTS = (
    Client(
        name=NAME,
        read=_DIALECT.read,
        installer=installer_of(
            config_file(placed("", ".factory", "settings.json"), HOOKS.edited),
            config_file(
                placed("", ".factory", "mcp.json"),
                Servers(extra={"type": "stdio", "disabled": False}).edited,
            ),
            notes=["Restart Droid; it reads its settings when it starts."],
        ),
        programs=("droid",),
        folders=(".factory",),
        transcripts=(".factory/sessions",),
        tried="0.225.2",
        sample=prompt_sample("UserPromptSubmit"),
        resume="droid --resume {}",
        context_file="CONTEXT.droid.md",
    ),
)
