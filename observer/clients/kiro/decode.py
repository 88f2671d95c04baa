"""Kiro with hook files of version v1: CLI 3 and later, IDE 1.0 and later.

Some builds send a tool's arguments only before it runs and its result only afterwards, so both
are kept: an `Intent` from PreToolUse, an `Outcome` from a PostToolUse without arguments. A
PostToolUse with arguments has all. Source: the client's hook pages for 3.2; payloads recorded
from IDE 1.0.165 to 1.2.37 by a third party.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from observer.clients import tools
from observer.clients.envelope import Envelope, Object
from observer.clients.kiro.tools import (
    Bodies,
    Readers,
    effects,
    event_name,
    prompt,
    read_events,
    session_start,
    stop,
    tool_call,
)
from observer.clients.own_tools import is_own_tool
from observer.clients.payload import text
from observer.core.events import Delegation, Event, Intent, Outcome, SessionEnd

NAME = "kiro"

NOISE: Mapping[str, str] = {"PreTaskExec": "PostTaskExec reports the task"}
"""Events of which nothing is kept, and why."""

NOISE_TOOLS: Mapping[str, str] = {"subagent_response": "an empty tool that ends a delegation"}
"""Tools of which nothing is kept, and why."""

_CLI_EVENTS = frozenset({"agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse", "stop"})


def read(envelope: Envelope, payload: Object) -> Iterable[Event]:
    """Turn one hook call into the events it reports."""
    if event_name(envelope, payload) in NOISE or text(payload, "tool_name") in NOISE_TOOLS:
        return ()
    return read_events(envelope, payload, client=NAME, readers=_READERS)


def host(envelope: Envelope, payload: Object) -> str:
    """Return the harness that really ran the hook.

    The client's own migration copies our commands from one harness's format to the other's.
    """
    if text(payload, "session_id").startswith("sess_"):
        return NAME
    return "kiro-cli" if text(payload, "hook_event_name") in _CLI_EVENTS else envelope.client


def _session_end(payload: Object) -> Bodies:
    yield SessionEnd(reason=text(payload, "reason"))


def _before_tool(payload: Object) -> Bodies:
    call = tool_call(payload)
    for body in effects(call):
        of = tools.other(call) if isinstance(body, Delegation) else body
        yield Intent(tool=call.tool, of=of)


def _after_tool(payload: Object) -> Bodies:
    call = tool_call(payload)
    if call.given:
        yield from effects(call)
    else:
        yield Outcome(
            tool=call.tool,
            output="" if is_own_tool(call.tool) else tools.said(call),
            exit_code=call.exit_code,
            failed=call.failed,
        )


_V1: Readers = {
    "SessionStart": session_start,
    "AgentSpawn": session_start,
    "SessionEnd": _session_end,
    "UserPromptSubmit": prompt,
    "PreToolUse": _before_tool,
    "PostToolUse": _after_tool,
    "Stop": stop,
}

# Hooks taken over from the earlier harness may be called under its names.
_READERS: Readers = {**_V1, **{name[0].lower() + name[1:]: _V1[name] for name in _V1}}
