"""What a client's tool call did, as an event body. Pure.

What an edit did to the symbols of a file is read from both texts, before the event is cut to size:
of a function whose middle changed, the lines around the change do not say the name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

import msgspec

from observer.clients.envelope import Json, Object
from observer.clients.payload import dump, flag, inner, joined, number, prose, rows, text, words
from observer.core.events import Command, Delegation, Edit, FileRead, FileWrite, Search, ToolUse
from observer.core.own_tools import OWN_PRIVATE_TOOLS, own_tool_name
from observer.core.value import SymbolChanges, Value


def original(answer: Object) -> str | None:
    """Return the text of a file before a tool call; None if the answer does not hold it."""
    if text(answer, "type") == "create":
        return ""
    before = answer.get("originalFile", answer.get("originalFileContents"))
    return before if isinstance(before, str) else None


def edited(before: str, answer: Object, given: Object, edits: Iterable[Edit]) -> str | None:
    """Return the text of a file after replacements in it; None if they do not fit it."""
    patched = _patched(before, answer, old="-", new="+")
    if patched is not None:
        return patched
    most = -1 if flag(given, "replace_all") or flag(given, "replaceAll") else 1
    after = before
    for edit in edits:
        if edit.old not in after:
            return None
        after = after.replace(edit.old, edit.new, most)
    return None if after == before else after


def _patched(text: str, answer: Object, *, old: str, new: str) -> str | None:
    start_name = "oldStart" if old == "-" else "newStart"
    lines = text.split("\n")
    done: list[str] = []
    at = 0
    for hunk in rows(answer, "structuredPatch"):
        shown = [line for line in words(hunk, "lines") if not line.startswith("\\")]
        was = [line[1:] for line in shown if line[:1] in {" ", old}]
        start = max((number(hunk, start_name) or 0) - (1 if was else 0), 0)
        if start < at or lines[start : start + len(was)] != was:
            return None
        done += lines[at:start]
        done += [line[1:] for line in shown if line[:1] in {" ", new}]
        at = start + len(was)
    return "\n".join(done + lines[at:]) if at or done else None


ToolEffect: TypeAlias = Command | FileWrite | FileRead | Search | ToolUse

_Change: TypeAlias = Literal["edit", "append", "delete"]
_Where: TypeAlias = Literal["code", "files", "web"]

_RELAYS = frozenset({"use_mcp_tool", "call_mcp_tool", "CallMcpTool", "mcp_tool", "mcp"})
_PATHS = (
    *("file_path", "path", "notebook_path", "targetFile", "target_file", "filePath"),
    *("absolute_path", "dir_path", "directory_path", "target_directory"),
    *("relative_workspace_path", "relativeWorkspacePath"),
)
_NEW_TEXT = (*("new_string", "new_str", "newStr", "newString", "new_text", "newText"), "new_source")
_STREAMS = frozenset({"stdout", "stderr", "output"})
_NONE_FOUND = "No matches found"
"""What an answer with empty lists says, in the words of clients that use words."""
_EXITS = ("exit_code", "exitCode", "exit_status", "returncode")


class ToolCall(Value):
    """One tool call and its result; `failed` is None where the client does not say."""

    tool: str
    given: Object = msgspec.field(default_factory=dict)
    response: Json = None
    error: str = ""
    failed: bool | None = None
    exit_code: int | None = None
    interrupted: bool = False
    duration_ms: int | None = None


Maker: TypeAlias = Callable[[ToolCall], ToolEffect | Delegation]


def effects(
    call: ToolCall, makers: Mapping[str, Maker], *, patches: Collection[str] = ()
) -> Iterator[ToolEffect | Delegation]:
    """Yield what a tool call did, a patch something to each file; `patches` names more tools."""
    if call.tool in PATCHES or call.tool in patches:
        given = text(call.given, "command", "input", "patch", "patchText").partition(
            "\n*** End Patch"
        )[0]
        error = (said(call) or "failed") if call.failed else ""
        _, *parts = _FILE.split(given)
        if not parts:
            yield other(call)
        for action, path, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            for write in _writes(action, path.strip(), body):
                yield msgspec.structs.replace(write, tool=call.tool, error=error)
    else:
        yield make(call, makers)


def make(call: ToolCall, makers: Mapping[str, Maker]) -> ToolEffect | Delegation:
    """Say what a tool call did; a tool without a maker is a `ToolUse`."""
    maker = makers.get(call.tool)
    if maker is not None:
        return maker(call)
    named = _relayed(call)
    return own(named) if own_tool_name(named.tool) else other(call)


def _relayed(call: ToolCall) -> ToolCall:
    """Return the call of an MCP tool that a client makes through one tool for all servers."""
    if call.tool not in _RELAYS:
        return call
    server = text(call.given, "server_name", "serverName", "server")
    name = text(call.given, "tool_name", "toolName", "tool", "name")
    given = inner(call.given, "arguments")
    return msgspec.structs.replace(call, tool=f"mcp__{server}__{name}", given=given)


def command(call: ToolCall) -> Command:
    """Return a shell command with whatever is known of its end."""
    answer = _object(call.response)
    exit_code = call.exit_code if call.exit_code is not None else number(answer, *_EXITS)
    return Command(
        command=text(call.given, "command", "cmd"),
        output=_printed(call, answer),
        exit_code=exit_code,
        failed=call.failed if exit_code is None else exit_code != 0,
        interrupted=call.interrupted or bool(flag(answer, "interrupted")),
        duration_ms=call.duration_ms,
        description=text(call.given, "description", "summary"),
    )


def _printed(call: ToolCall, answer: Object) -> str:
    if flag(answer, "isImage"):
        return "[image]"
    printed = joined(text(answer, "stdout", "output"), text(answer, "stderr"))
    if not printed and (task := text(answer, "backgroundTaskId")):
        return f"Command running in background with ID: {task}"
    if printed or not (call.error or answer.keys().isdisjoint(_STREAMS)):
        return printed
    return said(call)


def _object(value: Json) -> Object:
    return value if isinstance(value, dict) else {}


def write(call: ToolCall) -> FileWrite:
    """Return a whole file written; "create" only where the client says that it is new."""
    answer = _object(call.response)
    is_new = text(answer, "type") == "create"
    path = text(call.given, *_PATHS)
    content = text(call.given, "content", "contents", "file_text", "text")
    before = original(answer)
    if before is None:
        before = _patched(content, answer, old="+", new="-")
    return FileWrite(
        path=path,
        operation="create" if is_new else "write",
        edits=hunks(answer),
        content=content,
        tool=call.tool,
        error=call.error or "failed" * bool(call.failed),
        symbols=_symbol_changes(path, before, content),
    )


def append(call: ToolCall) -> FileWrite:
    """Return text added at the end of a file."""
    added = text(call.given, "text", "new_str", "content", "file_text")
    return _changed(call, "append", Edit(new=added))


def edit(call: ToolCall) -> FileWrite:
    """Return the replacements in one file: as a patch, a list, or the one in the arguments."""
    answer = _object(call.response)
    asked = tuple(map(replacement, rows(call.given, "edits"))) or (replacement(call.given),)
    before = original(answer)
    after = None if before is None else edited(before, answer, call.given, asked)
    write = _changed(call, "edit", *(hunks(answer) or asked))
    return msgspec.structs.replace(write, symbols=_symbol_changes(write.path, before, after))


def delete(call: ToolCall) -> FileWrite:
    """Return a file removed."""
    return _changed(call, "delete")


def hunks(answer: Object) -> tuple[Edit, ...]:
    """Return the replacements of the patch in an answer, with the lines around that show where."""
    patch = [words(hunk, "lines") for hunk in rows(answer, "structuredPatch")]
    return tuple(Edit(old=_side(lines, "-"), new=_side(lines, "+")) for lines in patch if lines)


_UNIFIED = re.compile(r"^@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@.*\n", re.MULTILINE)


def unified_hunks(diff: str) -> list[Json]:
    """Return the hunks of a unified diff as they stand in a `structuredPatch`."""
    pieces = _UNIFIED.split(diff)[1:]
    return [
        {"oldStart": int(old), "newStart": int(new), "lines": list(lines.split("\n"))}
        for old, new, lines in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True)
    ]


def _side(lines: Iterable[str], sign: str) -> str:
    return "\n".join(line[1:] for line in lines if line[:1] in (" ", sign))


def replacement(given: Object) -> Edit:
    """Return one replacement from any client's spelling of old and new."""
    return Edit(
        old=text(given, "old_string", "old_str", "oldStr", "oldString", "old_text", "oldText"),
        new=text(given, *_NEW_TEXT),
    )


def _symbol_changes(path: str, before: str | None, after: str | None) -> SymbolChanges | None:
    from observer.code.edits import symbol_changes_of  # noqa: PLC0415 - 50 ms, of who decodes only

    return symbol_changes_of(path, before, after)


def _changed(call: ToolCall, operation: _Change, *edits: Edit) -> FileWrite:
    return FileWrite(
        path=text(call.given, *_PATHS),
        operation=operation,
        edits=tuple(each for each in edits if each.old or each.new),
        tool=call.tool,
        error=call.error or "failed" * bool(call.failed),
    )


def read(call: ToolCall) -> FileRead | ToolUse:
    """Return a file read; a read that failed has shown nothing and stays a tool use."""
    if call.failed:
        return other(call)
    paths = words(call.given, "paths") or tuple(filter(None, [text(call.given, *_PATHS)]))
    first, count = number(call.given, "offset"), number(call.given, "limit")
    last = None if count is None else (first or 1) + count - 1
    return FileRead(paths=paths, lines=span(first, last), tool=call.tool)


def span(first: int | None, last: int | None) -> str:
    """Return the lines that were read as a text, as far as they were asked for: `7-`, `1-20`."""
    if first is None and last is None:
        return ""
    return f"{first or 1}-{'' if last is None else last}"


def grep(call: ToolCall) -> Search | ToolUse:
    """Return a search through file contents."""
    query = text(call.given, "pattern", "query", "regex")
    return _searched(call, "code", query=query, path=text(call.given, *_PATHS))


def find(call: ToolCall) -> Search | ToolUse:
    """Return a search for files by name, or a folder listed."""
    query = text(call.given, "pattern", "glob_pattern", "globPattern", "query")
    query = query or " ".join(words(call.given, "patterns"))
    return _searched(call, "files", query=query, path=text(call.given, *_PATHS, "folder"))


def fetch(call: ToolCall) -> Search | ToolUse:
    """Return a web page read: its address, then what it was asked."""
    words = (text(call.given, "url"), text(call.given, "prompt"))
    return _searched(call, "web", query=" ".join(filter(None, words)))


def ask_web(call: ToolCall) -> Search | ToolUse:
    """Return a web search."""
    return _searched(call, "web", query=text(call.given, "query", "search_term"))


def own(call: ToolCall) -> Search | ToolUse:
    """Return a question to observer itself, without the answer; else that it was called.

    Its input is a note already: a copy would outlive it, and show to all what is one person's.
    """
    action = text(call.given, "action")
    if action != "recall" and own_tool_name(call.tool) in OWN_PRIVATE_TOOLS:
        return ToolUse(tool=call.tool, input=action, failed=call.failed)
    query = text(call.given, "query", "project", "anchor") or dump(dict(call.given))
    return Search(query=query, where="memory", tool=call.tool)


def _searched(call: ToolCall, where: _Where, *, query: str, path: str = "") -> Search | ToolUse:
    if call.failed:
        return other(call)
    return Search(
        query=query or path,
        where=where,
        path=path if query else "",
        output=said(call) or (_NONE_FOUND if isinstance(call.response, dict) else ""),
        tool=call.tool,
    )


def delegate(call: ToolCall) -> Delegation | ToolUse:
    """Return work handed to a sub-agent, with what came back; in the background nothing yet."""
    if call.failed:
        return other(call)
    answer = call.response if isinstance(call.response, dict) else {}
    task = text(call.given, "prompt", "task", "message", "objective")
    return Delegation(
        task=joined(text(call.given, "description"), task),
        agent=text(call.given, "subagent_type", "agent", "agent_name", "agent_type"),
        result="" if flag(answer, "isAsync") else said(call),
    )


def other(call: ToolCall) -> ToolUse:
    """Return any other tool with its arguments and answer as text."""
    return ToolUse(
        tool=call.tool, input=dump(dict(call.given)), output=said(call), failed=call.failed
    )


def said(call: ToolCall) -> str:
    """Return what the tool answered, or its error, as text."""
    return call.error or prose(call.response)


_MAKERS: Mapping[str, Maker] = {
    maker.__name__: maker
    for maker in (command, write, append, edit, delete, read, grep, find, fetch, ask_web, delegate)
}


def by_name(**names: str) -> dict[str, Maker]:
    """Return makers by the names of a client's tools, those that mean the same under one maker."""
    return {name: _MAKERS[maker] for maker, known in names.items() for name in known.split()}


# --- patches -------------------------------------------------------------------------------------
#
# Of `apply_patch`, by which models of OpenAI edit files in several clients; without line numbers.

PATCHES = frozenset({"apply_patch", "ApplyPatch"})

_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_HUNK = re.compile(r"^@@.*$", re.MULTILINE)
_MOVE = re.compile(r"\n\*\*\* Move to: (.+)")


def _writes(action: str, path: str, body: str) -> Iterator[FileWrite]:
    """Yield what a patch does to a file; one that moves is edited at its new place and deleted."""
    moved = _MOVE.match(body)
    if action == "Add":
        content = "".join(f"{line[1:]}\n" for line in body.split("\n") if line[:1] == "+")
        symbols = _symbol_changes(path, "", content)
        yield FileWrite(path=path, operation="create", content=content, symbols=symbols)
    if action == "Update":
        yield FileWrite(path=moved[1].strip() if moved else path, edits=tuple(_edits(body)))
    if action == "Delete" or moved:
        yield FileWrite(path=path, operation="delete")


def _edits(body: str) -> Iterator[Edit]:
    """Yield the replacements of an update, with the lines around them."""
    for hunk in _HUNK.split(body):
        lines = [line or " " for line in hunk.strip("\n").split("\n")]
        old, new = (_side(lines, sign) for sign in "-+")
        if old != new:
            yield Edit(old=old, new=new)
