"""Kiro: hook files of version v1, and hooks in agents' JSON.

CLI 3 and IDE 1.0 and later have hook files. Some builds send a tool's arguments only before it runs
and its result only afterwards, so both are kept: an `Intent` and an `Outcome`. Source: the hook
pages for 3.2; payloads recorded from IDE 1.0.165 to 1.2.37 by a third party.
The V2 harness of the CLI, and headless runs, have hooks in the agent's JSON. Source: the client's
agent pages and the code of its ancestor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from msgspec import structs

from observer.clients import tools
from observer.clients.client import Client, Reader, bodies, prompt_sample
from observer.clients.config_files import jsonc
from observer.clients.config_files.context import InstallContext, InstallPlan, command, read_file
from observer.clients.envelope import Envelope, Object
from observer.clients.parts import Hooks, OurFile, Part, Servers, config_file, merge, runs_ours
from observer.clients.payload import event_of, flag, inner, number, prose, rows, text
from observer.core import events
from observer.core.own_tools import is_own_tool

NAME, CLI = "kiro", "kiro-cli"

NOISE = {NAME: "PreTaskExec", CLI: "preToolUse"}
"""The event of each harness that another one reports whole."""
_NOISE_TOOL = "subagent_response"
"""An empty tool that ends a delegation."""

Bodies: TypeAlias = Iterable[events.AnyBody]
Readers: TypeAlias = Mapping[str, Reader]

_BASE = frozenset({"session_id", "hook_event_name", "cwd"})
_CLI_EVENTS = frozenset({"agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse", "stop"})


def read(envelope: Envelope, payload: Object) -> Iterable[events.Event]:
    """Turn one call of a hook file into the events it reports."""
    if text(payload, "tool_name") == _NOISE_TOOL:
        return ()
    return _read_events(envelope, payload, client=NAME, readers=_READERS)


def _host(envelope: Envelope, payload: Object) -> str:
    """Return the harness that ran the hook: Kiro's migration copies our commands to the other's."""
    if text(payload, "session_id").startswith("sess_"):
        return NAME
    return CLI if text(payload, "hook_event_name") in _CLI_EVENTS else envelope.client


def _read_events(
    envelope: Envelope, payload: Object, *, client: str, readers: Readers
) -> Iterator[events.Event]:
    """Yield the events of one hook call; an event without a reader is kept as it came."""
    name = text(payload, "hook_event_name") or envelope.event
    if name == NOISE[client]:
        return
    session = text(payload, "session_id") or envelope.env.get("KIRO_SESSION_ID", "")
    cwd = text(payload, "cwd")
    for body in bodies(readers.get(name), payload, kind=f"{client}:{name}", beside=_BASE):
        yield event_of(envelope, body, client=client, session=session, cwd=cwd, name=name)


# --- what the events say -------------------------------------------------------------------------


def _prompt(payload: Object) -> Bodies:
    """Yield the prompt; several builds fire the event without its text."""
    asked = text(payload, "prompt")
    if asked:
        yield events.Prompt(text=asked)


def _before_tool(payload: Object) -> Bodies:
    call = _tool_call(payload)
    for body in _effects(call):
        of = tools.other(call) if isinstance(body, events.Delegation) else body
        yield events.Intent(tool=call.tool, of=of)


def _after_tool(payload: Object) -> Bodies:
    call = _tool_call(payload)
    if call.given:
        yield from _effects(call)
    else:
        yield events.Outcome(
            tool=call.tool,
            output="" if is_own_tool(call.tool) else tools.said(call),
            exit_code=call.exit_code,
            failed=call.failed,
        )


def _tool_call(payload: Object) -> tools.ToolCall:
    """Return the tool call of a payload with what its result says."""
    call = tools.ToolCall(tool=text(payload, "tool_name"), given=inner(payload, "tool_input"))
    response = payload.get("tool_response")
    if not isinstance(response, dict):
        return _finished_in_prose(call, prose(response))
    success = flag(response, "success")
    failed = None if success is None else not success
    result = response.get("result", response)
    first = dict(next(rows(response, "result"), {})) or result
    read_result = (
        _finished_in_prose(call, result)
        if isinstance(result, str)
        else structs.replace(call, response=first)
    )
    return structs.replace(
        read_result,
        error=prose(result) if failed else "",
        failed=read_result.failed if failed is None else failed,
    )


_V1: Readers = {
    "SessionStart": lambda _: events.SessionStart(),
    "AgentSpawn": lambda _: events.SessionStart(),
    "SessionEnd": lambda payload: events.SessionEnd(reason=text(payload, "reason")),
    "UserPromptSubmit": _prompt,
    "PreToolUse": _before_tool,
    "PostToolUse": _after_tool,
    # Several builds leave the words out.
    "Stop": lambda payload: events.Reply(text=text(payload, "assistant_response")),
}
# Hooks taken over from the earlier harness may be called under its names.
_READERS: Readers = {**_V1, **{name[0].lower() + name[1:]: _V1[name] for name in _V1}}
_CLI_READERS: Readers = {
    # A headless run fires no prompt event and carries the prompt here.
    "agentSpawn": lambda payload: (events.SessionStart(), *_prompt(payload)),
    "userPromptSubmit": _prompt,
    "postToolUse": lambda payload: _effects(_tool_call(payload)),
    "stop": _V1["Stop"],
}

# --- tools ---------------------------------------------------------------------------------------
#
# The same tool has one name and several shapes of arguments. Results are prose in the IDE and
# `{exit_status, stdout, stderr}` in the CLI.

_EXIT = "\n\nExit Code: "
_OUTPUT = "Output:\n"
_DONE = ("Created the ", "Replaced text in ", "Appended the text to ")
_PATTERNS = {"Search": "code", "Directory": "files"}


def _finished_in_prose(call: tools.ToolCall, said: str) -> tools.ToolCall:
    output, mark, code = said.rpartition(_EXIT)
    exit_code = number({"code": code.strip()}, "code") if mark else None
    if exit_code is None:
        failed = False if said.startswith(_DONE) else None
        return structs.replace(call, response=said, failed=failed)
    return structs.replace(
        call, response=output.removeprefix(_OUTPUT), exit_code=exit_code, failed=exit_code != 0
    )


def _effects(call: tools.ToolCall) -> Iterator[tools.ToolEffect | events.Delegation]:
    """Yield what one tool call did; a read of several kinds does several things."""
    operations = tuple(rows(call.given, "operations")) if call.tool in _READS else ()
    if operations:
        yield from _operations(call, operations)
    elif call.tool.startswith("subagent_") or call.tool == "invoke_sub_agent":
        name = call.tool.removeprefix("subagent_") if call.tool.startswith("subagent_") else ""
        yield tools.delegate(structs.replace(call, given={"agent": name, **call.given}))
    else:
        yield tools.make(call, TOOLS)


def _operations(call: tools.ToolCall, operations: tuple[Object, ...]) -> Iterator[tools.ToolEffect]:
    if call.failed:
        yield tools.other(call)
        return
    read = [given for given in operations if text(given, "mode") not in _PATTERNS]
    if read:
        paths = (text(given, "path") for given in read)
        one = read[0] if len(read) == 1 else {}
        lines = tools.span(number(one, "start_line"), number(one, "end_line"))
        yield events.FileRead(paths=tuple(filter(None, paths)), lines=lines, tool=call.tool)
    for given in operations:
        if text(given, "mode") in _PATTERNS:
            pattern, path = text(given, "pattern"), text(given, "path")
            yield events.Search(
                query=pattern or path,
                where="code" if text(given, "mode") == "Search" else "files",
                path=path if pattern else "",
                output=prose(call.response),
                tool=call.tool,
            )


def _fs_write(call: tools.ToolCall) -> events.FileWrite:
    """Read the CLI's `command` argument; the IDE's tool of this name has none and writes."""
    makers = {"append": tools.append, "str_replace": tools.edit, "insert": tools.edit}
    name = text(call.given, "command")
    write = makers.get(name, tools.write)(call)
    return structs.replace(write, operation="create") if name == "create" else write


_READS = frozenset({"fs_read", "read"})

TOOLS: Mapping[str, tools.Maker] = tools.by_name(
    read="fs_read read",
    edit="str_replace",
    append="fs_append",
    delete="delete_file",
    command="execute_bash execute_pwsh shell",
) | {"fs_write": _fs_write, "write": _fs_write}

# --- how it is installed -------------------------------------------------------------------------
#
# The older harness knows only hooks inside an agent's file, and the built-in agent has none: we
# bring one of our own, and each of the user's gets the hooks too.

# SessionEnd is missing from older versions, which may refuse a file that names it.
_TRIGGERS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
_AGENT_EVENTS = ("agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse", "stop")
_AGENT_HOOKS = Hooks(
    client=CLI,
    reporting={event: {"timeout_ms": 5000} for event in _AGENT_EVENTS},
    matchers={"preToolUse": "*", "postToolUse": "*"},
    start="agentSpawn",
    is_grouped=False,
)
_AGENT: dict[str, object] = {
    "name": "observer",
    "description": "The default agent, with a memory of earlier sessions",
    "tools": ["*"],
    "includeMcpJson": True,
}


def _hook_list(text: str, context: InstallContext) -> str:
    """Return the text of a file of version v1, a list for all triggers, with our hooks or not."""
    wanted: list[object] = []
    if context.is_wanted:
        wanted = [_hook(context, f"observer-{one}", one, "post") for one in _TRIGGERS]
        wanted.insert(1, _hook(context, "observer-context", "SessionStart", "context"))
        if jsonc.at(text, ("version",)) is None:
            text = jsonc.put(text, ("version",), "v1")
    return merge(
        text,
        ("hooks",),
        wanted,
        lambda one: isinstance(one, dict) and runs_ours(context, one.get("action")),
    )


def _own_agent(text: str, context: InstallContext) -> str:
    """Return the text of a file with what makes it an agent, which nobody needs without hooks."""
    for key, value in _AGENT.items() if context.is_wanted else ():
        if jsonc.at(text, (key,)) is None:
            text = jsonc.put(text, (key,), value)
    return text


def _hook(context: InstallContext, name: str, trigger: str, script: str) -> dict[str, object]:
    is_post = script == "post"
    line = command(context.home, script, NAME, *([trigger] if is_post else []))
    matcher = {"matcher": ".*"} if trigger.endswith("ToolUse") else {}
    action = {"type": "command", "command": line}
    common = {"name": name, "trigger": trigger, **matcher}
    return {**common, "action": action, "timeout": 10}  # seconds


def _folder(context: InstallContext) -> Path:
    return (context.project or context.user_home) / ".kiro"


def _files(context: InstallContext) -> tuple[list[OurFile], list[OurFile]]:
    """Return our files with others' agents, and hook files that Kiro made of an agent's hooks."""
    hooks = _folder(context) / "hooks" / "observer.json"
    agent = _folder(context) / "agents" / "observer.json"
    mark = str(context.home.hooks).encode()

    def hook_file(path: Path) -> OurFile:
        return config_file(lambda _: path, _hook_list, leftovers=({}, {"version": "v1"}))

    def agent_file(path: Path, *more: Part) -> OurFile:
        return config_file(lambda _: path, *more, _AGENT_HOOKS.edited, leftovers=({}, _AGENT))

    beside = (path for path in sorted(hooks.parent.glob("*.json")) if path != hooks)
    converted = [hook_file(path) for path in beside if mark in (read_file(path) or b"")]
    agents = [agent_file(path) for path in sorted(agent.parent.glob("*.json")) if path != agent]
    servers = config_file(lambda _: _folder(context) / "settings" / "mcp.json", Servers().edited)
    return [hook_file(hooks), *agents, agent_file(agent, _own_agent), servers], converted


def _install(context: InstallContext) -> InstallPlan:
    """Plan hooks in both formats, an agent that has them, and the MCP server."""
    ours, converted = _files(context)
    gone = replace(context, is_wanted=False)
    edits = (*(edit(context) for edit in ours), *(edit(gone) for edit in converted))
    notes = (
        "Trust the workspace in Kiro: it loads nothing in one that is not trusted.",
        "Kiro CLI before 3.0, and headless runs: kiro-cli agent set-default --name observer",
    )
    return InstallPlan(edits=edits, notes=notes if context.is_wanted else ())


CLIENTS = (
    Client(
        name=NAME,
        read=read,
        host=_host,
        installer=_install,
        per_project=True,
        programs=("kiro", "kiro-cli"),
        folders=(".kiro",),
        transcripts=(".kiro/sessions",),
        sample=prompt_sample("UserPromptSubmit"),
        session_variable="KIRO_SESSION_ID",
        reports_twice=True,  # it may run the hooks of two of its formats
        context_file="CONTEXT.kiro.md",
    ),
    Client(
        name=CLI,
        read=partial(_read_events, client=CLI, readers=_CLI_READERS),
        host=_host,
        reports_twice=True,
        resume="kiro-cli chat --resume-id {}",
        context_file="CONTEXT.kiro-cli.md",
    ),
)
