"""Codex CLI: hooks of `hooks.json`, in the form of Claude Code's.

No event says that a tool failed: a command's answer is what it printed, without an exit code, and
how it went is read from that. Files are edited by patches. Source: payloads of 0.169.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from observer.clients import claude_events, patch, tools
from observer.clients.claude_events import Dialect
from observer.clients.envelope import Envelope, Object
from observer.clients.payload import flag, text
from observer.core.events import AnyBody, Event, Prompt

NOISE: Mapping[str, str] = {
    "PreToolUse": "PostToolUse repeats the input and knows the end",
    "PreCompact": "PostCompact reports it, if it came to that",
    "PermissionRequest": "the answer is what happens next",
    "Interrupt": "says nothing about the work",
}
"""Events of which nothing is kept, and why."""

TOOLS: Mapping[str, tools.Maker] = {
    "Bash": tools.command,
    "read_file": tools.read,
    "list_dir": tools.find,
    "grep_files": tools.grep,
    "view_image": tools.read,
    "web_search": tools.ask_web,
    "open_page": tools.fetch,
    "spawn_agent": tools.delegate,
}


_EDITORS = re.compile(
    r"\A# Context from my IDE setup:\n.*?^## My request for Codex:\s*", re.DOTALL | re.MULTILINE
)
_PATCHED = ("Exit code: 0\n", "Success. ")
"""How the answers of patches begin that were applied."""


def read(envelope: Envelope, payload: Object) -> Iterable[Event]:
    """Turn one hook call into the events it reports: a patch is one event for each file."""
    return claude_events.read(envelope, payload, _DIALECT)


def _correct(call: tools.ToolCall) -> tools.ToolCall:
    return msgspec.structs.replace(call, failed=_failed(call))


def _prompt(payload: Object) -> AnyBody:
    """Return what the person asked; an editor puts what is open in it before."""
    return Prompt(text=_EDITORS.sub("", text(payload, "prompt")))


def _failed(call: tools.ToolCall) -> bool | None:
    if call.tool in patch.TOOLS and call.response is not None:
        return not tools.said(call).startswith(_PATCHED)
    return flag(call.response, "isError") if isinstance(call.response, dict) else None


_DIALECT = Dialect(
    client="codex",
    tools=TOOLS,
    noise=NOISE,
    readers={"UserPromptSubmit": _prompt},
    correct=_correct,
    turn="turn_id",
)
