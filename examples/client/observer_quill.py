"""Quill, a made-up agent, as a client of observer: its events, its installer and its record.

Quill calls a hook with one JSON object on standard input:

    {"event": "tool_done", "run": "r1", "dir": "/home/ana/shop", "tool": "shell",
     "input": {"command": "pytest -q"}, "output": {"stdout": "3 passed", "exit_code": 0}}

Its hooks stand in `~/.quill/hooks.json`, its MCP servers in `~/.quill/mcp.json`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from observer.clients import tools
from observer.clients.client import Client, HookSample
from observer.clients.config_files.context import InstallContext
from observer.clients.envelope import Envelope, Object
from observer.clients.parts import ConfigFile, HookEntries, Servers, installer_of, scripts
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

_EVENTS = ("start", "prompt", "tool_done", "end")


def _wanted(context: InstallContext) -> Mapping[str, Sequence[object]]:
    """Return our hooks by event; at the start of a session one more prints its context."""
    return {
        event: [{"command": line} for line in scripts(NAME, event, context, start="start")]
        for event in _EVENTS
    }


def _folder(context: InstallContext) -> Path:
    return context.place("QUILL_HOME", ".quill")


CLIENT = Client(
    name=NAME,
    read=read,
    installer=installer_of(
        ConfigFile(lambda context: _folder(context) / "hooks.json", [HookEntries(_wanted)]),
        ConfigFile(lambda context: _folder(context) / "mcp.json", [Servers()]),
    ),
    programs=("quill",),
    folders=(".quill",),
    sample=HookSample("prompt", '{"run": "@SESSION@", "dir": "@FOLDER@", "text": "@TEXT@"}'),
    session_variable="QUILL_RUN",
    context_file="CONTEXT.quill.md",
)
