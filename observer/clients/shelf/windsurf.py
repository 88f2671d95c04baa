"""Windsurf: the hooks of its agent Cascade. Source: its hook reference; no payload was recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from observer.clients import tools
from observer.clients.client import Client, HookSample, Reader, bodies
from observer.clients.envelope import Envelope, Object
from observer.clients.parts import Hooks, Servers, config_file, installer_of, placed
from observer.clients.payload import event_of, inner, rows, text
from observer.core.events import AnyBody, Command, Event, FileRead, FileWrite, Prompt, Reply
from observer.core.text import word_set

NAME = "windsurf"

NOISE = word_set(
    """
    pre_read_code pre_write_code pre_run_command pre_mcp_tool_use
    post_cascade_response_with_transcript post_setup_worktree
    """
)


def read(envelope: Envelope, payload: Object) -> Iterable[Event]:
    """Turn one hook call into the event it reports, or into none."""
    name = text(payload, "agent_action_name") or envelope.event
    given = inner(payload, "tool_info")
    if name in NOISE:
        return
    session, cwd = text(payload, "trajectory_id"), text(given, "cwd")
    for body in bodies(_READERS.get(name), given, kind=f"{NAME}:{name}"):
        event = event_of(envelope, body, client=NAME, session=session, cwd=cwd, name=name)
        yield replace(event, turn=text(payload, "execution_id"))


def _used(given: Object) -> AnyBody:
    name = "__".join(("mcp", text(given, "mcp_server_name"), text(given, "mcp_tool_name")))
    asked, response = inner(given, "mcp_tool_arguments"), given.get("mcp_result")
    return tools.make(tools.ToolCall(tool=name, given=asked, response=response), {})


_READERS: Mapping[str, Reader] = {
    "pre_user_prompt": lambda given: Prompt(text=text(given, "user_prompt")),
    "post_read_code": lambda given: FileRead(paths=(text(given, "file_path"),)),
    "post_write_code": lambda given: FileWrite(
        path=text(given, "file_path"),
        operation="edit",
        edits=tuple(map(tools.replacement, rows(given, "edits"))),
    ),
    "post_run_command": lambda given: Command(command=text(given, "command_line")),
    "post_mcp_tool_use": _used,
    "post_cascade_response": lambda given: Reply(text=text(given, "response")),
}

# --- how it is installed -------------------------------------------------------------------------

_FOLDER = ".codeium/windsurf"
HOOKS = Hooks(NAME, {event: {"show_output": False} for event in _READERS}, is_grouped=False)

CLIENTS = (
    Client(
        name=NAME,
        read=read,
        installer=installer_of(
            config_file(placed("", _FOLDER, "hooks.json"), HOOKS.edited),
            config_file(placed("", _FOLDER, "mcp_config.json"), Servers().edited),
            notes=["Restart Windsurf."],
        ),
        programs=("windsurf",),
        folders=(_FOLDER,),
        sample=HookSample(  # the folder is that of the hook's process
            "pre_user_prompt",
            '{"agent_action_name": "pre_user_prompt", "trajectory_id": "@SESSION@",'
            ' "tool_info": {"user_prompt": "@TEXT@"}}',
        ),
    ),
)
