"""Cline's CLI: `~/.cline/data/sessions/*`, a file of messages for each session, and one about it.

The format is the client's own and undocumented; seen in version 3.0.65. Beyond what its hooks
report, it has the prompts.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, number, prose, rows, text
from observer.clients.shelf.cline import TOOLS
from observer.core.clock import LAST_MS
from observer.importers.jsonl import Problems, read_object, read_rows, time_of
from observer.importers.records import (
    HookCall,
    Opening,
    RecordCalls,
    find_sessions,
    read_session,
    words_of,
)
from observer.importers.source import FoundSession, SessionSource

_ENDING = ".messages.json"
_WRAPPED = re.compile(r"\A<user_input[^>]*>(.*)</user_input>\s*\Z", re.DOTALL)
_OWN = re.compile(r"\s*<(?:hook_context|mode_notice|system)")
"""How messages begin that no person has typed."""


def _about(path: Path) -> Object:
    beside = path.with_name(f"{path.name.removesuffix(_ENDING)}.json")
    return read_object(beside, Problems()) or {}


def _opening(path: Path, _: Iterable[Object]) -> Opening | None:
    about = _about(path)
    session, begun_ms = text(about, "session_id"), _time(about, "started_at")
    if not session or begun_ms is None:
        return None
    ended_ms = _time(about, "ended_at")
    written_ms = path.stat().st_mtime_ns // 1_000_000
    return Opening(session, text(about, "cwd"), begun_ms, ended_ms or written_ms)


def _time(about: Object, name: str) -> int | None:
    return time_of({"timestamp": about.get(name)})


class ClineCalls(RecordCalls):
    """The hook calls of Cline, whichever of its programs kept the records."""

    start, end = "TaskStart", "SessionShutdown"

    def payload(self, _event: str, fields: Object) -> dict[str, Json]:
        """See `RecordCalls.payload`."""
        common: dict[str, Json] = {
            "taskId": self.session,
            "workspaceRoots": [self.folder],
            "workspaceInfo": {"rootPath": self.folder},
        }
        return {**common, **fields}

    def asked(self, words: str) -> tuple[str, Object]:
        """See `RecordCalls.asked`."""
        return "UserPromptSubmit", {"userPromptSubmit": {"prompt": words}}

    def reply(self, words: str, _: Object) -> tuple[str, Object]:
        """See `RecordCalls.reply`."""
        return "TaskComplete", {"turn": {"outputText": words}}


class _Calls(ClineCalls):
    def __init__(self, found: FoundSession, problems: Problems) -> None:
        super().__init__(found, problems)
        about = _about(found.paths[0])
        self.branch = text(inner(inner(about, "metadata"), "git"), "branch")

    def records(self, path: Path, problems: Problems) -> Iterator[Object]:
        return rows(read_object(path, problems) or {}, "messages")

    def time_of(self, record: Object) -> int | None:
        at_ms = number(record, "ts")
        return at_ms if at_ms is not None and 0 <= at_ms <= LAST_MS else None

    def read(self, at_ms: int, record: Object) -> Iterator[HookCall]:
        key, parts = text(record, "id"), list(rows(record, "content"))
        said = words_of(record.get("content"))
        if text(record, "role") == "assistant":
            for part in parts:
                if text(part, "type") == "tool_use":
                    self.asked_of[text(part, "id")] = (text(part, "name"), inner(part, "input"))
            self.say(at_ms, said, key)
            return
        for part in parts:
            if text(part, "type") == "tool_result":
                yield self._done(at_ms, part)
        is_own = text(inner(record, "metadata"), "displayRole") == "system" or _OWN.match(said)
        if said.strip() and not is_own:
            wrapped = _WRAPPED.match(said)
            yield from self.prompt(at_ms, wrapped[1] if wrapped else said, key)

    def _done(self, at_ms: int, result: Object) -> HookCall:
        call, content = text(result, "tool_use_id"), result.get("content")
        done: dict[str, Json] = {
            "id": call,
            "name": text(result, "name"),
            "input": dict(self.asked_of.pop(call, ("", {}))[1]),
            "output": dict(inner(result, "content")) or content,
        }
        if result.get("is_error") is True:
            done["error"] = prose(content)
        return self.call(at_ms, "PostToolUse", {"tool_result": done}, call)


# --- tasks of its editor extension: one folder each, with all messages in one file ----------------
#
# Older versions write a call into the text of an answer, in tags, and its result into the next
# message, behind `[TOOL for '…'] Result:`; newer ones have blocks of both. A message without a time
# counts as long after the beginning as messages came before it: only the order is known.
#
# The format is the client's own; it is read as others have described it, and was not tried with the
# client. Roo Code and its like keep theirs alike, in folders that you name.

_FOLDER = "Library/Application Support/Code" if sys.platform == "darwin" else ".config/Code"

_FILE = "api_conversation_history.json"
_FIRST_MS = 10**12
_OTHERS = ("use_mcp_tool", "access_mcp_resource", "browser_action", "new_task", "apply_patch")
_CALL = re.compile(rf"<({'|'.join((*TOOLS, *_OTHERS))})>")
_ARGUMENT = re.compile(
    r"<(command|cwd|path|regex|file_pattern|recursive|url|query|server_name|tool_name|arguments"
    r"|action|uri|diff|content)>\n?(.*?)\n?</\1>",
    re.DOTALL,
)
_LONG = ("content", "diff")
"""Arguments that hold files, in which any tag may stand."""
_ARGUMENTS_CHARS = 20_000
_TYPED_CHARS = 200_000
_RESULT = re.compile(r"\[(\w+)(?: for .{0,4000}?)?\] Result:\n?", re.DOTALL)
_REFUSED = "The user denied this operation"
_FAILED = "The tool execution failed with the following error"
_AROUND = re.compile(r"<environment_details>.*?(?:</environment_details>|\Z)", re.DOTALL)
_TYPED = re.compile(r"<(task|feedback|user_message)>\n?(.*?)\n?</\1>", re.DOTALL)
_THOUGHT = re.compile(r"<thinking>.*?</thinking>\s*", re.DOTALL)
_PLACE = re.compile(r"# Current (?:Working|Workspace) Directory \(([^)\n]+)\)")


def _task_opening(path: Path, _: Iterable[Object]) -> Opening | None:
    known = list(_timed(path, Problems()))
    if not known:
        return None
    place = next(
        filter(None, (_PLACE.search(words_of(one.get("content"))) for _, one in known)), None
    )
    return Opening(path.parent.name, place[1] if place else "", known[0][0], known[-1][0])


def _timed(path: Path, problems: Problems) -> Iterator[tuple[int, Object]]:
    """Yield the messages of a task with their times; its folder is named by when it began."""
    begun_ms = number({"name": path.parent.name}, "name")
    if begun_ms is None or not _FIRST_MS <= begun_ms <= LAST_MS:
        begun_ms = path.stat().st_mtime_ns // 1_000_000
    at_ms = begun_ms - 1
    for record in read_rows(path, problems):
        if text(record, "role") in {"user", "assistant"}:
            said_ms = number(record, "ts")
            is_time = said_ms is not None and _FIRST_MS <= said_ms <= LAST_MS
            at_ms = said_ms if said_ms is not None and is_time else at_ms + 1
            yield at_ms, record


class _TaskCalls(ClineCalls):
    def __init__(self, found: FoundSession, problems: Problems) -> None:
        super().__init__(found, problems)
        self._written: tuple[str, Object] | None = None

    def records(self, path: Path, problems: Problems) -> Iterator[Object]:
        for place, (at_ms, record) in enumerate(_timed(path, problems)):
            yield {**record, "at": at_ms, "key": f"{place}"}

    def time_of(self, record: Object) -> int | None:
        return number(record, "at")

    def read(self, at_ms: int, record: Object) -> Iterator[HookCall]:
        key, content = text(record, "key"), record.get("content")
        said = words_of(content)
        parts = list(rows({"parts": content}, "parts"))
        if text(record, "role") == "assistant":
            self._answered(at_ms, said, key, parts)
            return
        for part in parts:
            if text(part, "type") == "tool_result":
                call = text(part, "tool_use_id")
                asked, answer = self.asked_of.pop(call, None), prose(part.get("content"))
                yield from self._done(at_ms, asked, answer, call)
        if (result := _RESULT.match(said)) and self._written and self._written[0] == result[1]:
            answer = _AROUND.sub("", said[result.end() :]).strip()
            yield from self._done(at_ms, self._written, answer, key)
        self._written = None
        typed = "\n".join(found[1] for found in _TYPED.findall(said[:_TYPED_CHARS]))
        if typed.strip():
            yield from self.prompt(at_ms, typed, key)

    def _answered(self, at_ms: int, said: str, key: str, parts: Iterable[Object]) -> None:
        for part in parts:
            if text(part, "type") == "tool_use":
                self.asked_of[text(part, "id")] = (text(part, "name"), inner(part, "input"))
        call = _CALL.search(said)
        body = _within(said, call[1]) if call else None
        self._written = (call[1], _arguments(body)) if call and body is not None else None
        done = _within(_within(said, "attempt_completion") or "", "result")
        words = said[: call.start()] if call and self._written else said
        self.say(at_ms, _THOUGHT.sub("", words if done is None else done), key)

    def _done(
        self, at_ms: int, asked: tuple[str, Object] | None, said: str, key: str
    ) -> Iterator[HookCall]:
        if asked is None or _REFUSED in said[:200]:
            return
        has_failed = said.startswith(_FAILED)
        used: Mapping[str, Json] = {
            "toolName": asked[0],
            "parameters": dict(asked[1]),
            "result": (_within(said, "error") if has_failed else None) or said,
            "success": not has_failed,
        }
        yield self.call(at_ms, "PostToolUse", {"postToolUse": dict(used)}, key)


def _within(said: str, tag: str) -> str | None:
    """Return what stands between the first beginning of a tag and its last end; None without."""
    begin, end = said.find(f"<{tag}>"), said.rfind(f"</{tag}>")
    if not 0 <= begin < end:
        return None
    return said[begin + len(tag) + 2 : end].removeprefix("\n").removesuffix("\n")


def _arguments(body: str) -> Object:
    found: dict[str, Json] = {}
    for name in _LONG:
        if (value := _within(body, name)) is not None:
            found[name] = value
            body = body[: body.find(f"<{name}>")] + body[body.rfind(f"</{name}>") :]
    known = _ARGUMENT.findall(body[:_ARGUMENTS_CHARS])
    return found | {name: value for name, value in known if name not in _LONG}


SOURCES = (
    SessionSource(
        "cline",
        ".cline",
        "CLINE_DIR",
        "data/sessions",
        find=partial(find_sessions, _opening, endings=(_ENDING,)),
        read=partial(read_session, "cline", _Calls),
    ),
    SessionSource(
        "cline-extension",
        _FOLDER,
        "",
        "User/globalStorage/saoudrizwan.claude-dev/tasks",
        find=partial(find_sessions, _task_opening, endings=(_FILE,)),
        read=partial(read_session, "cline", _TaskCalls),
    ),
)
