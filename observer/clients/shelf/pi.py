"""Pi: calls of the extension in `pi.js`, `{event, cwd, sessionId}`. Source: payloads of 0.74.2."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import structs

from observer.clients import tools
from observer.clients.client import Client, HookSample, Reader, bodies
from observer.clients.envelope import Envelope, Object
from observer.clients.parts import Servers, config_file, installer_of, placed, plug_in
from observer.clients.payload import event_of, inner, prose, text, token_usage
from observer.core import events

NAME = "pi"

TOOLS: Mapping[str, tools.Maker] = tools.by_name(
    command="bash",
    read="read",
    write="write",
    edit="edit",
    grep="grep",
    find="find ls",
    delegate="subagent",
)

_RELOAD = "reload"
"""Why a session ends and starts in which only the extensions are loaded anew."""
_EXIT = re.compile(r"\s*Command exited with code (\d{1,9})\s*\Z")
_CUT = re.compile(r"\s*Command (?:aborted|timed out after [\d.]{1,20} seconds)\s*\Z")


def read(envelope: Envelope, payload: Object) -> Iterable[events.Event]:
    """Turn one call of the extension into the event that it reports, or into none."""
    event, session = inner(payload, "event"), text(payload, "sessionId")
    if text(event, "reason") == _RELOAD:
        return
    call, kind = text(event, "toolCallId"), f"{NAME}:{text(event, 'type')}"
    for body in bodies(_READERS.get(envelope.event), event, kind=kind, beside={"type"}):
        yield structs.replace(
            event_of(envelope, body, client=NAME, session=session, cwd=text(payload, "cwd")),
            dedup=f"tool:{session}:{call}:after" if call else "",
        )


def _tool(event: Object) -> events.AnyBody:
    said = prose(event.get("content"))
    failed = event.get("isError") is True
    call = tools.ToolCall(
        tool=text(event, "toolName"),
        given=inner(event, "input"),
        response=said,
        error=said if failed else "",
        failed=failed,
    )
    if call.tool == "bash":
        call = _ended(call, said)
    return tools.make(call, TOOLS)


def _ended(call: tools.ToolCall, said: str) -> tools.ToolCall:
    if call.failed and (end := _EXIT.search(said)):
        printed = said[: end.start()]
        return structs.replace(call, response=printed, error="", exit_code=int(end[1]))
    if call.failed and _CUT.search(said):
        return structs.replace(call, interrupted=True)
    return call if call.failed else structs.replace(call, exit_code=0)


_READERS: Mapping[str, Reader] = {
    "session_start": lambda event: events.SessionStart(source=text(event, "reason")),
    "before_agent_start": lambda event: events.Prompt(text=text(event, "prompt")),
    "tool_result": _tool,
    "agent_end": lambda event: events.Reply(
        text=text(event, "text"), usage=token_usage(inner(event, "usage"))
    ),
    "session_compact": lambda event: events.Compaction(summary=text(event, "summary")),
    "session_shutdown": lambda event: events.SessionEnd(reason=text(event, "reason")),
}

# --- how it is installed -------------------------------------------------------------------------


CLIENTS = (
    Client(
        name=NAME,
        read=read,
        installer=installer_of(
            plug_in(
                NAME,
                Path(__file__).with_suffix(".js"),
                placed("PI_CODING_AGENT_DIR", ".pi/agent", "extensions/observer.js"),
            ),
            # Versions before 1.6 do not read it.
            config_file(placed("PI_CODING_AGENT_DIR", ".pi/agent", "mcp.json"), Servers().edited),
            notes=["Restart Pi; it loads extensions when it starts."],
        ),
        programs=("pi",),
        folders=(".pi",),
        transcripts=(".pi/agent/sessions",),
        tried="0.74.2",
        sample=HookSample(
            "before_agent_start",
            '{"event":{"type":"before_agent_start","prompt":"@TEXT@"},'
            '"cwd":"@FOLDER@","sessionId":"@SESSION@"}',
        ),
        session_variable="PI_SESSION_ID",
        marker_variables=("PI_CODING_AGENT",),
        resume="pi --session {}",
        context_file="CONTEXT.pi.md",
        format_reminder=lambda text, _event: text.encode(),
    ),
)
