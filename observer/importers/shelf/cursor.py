"""Cursor's IDE: one database for all conversations, `globalStorage/state.vscdb`.

It is read as others have described it, for versions from 0.50 on, and not tried with the client.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, number, rows, text
from observer.core import json_text
from observer.importers.database import opened
from observer.importers.records import HookCall, RecordCalls, read_session
from observer.importers.source import (
    FoundSession,
    Problems,
    SessionSource,
    files_in,
    read_object,
    time_of,
)

_FOLDER = "Library/Application Support/Cursor" if sys.platform == "darwin" else ".config/Cursor"

_TABLE = "cursorDiskKV"
_PERSON, _AGENT = 1, 2
_TOOLS: Mapping[str, str] = {
    "run_terminal_cmd": "Shell",
    "run_terminal_command": "Shell",
    "read_file": "Read",
    "grep": "Grep",
    "grep_search": "Grep",
    "ripgrep": "Grep",
    "ripgrep_raw_search": "Grep",
    "codebase_search": "SemanticSearch",
    "semantic_search_full": "SemanticSearch",
    "file_search": "Glob",
    "glob_file_search": "Glob",
    "list_dir": "LS",
    "task": "Task",
    "web_search": "WebSearch",
    "web_fetch": "WebFetch",
    "delete_file": "Delete",
    "apply_patch": "ApplyPatch",
}
_EDITORS = frozenset(
    {"search_replace", "edit_file", "write", "MultiEdit", "edit_notebook", "create_file", "reapply"}
)
_DONE = frozenset({"completed", "error"})


def _find(paths: Sequence[Path], problems: Problems) -> list[FoundSession]:
    files = files_in(paths, ("state.vscdb",), lambda file: file.parent.name == "globalStorage")
    return [session for file in files for session in _sessions(file, problems)]


def _sessions(path: Path, problems: Problems) -> list[FoundSession]:
    folders = _folders(path)
    with opened(path, problems) as database:
        kept = database.beginning(_TABLE, "key", "composerData:") if database else iter(())
        found = [value for row in kept if (value := _value(row))]
    size_bytes = path.stat().st_size // max(len(found), 1)
    sessions = []
    for value in found:
        name, begun_ms = text(value, "composerId"), time_of(value, "createdAt")
        if not name or begun_ms is None or not any(rows(value, "fullConversationHeadersOnly")):
            continue
        last_ms = max(begun_ms, time_of(value, "lastUpdatedAt") or 0)
        folder = folders.get(name, "")
        state = f"{last_ms}"
        one = FoundSession(name, (path,), folder, begun_ms, last_ms, size_bytes, state=state)
        sessions.append(one)
    return sessions


def _folders(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for about in sorted(path.parents[1].glob("workspaceStorage/*/workspace.json")):
        address = urlsplit(text(read_object(about, Problems()) or {}, "folder"))
        if address.scheme != "file":
            continue
        with opened(about.with_name("state.vscdb"), Problems()) as database:
            kept = database.rows("ItemTable", key="composer.composerData") if database else ()
            for row in kept:
                for one in rows(_value(row), "allComposers"):
                    found[text(one, "composerId")] = unquote(address.path)
    return found


def _value(row: Object) -> Object:
    value: object = row.get("value")
    with suppress(ValueError, RecursionError):
        found = json_text.load(value) if isinstance(value, str | bytes) else None
        return found if isinstance(found, dict) else {}
    return {}


class _Calls(RecordCalls):
    """The calls of a conversation; a record is a message, one without a time has the last one's."""

    start, asked, replied = "sessionStart", "beforeSubmitPrompt", "afterAgentResponse"
    end, words, time = "sessionEnd", "text", "at"

    def payload(self, event: str, fields: Object) -> dict[str, Json]:
        common: dict[str, Json] = {"conversation_id": self.session, "hook_event_name": event}
        roots: list[Json] = [self.folder] if self.folder else []
        return {**common, "workspace_roots": roots, **fields}

    def records(self, path: Path, problems: Problems) -> Iterator[Object]:
        with opened(path, problems) as database:
            if database is None:
                return
            at_ms: int = self._found.first_ms
            for row in database.rows(_TABLE, key=f"composerData:{self.session}"):
                for head in rows(_value(row), "fullConversationHeadersOnly"):
                    key = f"bubbleId:{self.session}:{text(head, 'bubbleId')}"
                    for bubble in database.rows(_TABLE, key=key):
                        said = _value(bubble)
                        at_ms = time_of(said, "createdAt") or at_ms
                        yield {**said, "at": at_ms, "key": key}

    def read(self, at_ms: int, record: Object) -> Iterator[HookCall]:
        key, said = text(record, "key"), text(record, "text")
        if record.get("type") == _PERSON and said.strip():
            yield from self.prompt(at_ms, said, key)
        elif record.get("type") == _AGENT:
            self.say(at_ms, said, key)
            if tool := inner(record, "toolFormerData"):
                yield from self._done(at_ms, tool, key)

    def _done(self, at_ms: int, tool: Object, key: str) -> Iterator[HookCall]:
        status, name = text(tool, "status"), text(tool, "name").removesuffix("_v2")
        given = inner(tool, "rawArgs") or inner(tool, "params")
        if not name or status not in _DONE:
            return
        if name in _EDITORS and status == "completed" and "contents" not in given:
            path = text(given, "file_path", "target_file", "path", "relativeWorkspacePath")
            edits: list[Json] = [dict(one) for one in rows(given, "edits")]
            if not edits and "new_string" in given:
                edits = [dict(given)]
            fields: Object = {"file_path": path, "edits": edits}
            yield self.call(at_ms, "afterFileEdit", fields, key)
            return
        if name in _EDITORS:
            name = "Write" if "contents" in given else "Edit"
        asked: dict[str, Json] = {"tool_name": _TOOLS.get(name, name), "tool_input": dict(given)}
        if status == "error":
            said: Json = text(tool, "error") or text(tool, "result")
            failed: Object = {**asked, "error_message": said}
            yield self.call(at_ms, "postToolUseFailure", failed, key)
        else:
            result = inner(tool, "result")
            code = number(result, "exitCodeV2")  # of a command; it has this name since 2025
            output = tool.get("result") if code is None else {**result, "exitCode": code}
            done: Object = {**asked, "tool_output": output}
            yield self.call(at_ms, "postToolUse", done, key)


SOURCES = (
    SessionSource(
        "cursor",
        _FOLDER,
        "",
        "User/globalStorage/state.vscdb",
        find=_find,
        read=partial(read_session, "cursor", _Calls),
    ),
)
