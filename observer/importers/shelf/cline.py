"""Cline's CLI: `~/.cline/data/sessions/*`, a file of messages for each session, and one about it.

The format is the client's own and undocumented; seen in version 3.0.65.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, prose, rows, text
from observer.importers.records import HookCall, Opening, RecordCalls, source_of, words_of
from observer.importers.source import FoundSession, Problems, read_object, time_of

_ENDING = ".messages.json"
_WRAPPED = re.compile(r"\A<user_input[^>]*>(.*)</user_input>\s*\Z", re.DOTALL)
_OWN = re.compile(r"\s*<(?:hook_context|mode_notice|system)")


def _about(path: Path) -> Object:
    beside = path.with_name(f"{path.name.removesuffix(_ENDING)}.json")
    return read_object(beside, Problems()) or {}


def _opening(path: Path, _: Iterable[Object]) -> Opening | None:
    about = _about(path)
    session, begun_ms = text(about, "session_id"), time_of(about, "started_at")
    if not session or begun_ms is None:
        return None
    ended_ms = time_of(about, "ended_at")
    written_ms = path.stat().st_mtime_ns // 1_000_000
    return Opening(session, text(about, "cwd"), begun_ms, ended_ms or written_ms)


class _Calls(RecordCalls):
    start, replied, end = "TaskStart", "TaskComplete", "SessionShutdown"
    words, time = "outputText", "ts"

    def __init__(self, found: FoundSession, problems: Problems) -> None:
        super().__init__(found, problems)
        about = _about(found.paths[0])
        self.branch = text(inner(inner(about, "metadata"), "git"), "branch")

    def payload(self, event: str, fields: Object) -> dict[str, Json]:
        common: dict[str, Json] = {
            "taskId": self.session,
            "workspaceRoots": [self.folder],
            "workspaceInfo": {"rootPath": self.folder},
        }
        said = {self.asked: "userPromptSubmit", self.replied: "turn"}.get(event)
        return {**common, **({said: dict(fields)} if said else fields)}

    def records(self, path: Path, problems: Problems) -> Iterator[Object]:
        return rows(read_object(path, problems) or {}, "messages")

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
                call, content = text(part, "tool_use_id"), part.get("content")
                done: dict[str, Json] = {
                    "id": call,
                    "name": text(part, "name"),
                    "input": dict(self.asked_of.pop(call, ("", {}))[1]),
                    "output": dict(inner(part, "content")) or content,
                }
                if part.get("is_error") is True:
                    done["error"] = prose(content)
                yield self.call(at_ms, "PostToolUse", {"tool_result": done}, call)
        is_own = text(inner(record, "metadata"), "displayRole") == "system" or _OWN.match(said)
        if said.strip() and not is_own:
            wrapped = _WRAPPED.match(said)
            yield from self.prompt(at_ms, wrapped[1] if wrapped else said, key)


SOURCES = (
    source_of(
        "cline", (".cline", "CLINE_DIR", "data/sessions"), _opening, _Calls, endings=(_ENDING,)
    ),
)
