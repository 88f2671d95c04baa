"""Owns the tool vocabulary of Kiro, shared by its CLI's two harnesses and its IDE.

The same tool has one name and several shapes of arguments. Results are prose in the IDE and
`{exit_status, stdout, stderr}` in the CLI.

Owns what the hooks of Kiro's harnesses share: the stem of an event, prompts, replies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from msgspec import structs

from observer.clients import tools
from observer.clients.envelope import Envelope, Json, Object
from observer.clients.payload import NOTHING, event_of, flag, inner, number, prose, rest, rows, text
from observer.core.events import (
    AnyBody,
    Custom,
    Delegation,
    Event,
    FileRead,
    FileWrite,
    Prompt,
    Reply,
    Search,
    SessionStart,
)

_EXIT = "\n\nExit Code: "
_OUTPUT = "Output:\n"
_DONE = ("Created the ", "Replaced text in ", "Appended the text to ")
_PATTERNS = {"Search": "code", "Directory": "files"}


def finished(call: tools.ToolCall, response: Json) -> tools.ToolCall:
    """Add to a call what its result says, be it prose or `{success, result}`."""
    if not isinstance(response, dict):
        return _finished_in_prose(call, prose(response))
    success = flag(response, "success")
    failed = None if success is None else not success
    result = response.get("result", response)
    first = dict(next(rows(response, "result"), NOTHING)) or result
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


def _finished_in_prose(call: tools.ToolCall, said: str) -> tools.ToolCall:
    output, mark, code = said.rpartition(_EXIT)
    exit_code = number({"code": code.strip()}, "code") if mark else None
    if exit_code is None:
        failed = False if said.startswith(_DONE) else None
        return structs.replace(call, response=said, failed=failed)
    return structs.replace(
        call,
        response=output.removeprefix(_OUTPUT),
        exit_code=exit_code,
        failed=exit_code != 0,
    )


def effects(call: tools.ToolCall) -> Iterator[tools.ToolEffect | Delegation]:
    """Yield what one tool call did; a read of several kinds does several things."""
    operations = tuple(rows(call.given, "operations")) if call.tool in _READS else ()
    if operations:
        yield from _operations(call, operations)
    elif _is_delegation(call.tool):
        yield tools.delegate(_named_agent(call))
    else:
        yield tools.make(call, TOOLS)


def _operations(call: tools.ToolCall, operations: tuple[Object, ...]) -> Iterator[tools.ToolEffect]:
    if call.failed:
        yield tools.other(call)
        return
    read = [given for given in operations if text(given, "mode") not in _PATTERNS]
    if read:
        paths = (text(given, "path") for given in read)
        lines = _lines(read[0]) if len(read) == 1 else ""
        yield FileRead(paths=tuple(filter(None, paths)), lines=lines, tool=call.tool)
    for given in operations:
        if text(given, "mode") in _PATTERNS:
            yield _search(call, given)


def _search(call: tools.ToolCall, given: Object) -> Search:
    pattern, path = text(given, "pattern"), text(given, "path")
    return Search(
        query=pattern or path,
        where="code" if text(given, "mode") == "Search" else "files",
        path=path if pattern else "",
        output=prose(call.response),
        tool=call.tool,
    )


def _lines(given: Object) -> str:
    first, last = number(given, "start_line"), number(given, "end_line")
    if first is None and last is None:
        return ""
    return f"{first or 1}-{'' if last is None else last}"


def _is_delegation(tool: str) -> bool:
    return tool.startswith("subagent_") or tool == "invoke_sub_agent"


def _named_agent(call: tools.ToolCall) -> tools.ToolCall:
    name = call.tool.removeprefix("subagent_") if call.tool.startswith("subagent_") else ""
    return structs.replace(call, given={"agent": name, **call.given})


def _fs_write(call: tools.ToolCall) -> FileWrite:
    """Read the CLI's `command` argument; the IDE's tool of this name has none and writes."""
    match text(call.given, "command"):
        case "create":
            return structs.replace(tools.write(call), operation="create")
        case "append":
            return tools.append(call)
        case "str_replace" | "insert":
            return tools.edit(call)
        case _:
            return tools.write(call)


_READS = frozenset({"fs_read", "read"})

TOOLS: Mapping[str, tools.Maker] = {
    "fs_read": tools.read,
    "read": tools.read,
    "fs_write": _fs_write,
    "write": _fs_write,
    "str_replace": tools.edit,
    "fs_append": tools.append,
    "delete_file": tools.delete,
    "execute_bash": tools.command,
    "execute_pwsh": tools.command,
    "shell": tools.command,
}


Bodies: TypeAlias = Iterator[AnyBody]
Readers: TypeAlias = Mapping[str, Callable[[Object], Bodies]]

_BASE = frozenset({"session_id", "hook_event_name", "cwd"})


def read_events(
    envelope: Envelope, payload: Object, *, client: str, readers: Readers
) -> Iterator[Event]:
    """Yield the events of one hook call; an event without a reader is kept as it came."""
    name = event_name(envelope, payload)
    reader = readers.get(name)
    if reader is None:
        unknown = Custom(name=f"{client}:{name}", text=rest(payload, beside=_BASE))
        yield _event(envelope, payload, client=client, body=unknown)
        return
    for body in reader(payload):
        yield _event(envelope, payload, client=client, body=body)


def event_name(envelope: Envelope, payload: Object) -> str:
    """Return the event as the payload names it, else as the command line does."""
    return text(payload, "hook_event_name") or envelope.event


def _event(envelope: Envelope, payload: Object, *, client: str, body: AnyBody) -> Event:
    session = text(payload, "session_id") or envelope.env.get("KIRO_SESSION_ID", "")
    name, cwd = event_name(envelope, payload), text(payload, "cwd")
    return event_of(envelope, body, client=client, session=session, cwd=cwd, name=name)


def session_start(_: Object) -> Bodies:
    """Yield the start of a session."""
    yield SessionStart()


def prompt(payload: Object) -> Bodies:
    """Yield the prompt; several builds fire the event without its text."""
    asked = text(payload, "prompt")
    if asked:
        yield Prompt(text=asked)


def stop(payload: Object) -> Bodies:
    """Yield the end of a turn; several builds leave the words out."""
    yield Reply(text=text(payload, "assistant_response"))


def tool_call(payload: Object) -> tools.ToolCall:
    """Return the tool call of a payload with what its result says."""
    call = tools.ToolCall(tool=text(payload, "tool_name"), given=inner(payload, "tool_input"))
    return finished(call, payload.get("tool_response"))
