"""Cline: an executable for each event, one JSON object on standard input.

Its CLI describes a call as `tool_call` or `tool_result`, its editor extension as `preToolUse` or
`postToolUse`, whose arguments are all text. Source: payloads of the CLI 3.0.65; the extension.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, TypeAlias

import orjson
from msgspec import structs

from observer.clients import tools
from observer.clients.client import Client, HookSample, Reader, bodies
from observer.clients.config_files.context import FileEdit, InstallContext, command, read_file
from observer.clients.envelope import Envelope, Json, Object
from observer.clients.parts import Servers, config_file, installer_of, placed
from observer.clients.payload import event_of, inner, prose, rows, span_ms, text, words
from observer.core import events
from observer.core.errors import ConfigInvalid
from observer.core.text import word_set

NAME = "cline"

NOISE = word_set("PreToolUse Notification")

Bodies: TypeAlias = Iterable[events.AnyBody]

_BASE = frozenset(
    {"clineVersion", "timestamp", "taskId", "sessionContext", "workspaceRoots", "workspaceInfo"}
    | {"userId", "agent_id", "parent_agent_id", "hookName", "model"}
)
_EXIT = re.compile(r"\[Command exited with code (-?\d{1,9})\]\n?")
_BLOCK = re.compile(
    r"^(?:-{3,}|<{3,}) SEARCH>?\n(?::start_line:\s*\d+\n)?(?:-{3,}\n)?(.*?)^={3,}\n(.*?)"
    r"^(?:\+{3,}|>{3,}) REPLACE>?",
    re.MULTILINE | re.DOTALL,
)
_RAN = re.compile(
    r"Command executed(?P<how>[^\n]*)\n?(?:Exit [Cc]ode: (?P<code>-?\d{1,9})[^\n]*\n?)?"
    r"(?:Output:\n?)?"
)
"""What the extension puts before the output of a command; older versions know no exit code."""
_RUNS_ON = "Command is still running"
_CREATED = "File created successfully"


def read(envelope: Envelope, payload: Object) -> Iterable[events.Event]:
    """Turn one hook call into the events it reports."""
    name = envelope.event
    if name in NOISE:
        return
    call = text(inner(payload, "tool_result"), "id")
    session = text(inner(payload, "sessionContext"), "rootSessionId") or text(payload, "taskId")
    cwd = text(inner(payload, "workspaceInfo"), "rootPath")
    for body in bodies(_READERS.get(name), payload, kind=f"{NAME}:{name}", beside=_BASE):
        yield structs.replace(
            event_of(envelope, body, client=NAME, session=session, cwd=cwd),
            agent=text(payload, "agent_id") if text(payload, "parent_agent_id") else "",
            roots=words(payload, "workspaceRoots"),
            dedup=f"tool:{session}:{call}:after" if call else "",
        )


def _start(source: str, payload: Object) -> events.AnyBody | None:
    return None if text(payload, "parent_agent_id") else events.SessionStart(source=source)


def _complete(payload: Object) -> events.AnyBody:
    said = text(inner(payload, "turn"), "outputText")
    return (
        events.Delegation(result=said)
        if text(payload, "parent_agent_id")
        else events.Reply(text=said)
    )


def _tool(payload: Object) -> Bodies:
    call = _call(payload)
    if call.tool == "run_commands":
        yield from _commands(call)
    elif call.tool == "read_files":
        paths = tuple(filter(None, (text(file, "path") for file in rows(call.given, "files"))))
        yield tools.other(call) if call.failed else events.FileRead(paths=paths, tool=call.tool)
    else:
        yield from tools.effects(call, TOOLS)


def _call(payload: Object) -> tools.ToolCall:
    result = inner(payload, "tool_result")
    if result:
        answer = result.get("output")
        error = text(result, "error")
        outcome = inner(result, "output")
        failed = bool(error) or outcome.get("success") is False or outcome.get("isError") is True
        return tools.ToolCall(
            tool=text(result, "name"),
            given=inner(result, "input"),
            response=answer,
            error=(error or prose(answer)) if failed else "",
            failed=failed,
            duration_ms=span_ms(result, "durationMs"),
        )
    used = inner(payload, "postToolUse")
    failed = used.get("success") is False
    said = text(used, "result")
    return tools.ToolCall(
        tool=text(used, "toolName"),
        given=inner(used, "parameters"),
        response=said,
        error=said if failed else "",
        failed=failed,
        duration_ms=span_ms(used, "executionTimeMs"),
    )


def _commands(call: tools.ToolCall) -> Bodies:
    """Yield each command of a call; they share its time, so that only a single one has it."""
    asked = call.given.get("commands")
    lines = (
        [one if isinstance(one, str) else prose(one) for one in asked or ()]
        if isinstance(asked, list)
        else [text(call.given, "commands")]
    )
    results = list(rows({"results": call.response}, "results"))
    for number, line in enumerate(lines):
        result = results[number] if number < len(results) else {}
        said = text(result, "result", "error")
        code = _EXIT.match(said)
        yield tools.command(
            structs.replace(
                call,
                given={"command": line},
                response=said[code.end() :] if code else said,
                error="",
                exit_code=int(code[1]) if code else None,
                failed=None if "success" not in result else result["success"] is not True,
                duration_ms=call.duration_ms if len(lines) == 1 else None,
            )
        )


def _editor(call: tools.ToolCall) -> events.FileWrite:
    """Return what the CLI's only editing tool did; without an old text it wrote the whole file."""
    if text(call.given, "old_text"):
        return tools.edit(call)
    said = tools.said(call)
    response: Json = {"type": "create"} if said.startswith(_CREATED) else said
    given = {"path": call.given.get("path"), "content": call.given.get("new_text")}
    return tools.write(structs.replace(call, given=given, response=response))


def _execute_command(call: tools.ToolCall) -> tools.ToolEffect | events.Delegation:
    said = tools.said(call)
    ran = _RAN.match(said)
    if ran is None:
        failed = None if said.startswith(_RUNS_ON) else call.failed
        return tools.command(structs.replace(call, failed=failed))
    code = int(ran["code"]) if ran["code"] else None
    failed = True if "not successful" in ran["how"] else None
    return tools.command(
        structs.replace(call, response=said[ran.end() :], error="", exit_code=code, failed=failed)
    )


def _replace_in_file(call: tools.ToolCall) -> events.FileWrite:
    blocks = _BLOCK.findall(text(call.given, "diff"))
    edits = tuple(events.Edit(old=old.rstrip("\n"), new=new.rstrip("\n")) for old, new in blocks)
    path = text(call.given, "path")
    return events.FileWrite(
        path=path, operation="edit", edits=edits, tool=call.tool, error=call.error
    )


TOOLS: Mapping[str, tools.Maker] = tools.by_name(
    grep="search_codebase search_files",
    fetch="fetch_web_content web_fetch",
    delegate="spawn_agent",
    read="read_file",
    write="write_to_file",
    find="list_files list_code_definition_names",
    ask_web="web_search",
) | {
    "editor": _editor,
    "execute_command": _execute_command,
    "replace_in_file": _replace_in_file,
    "apply_diff": _replace_in_file,
}
"""Tools of the CLI, then those of the extension."""

_READERS: Mapping[str, Reader] = {
    "TaskStart": partial(_start, "startup"),
    "TaskResume": partial(_start, "resume"),
    "UserPromptSubmit": lambda payload: events.Prompt(
        text=text(inner(payload, "userPromptSubmit"), "prompt")
    ),
    "PostToolUse": _tool,
    "TaskComplete": _complete,
    "SessionShutdown": lambda payload: events.SessionEnd(reason=text(payload, "reason")),
}

# --- how it is installed -------------------------------------------------------------------------

_EVENTS = (
    *("TaskStart", "TaskResume", "TaskCancel", "TaskComplete", "TaskError"),
    *("UserPromptSubmit", "PreToolUse", "PostToolUse", "SessionShutdown"),
)
_OURS = "#!/bin/sh\n# Written by `observer install cline`; `observer uninstall cline` removes it.\n"
_TRANSPORT = frozenset({"type", "command", "args", "env", "cwd"})


def _executable(event: str, context: InstallContext) -> FileEdit:
    """Plan what Cline runs at an event; raise ConfigInvalid if somebody else has a hook for it."""
    path = context.place("CLINE_DIR", ".cline") / "hooks" / event
    program = shlex.quote(str(context.home.hooks / "cline"))
    script = f"{_OURS}[ ! -x {program} ] || exec {program} {event}\n".encode()
    before = read_file(path)
    if not context.is_wanted:
        return FileEdit(path=path, before=before, after=None if before == script else before)
    if before is not None and not before.startswith(_OURS.encode()):
        line = command(context.home, NAME, event)
        message = f"{path} is a hook of somebody else, and Cline runs one for each event"
        hint = f"let it pass its input on to {line}, and print what that prints, or remove it"
        raise ConfigInvalid(message, hint=hint)
    return FileEdit(path=path, before=before, after=script, mode=0o755)


_servers = placed("CLINE_DIR", ".cline", "data/settings/cline_mcp_settings.json")


def _flat(entry: Any) -> Any:  # noqa: ANN401 - what stands in a foreign file
    match entry:
        case {"transport": {**transport}, **others}:
            return {**transport, **others}
    return entry


def _shaped(entry: dict[str, Any]) -> dict[str, Any]:
    transport = {name: entry[name] for name in entry if name in _TRANSPORT}
    return {"transport": transport, **{k: entry[k] for k in entry if k not in _TRANSPORT}}


def _wrap_context(text: str) -> bytes:
    return orjson.dumps({"cancel": False, "contextModification": text})


CLIENTS = (
    Client(
        name=NAME,
        read=read,
        installer=installer_of(
            *(partial(_executable, event) for event in _EVENTS),
            config_file(
                _servers, Servers(extra={"type": "stdio"}, flat=_flat, shaped=_shaped).edited
            ),
            notes=["Restart Cline; it looks for hooks when it starts."],
        ),
        programs=("cline",),
        folders=(".cline",),
        transcripts=(".cline/data/sessions",),
        tried="3.0.65",
        sample=HookSample(
            "UserPromptSubmit",
            '{"hookName": "UserPromptSubmit", "taskId": "@SESSION@", "workspaceRoots":'
            ' ["@FOLDER@"], "userPromptSubmit": {"prompt": "@TEXT@"}}',
            words=(NAME, "UserPromptSubmit"),
        ),
        marker_variables=("CLINE_ACTIVE", "CLINE_CONNECTOR_CLI_LAUNCH", "CLINE_NO_INTERACTIVE"),
        context_file="CONTEXT.cline.json",
        wrap_context=_wrap_context,
        format_reminder=lambda text, _event: _wrap_context(text),
    ),
)
