"""Quill, a made-up agent, as a client of observer: its events, its installer and its record.

Quill calls a hook with one JSON object on standard input:

    {"event": "tool_done", "run": "r1", "dir": "/home/ana/shop", "tool": "shell",
     "input": {"command": "pytest -q"}, "output": {"stdout": "3 passed", "exit_code": 0}}

Its hooks stand in `~/.quill/hooks.json`, its MCP servers in `~/.quill/mcp.json`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from observer.clients import tools
from observer.clients.client import Client, HookSample
from observer.clients.envelope import Envelope, Object
from observer.clients.parts import Hooks, Servers, config_file, installer_of, placed
from observer.clients.payload import inner, rest, text
from observer.core.events import AnyBody, Custom, Event, Prompt, SessionEnd, SessionStart

NAME = "quill"

TOOLS: Mapping[str, tools.Maker] = {
    "shell": tools.command,
    "write": tools.write,
    "read": tools.read,
}
"""Quill's tools; what is not listed becomes a `ToolUse`."""

_BASE = frozenset({"event", "run", "dir"})


def read(envelope: Envelope, payload: Object) -> Iterable[Event]:
    """Turn one hook call into the events it reports."""
    name = text(payload, "event") or envelope.event
    yield Event(
        id=envelope.id,
        at_ms=envelope.at_ms,
        client=NAME,
        session=text(payload, "run") or envelope.stand_in_session,
        cwd=text(payload, "dir") or envelope.cwd,
        host=envelope.host,
        route=f"{envelope.client}/{name}",
        author="person" if name == "prompt" else "agent",
        body=_body(name, payload),
    )


def _body(name: str, payload: Object) -> AnyBody:
    if name == "start":
        return SessionStart()
    if name == "end":
        return SessionEnd()
    if name == "prompt":
        return Prompt(text=text(payload, "text"))
    if name == "tool_done":
        return tools.make(
            tools.ToolCall(
                tool=text(payload, "tool"),
                given=inner(payload, "input"),
                response=payload.get("output"),
            ),
            TOOLS,
        )
    # What is not known is kept as it came, never an error: a newer Quill may report more.
    return Custom(name=f"{NAME}:{name}", text=rest(payload, beside=_BASE))


# --- how it is installed -------------------------------------------------------------------------

# At the start of a session one more hook prints its context.
HOOKS = Hooks(
    client=NAME,
    reporting={event: {} for event in ("start", "prompt", "tool_done", "end")},
    start="start",
    is_grouped=False,
)

CLIENT = Client(
    name=NAME,
    read=read,
    installer=installer_of(
        config_file(placed("QUILL_HOME", ".quill", "hooks.json"), HOOKS.edited),
        config_file(placed("QUILL_HOME", ".quill", "mcp.json"), Servers().edited),
    ),
    programs=("quill",),
    folders=(".quill",),
    sample=HookSample("prompt", '{"run": "@SESSION@", "dir": "@FOLDER@", "text": "@TEXT@"}'),
    session_variable="QUILL_RUN",
    context_file="CONTEXT.quill.md",
)
