"""OpenCode and Kilo: calls of the plugin in `opencode.js`, by the name of the hook or bus event.

A hook is reported as `{input, output}`, an event of the bus as it came; the plugin adds directory,
parent and what the agent said last. Source: payloads of OpenCode 1.18.33 and Kilo 7.7.9.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import structs

from observer.clients import tools
from observer.clients.client import Client, HookSample
from observer.clients.config_files import jsonc
from observer.clients.config_files.context import FileEdit, InstallContext, read_file
from observer.clients.envelope import Envelope, Json, Object
from observer.clients.parts import OurFile, Servers, config_file, installer_of, placed, plug_in
from observer.clients.payload import event_of, inner, joined, rest, rows, text, token_usage
from observer.core import events

TOOLS: Mapping[str, tools.Maker] = tools.by_name(
    command="bash",
    read="read",
    write="write",
    edit="edit multiedit",
    grep="grep",
    find="glob list",
    fetch="webfetch",
    ask_web="websearch codesearch",
) | {"task": lambda call: tools.delegate(_undescribed(call))}

_BASE = frozenset({"id", "type", "directory"})
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"\s*', re.DOTALL)
"""How `opencode run` passes a prompt of several words on."""
_RESULT = re.compile(r"<task_result>\n?(.*?)\n?</task_result>", re.DOTALL)


def read(envelope: Envelope, payload: Object) -> Iterable[events.Event]:
    """Turn one call of the plugin into the events that it reports."""
    name, properties = envelope.event, inner(payload, "properties")
    found: Iterable[events.AnyBody]
    if read_call := _CALLS.get(name):
        found = tools.effects(read_call(payload), TOOLS, patches={"patch"})
    else:
        error = inner(properties, "error")
        said = joined(text(error, "name"), text(inner(error, "data"), "message"))
        said = said or rest(payload, beside=_BASE)
        unknown = events.Custom(name=f"{envelope.client}:{name}", text=said)
        reader = _READERS.get(name)
        found = (reader(payload) if reader else unknown,)
    session = text(inner(payload, "input"), "sessionID") or text(properties, "sessionID")
    session = session or text(inner(properties, "info"), "id")
    call = text(inner(payload, "input"), "callID") or text(inner(properties, "part"), "callID")
    cwd = text(payload, "directory")
    for body in found:
        is_childs_prompt = isinstance(body, events.Delegation) and name == "chat.message"
        owner = text(payload, "parentID") if is_childs_prompt else session
        yield structs.replace(
            event_of(envelope, body, client=envelope.client, session=owner, cwd=cwd),
            turn=text(inner(inner(payload, "output"), "message"), "id"),
            dedup=f"tool:{session}:{call}:after" if call else "",
        )


def _created(payload: Object) -> events.AnyBody:
    parent = text(inner(inner(payload, "properties"), "info"), "parentID")
    return events.SessionStart(source="subagent" if parent else "startup", parent_session=parent)


def _message(payload: Object) -> events.AnyBody:
    parts = [part for part in rows(inner(payload, "output"), "parts") if not part.get("synthetic")]
    said = joined(*(text(part, "text") for part in parts if text(part, "type") == "text"))
    if text(payload, "parentID"):
        return events.Delegation(task=said, agent=text(inner(payload, "input"), "agent"))
    if quoted := _QUOTED.fullmatch(said):
        said = quoted[1].replace('\\"', '"')
    files = (text(part, "filename") for part in parts if text(part, "type") == "file")
    return events.Prompt(text=said, files=tuple(filter(None, files)))


def _call(payload: Object) -> tools.ToolCall:
    given, output = inner(payload, "input"), inner(payload, "output")
    metadata = inner(output, "metadata")
    said: Json = output.get("output", output.get("content"))
    call = tools.ToolCall(
        tool=text(given, "tool"),
        given=inner(given, "args"),
        response=said,
        failed=output.get("isError") is True,
    )
    if call.tool == "bash" and "exit" in metadata:
        answer: Object = {"output": said, "exit_code": metadata["exit"]}
        # Without an exit code it was aborted, or ran into its time limit.
        is_cut = metadata["exit"] is None
        call = structs.replace(call, response=answer, failed=None, interrupted=is_cut)
    elif call.tool == "write" and metadata.get("exists") is False:
        call = structs.replace(call, response={"type": "create", "text": said})
    elif diff := text(metadata, "diff"):
        call = structs.replace(call, response={"structuredPatch": tools.unified_hunks(diff)})
    return call


def _failed_call(payload: Object) -> tools.ToolCall:
    part = inner(inner(payload, "properties"), "part")
    state = inner(part, "state")
    given, error = inner(state, "input"), text(state, "error")
    return tools.ToolCall(tool=text(part, "tool"), given=given, error=error, failed=True)


def _undescribed(call: tools.ToolCall) -> tools.ToolCall:
    """Leave out the label, and the tag around the result: what a sub-agent was given, and said."""
    given = {name: value for name, value in call.given.items() if name != "description"}
    result = _RESULT.search(tools.said(call))
    return structs.replace(call, given=given, response=result[1] if result else call.response)


_READERS: Mapping[str, Callable[[Object], events.AnyBody]] = {
    "session.created": _created,
    "session.resumed": lambda _: events.SessionStart(source="resume"),
    "session.idle": lambda payload: events.Reply(
        text=text(payload, "text"), usage=token_usage(inner(payload, "usage"))
    ),
    "session.compacted": lambda payload: events.Compaction(summary=text(payload, "text")),
    "chat.message": _message,
    "dispose": lambda _: events.SessionEnd(reason="exit"),
}
_CALLS = {"tool.execute.after": _call, "tool.error": _failed_call}


# --- how it is installed -------------------------------------------------------------------------


def _flat(entry: Any) -> Any:  # noqa: ANN401 - what stands in a foreign file
    match entry:
        case {"command": [str(program), *args], **others}:
            environ = {"env": others.pop("environment")} if "environment" in others else {}
            return {**others, "command": program, "args": args, **environ}
    return entry


def _shaped(entry: dict[str, Any]) -> dict[str, Any]:
    others = {name: entry[name] for name in entry if name not in {"command", "args", "env"}}
    environ = {"environment": entry["env"]} if entry.get("env") else {}
    return {**others, "command": [entry["command"], *entry["args"]], **environ}


_SERVERS = Servers(("mcp",), {"type": "local", "enabled": True}, _flat, _shaped)


def _settings(client: str, schema: str, *, has_comments: bool) -> OurFile:
    """Return what plans one of two settings files, with comments or not, if it is there."""

    # The client adds its schema to a file without.
    def put_schema(text: str, context: InstallContext) -> str:
        is_new = context.is_wanted and not text.strip()
        return jsonc.put(text, ("$schema",), schema) if is_new else text

    def edit(context: InstallContext) -> FileEdit:
        folder = context.place("XDG_CONFIG_HOME", ".config") / client
        commented, plain = (folder / f"{client}.{ending}" for ending in ("jsonc", "json"))
        path = commented if has_comments else plain
        if context.is_wanted and has_comments != commented.exists():
            before = read_file(path)
            return FileEdit(path=path, before=before, after=before)
        of_client = config_file(
            lambda _: path, put_schema, _SERVERS.edited, leftovers=({}, {"$schema": schema})
        )
        return of_client(context)

    return edit


def _client(name: str, schema: str, tried: str, *markers: str) -> Client:
    return Client(
        name=name,
        read=read,
        installer=installer_of(
            plug_in(
                name,
                Path(__file__).with_suffix(".js"),
                placed("XDG_CONFIG_HOME", ".config", f"{name}/plugins/observer.js"),
            ),
            _settings(name, schema, has_comments=True),
            _settings(name, schema, has_comments=False),
            notes=[f"Restart {name}; it loads plugins when it starts."],
        ),
        programs=(name,),
        folders=(f".config/{name}", f".local/share/{name}"),
        transcripts=(f".local/share/{name}",),
        tried=tried,
        sample=HookSample(
            "chat.message",
            '{"input": {"sessionID": "@SESSION@"}, "directory": "@FOLDER@", "output": {"message":'
            ' {"role": "user"}, "parts": [{"type": "text", "text": "@TEXT@"}]}}',
        ),
        session_variable=f"{name.upper()}_SESSION_ID",
        marker_variables=markers,
        resume=f"{name} --session {{}}",
        context_file=f"CONTEXT.{name}.md",
        format_reminder=lambda text, _event: text.encode(),
    )


CLIENTS = (
    # Its name comes first: its shells have the variables of OpenCode as well.
    _client("kilo", "https://app.kilo.ai/config.json", "7.7.7", "KILO"),
    _client(
        "opencode", "https://opencode.ai/config.json", "1.18.33", "OPENCODE", "OPENCODE_CLIENT"
    ),
)
