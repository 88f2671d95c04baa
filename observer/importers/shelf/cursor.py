"""Cursor's IDE: one database for all conversations, `globalStorage/state.vscdb`.

The format is the client's own; it is read as others have described it, for versions from 0.50 on,
and was not tried with the client. Transcripts of `cursor-agent` are read too, below.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, number, rows, text
from observer.core import json_text
from observer.core.clock import LAST_MS
from observer.importers.database import opened
from observer.importers.jsonl import Problems, files_below, lines, parse, read_object, time_of
from observer.importers.records import (
    HookCall,
    Opening,
    RecordCalls,
    find_sessions,
    read_session,
    words_of,
)
from observer.importers.source import FoundSession, SessionSource

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
    "web_search": "WebSearch",
    "web_fetch": "WebFetch",
    "delete_file": "Delete",
    "apply_patch": "ApplyPatch",
    "task": "Task",
}
"""What its hooks call a tool that the database has by another name."""
_EDITORS = frozenset(
    {"search_replace", "edit_file", "write", "MultiEdit", "edit_notebook", "create_file", "reapply"}
)
_DONE = frozenset({"completed", "error"})


def _find(paths: Sequence[Path], problems: Problems) -> list[FoundSession]:
    """Return the conversations in databases, and in the one for all below folders."""
    files = (
        file
        for path in paths
        for file in files_below(path, ("state.vscdb",))
        if file == path or file.parent.name == "globalStorage"
    )
    return [session for file in files for session in _sessions(file, problems)]


def _sessions(path: Path, problems: Problems) -> list[FoundSession]:
    folders = _folders(path)
    with opened(path, problems) as database:
        kept = database.beginning(_TABLE, "key", "composerData:") if database else iter(())
        found = [value for row in kept if (value := _value(row))]
    size_bytes = path.stat().st_size // max(len(found), 1)
    sessions = []
    for value in found:
        name, begun_ms = text(value, "composerId"), _time(value, "createdAt")
        if not name or begun_ms is None or not any(rows(value, "fullConversationHeadersOnly")):
            continue
        last_ms = max(begun_ms, _time(value, "lastUpdatedAt") or 0)
        folder = folders.get(name, "")
        one = FoundSession(name, (path,), folder, begun_ms, last_ms, size_bytes)
        sessions.append(one._replace(state=f"{last_ms}"))
    return sessions


def _folders(path: Path) -> dict[str, str]:
    """Return the folders of conversations, which the databases of workspaces name."""
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
    """Return the JSON of a row; empty where it holds something else."""
    value: object = row.get("value")
    with suppress(ValueError, RecursionError):
        found = json_text.load(value) if isinstance(value, str | bytes) else None
        return found if isinstance(found, dict) else {}
    return {}


def _time(value: Object, name: str) -> int | None:
    """Return a time in UTC milliseconds that is a number or a text."""
    at_ms = number(value, name)
    if at_ms is None:
        return time_of({"timestamp": value.get(name)})
    return at_ms if 0 <= at_ms <= LAST_MS else None


class _Calls(RecordCalls):
    """The calls of a conversation, whichever of its programs kept it."""

    start, end = "sessionStart", "sessionEnd"

    def payload(self, event: str, fields: Object) -> dict[str, Json]:
        common: dict[str, Json] = {"conversation_id": self.session, "hook_event_name": event}
        roots: list[Json] = [self.folder] if self.folder else []
        return {**common, "workspace_roots": roots, **fields}

    def asked(self, words: str) -> tuple[str, Object]:
        return "beforeSubmitPrompt", {"prompt": words}

    def reply(self, words: str, _: Object) -> tuple[str, Object]:
        return "afterAgentResponse", {"text": words}


class _IdeCalls(_Calls):
    """The calls of a conversation; a record is a message, one without a time has the last one's."""

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
                        at_ms = _time(said, "createdAt") or at_ms
                        yield {**said, "at": at_ms, "key": key}

    def time_of(self, record: Object) -> int | None:
        return number(record, "at")

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
            done: Object = {**asked, "tool_output": _answer(tool)}
            yield self.call(at_ms, "postToolUse", done, key)


def _answer(tool: Object) -> Json:
    """Return what a tool answered; the exit code of a command has another name since 2025."""
    said = inner(tool, "result")
    code = number(said, "exitCodeV2")
    return tool.get("result") if code is None else {**said, "exitCode": code}


# --- transcripts of its agent: `~/.cursor/projects/*/agent-transcripts`, a file each --------------
#
# A line has a role and a message with text and tool calls. It has no result of a call, and a time
# only where newer versions put one before a prompt: how calls ended is not known, and what has no
# time counts just before the file was written last. Copies of a conversation are united.
#
# The format is the client's own; it is read as others have described it, and was not tried with the
# client. What the IDE keeps in its database too (`agent-transcripts/ID/ID.jsonl`) is left to that.

_TRANSCRIPTS = "agent-transcripts"
_SUB_AGENTS = "subagents"
_ROLES = frozenset({"user", "assistant"})
_ASKED = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_AT = re.compile(
    r"\A\s*<timestamp>\w+, (\w{3} \d{1,2}, \d{4}, \d{1,2}:\d\d [AP]M) "
    r"\(UTC(?:([+-]\d{1,2})(?::(\d\d))?)?\)</timestamp>"
)
_OWN = re.compile(r"\s*<(?!user_query)[a-z_]+>")
"""How messages begin that no person has typed."""
_FOLDERS = ("working_directory", "path", "target_directory", "file_path")


def _opening(path: Path, found: Iterable[Object]) -> Opening | None:
    known = list(found)
    if not known or any(text(one, "role") not in _ROLES for one in known if "message" in one):
        return None
    if not any("message" in one for one in known) or any("uuid" in one for one in known):
        return None
    times = [at_ms for at_ms, _ in _timed(path, Problems())]
    return Opening(path.stem, _folder(path, known), min(times), max(times))


find_transcripts = partial(
    find_sessions,
    _opening,
    endings=(".jsonl",),
    is_one=lambda file: file.parent.name == _TRANSCRIPTS and _SUB_AGENTS not in file.parts,
)


def _folder(path: Path, known: Iterable[Object]) -> str:
    """Return the folder of which the transcripts' own folder is named, as far as calls name it."""
    if path.parent.name != _TRANSCRIPTS:
        return ""
    slug = path.parent.parent.name
    given = (
        inner(part, "input") for one in known for part in rows(inner(one, "message"), "content")
    )
    named = [one for each in given if (one := text(each, *_FOLDERS)).startswith("/")]
    for path_named in map(PurePosixPath, named):
        for folder in map(str, (path_named, *path_named.parents)):
            if re.sub(r"[^A-Za-z0-9]", "-", folder[1:]) == slug:
                return folder
    return ""


def _timed(path: Path, problems: Problems) -> Iterator[tuple[int, Object]]:
    """Yield the records of a file with their times in UTC milliseconds, each after the last."""
    count = sum(1 for _ in lines(path, Problems()))
    at_ms = max(path.stat().st_mtime_ns // 1_000_000 - count, 1)
    for line in lines(path, problems):
        record = parse(line, path, problems) or {}
        said_ms = _said_ms(words_of(inner(record, "message").get("content")))
        at_ms = at_ms + 1 if said_ms is None else said_ms
        yield at_ms, record


def _said_ms(said: str) -> int | None:
    if (found := _AT.match(said)) is None:
        return None
    with suppress(ValueError, OverflowError):
        here = datetime.strptime(found[1], "%b %d, %Y, %I:%M %p").replace(tzinfo=UTC)
        ahead = int(found[2] or 0) * 60
        ahead += int(found[3] or 0) * (-1 if ahead < 0 else 1)
        at_ms = int((here - timedelta(minutes=ahead)).timestamp() * 1000)
        return at_ms if 0 < at_ms <= LAST_MS else None
    return None


class _AgentCalls(_Calls):
    """The calls of a conversation; of a record that several copies hold, the oldest one's time."""

    def records(self, path: Path, problems: Problems) -> Iterator[Object]:
        if path != self._found.paths[0]:
            return  # it was read with the first
        seen: set[tuple[bytes, int]] = set()
        for copy in sorted(self._found.paths, key=lambda one: (one.stat().st_mtime_ns, one)):
            times: Counter[bytes] = Counter()
            for at_ms, record in _timed(copy, problems):
                name = blake2b(repr(record).encode(errors="replace"), digest_size=12).digest()
                times[name] += 1
                if (name, times[name]) not in seen:
                    seen.add((name, times[name]))
                    yield {**record, "at": at_ms, "key": f"{name.hex()}-{times[name]}"}

    def time_of(self, record: Object) -> int | None:
        at_ms: int = record["at"]  # type: ignore[assignment] # `records` has put it there
        return at_ms

    def read(self, at_ms: int, record: Object) -> Iterator[HookCall]:
        key, content = text(record, "key"), inner(record, "message").get("content")
        said = words_of(content)
        if text(record, "role") == "user":
            asked = "\n".join(_ASKED.findall(said)) or ("" if _OWN.match(said) else said)
            if asked.strip():
                yield from self.prompt(at_ms, asked, key)
            return
        self.say(at_ms, said, key)
        for place, part in enumerate(rows({"parts": content}, "parts")):
            if text(part, "type") == "tool_use":
                asked_of: Object = {
                    "tool_name": text(part, "name"),
                    "tool_input": dict(inner(part, "input")),
                }
                yield self.call(at_ms, "postToolUse", asked_of, f"{key}-{place}")


read_transcript = partial(read_session, "cursor", _AgentCalls)
SOURCES = (
    SessionSource(
        "cursor",
        _FOLDER,
        "",
        "User/globalStorage/state.vscdb",
        find=_find,
        read=partial(read_session, "cursor", _IdeCalls),
    ),
    SessionSource(
        "cursor-agent", ".cursor", "", "projects", find=find_transcripts, read=read_transcript
    ),
)
