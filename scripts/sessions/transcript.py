"""Claude Code transcripts as the hook payloads that the client would have sent.

What hooks cannot report is left out and counted: calls that the person refused, thinking,
interrupts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import msgspec

from sessions.records import (
    REFUSED,
    Json,
    Row,
    blocks,
    is_hook,
    is_of_client,
    prompt_of,
    read_rows,
    text_of,
    to_ms,
)

_SAME_START_MS = 5_000
"""Two reports of a session's start within this time are one."""
_SHELLS = frozenset({"Bash", "PowerShell"})
_AGENTS = frozenset({"Agent", "Task"})
_INTERRUPTED = "[Request interrupted"


class HookEvent(NamedTuple):
    """One hook call: its time, its event and payload, and the branch that was checked out."""

    at_ms: int
    event: str
    payload: Json
    branch: str


class _Call(NamedTuple):
    block: Json
    at_ms: int


class Transcript:
    """The hook calls of one session, in order.

    Args:
        paths: its transcripts.
        session: its id; records of other sessions in the same files are left out.
    """

    relocate: Callable[[str], str] = str
    """Rewrites the JSON of a payload, to map folders; to be set before `events` is read."""

    def __init__(self, paths: Iterable[Path], session: str) -> None:
        self.session = session
        self.left_out: Counter[str] = Counter()
        self._rows = read_rows(paths, session)
        first = next((row.record for row in self._rows if row.record.get("cwd")), {})
        self.folder: str = first.get("cwd", "")
        self._cwd, self._branch = self.folder, first.get("gitBranch", "")
        self._calls: dict[str, _Call] = {}
        self._calls_of_agents: dict[str, _Call] = {}
        self._agents: dict[str, str] = {}
        self._said, self._said_ms = "", 0
        self._started_ms = 0

    @cached_property
    def events(self) -> list[HookEvent]:
        """The hook calls."""
        return list(self._read())

    @property
    def rows(self) -> Sequence[Row]:
        """The records that the calls were made of."""
        return self._rows

    def _read(self) -> Iterator[HookEvent]:
        if not self._rows:
            return
        yield from self._started()
        readers = {
            "progress": self._progress,
            "system": self._system,
            "assistant": self._assistant,
            "user": self._user,
        }
        for place, row in enumerate(self._rows):
            self._cwd = row.record.get("cwd") or self._cwd
            self._branch = row.record.get("gitBranch") or self._branch
            kind = row.record["type"]
            if kind == "queue-operation":
                yield from self._queued(place, row)
            elif kind in readers:
                yield from readers[kind](row)
        last = self._rows[-1]
        yield from self._stopped(last.record)
        yield self._event(last.at_ms + 1000, "SessionEnd", last.record, reason="other")

    def _event(self, at_ms: int, event: str, record: Json, **fields: object) -> HookEvent:
        payload = {
            "session_id": self.session,
            "transcript_path": "",
            "cwd": record.get("cwd") or self._cwd,
            "permission_mode": record.get("permissionMode") or "default",
            "hook_event_name": event,
        } | fields
        text = self.relocate(msgspec.json.encode(payload).decode())
        branch = record.get("gitBranch") or self._branch
        return HookEvent(at_ms, event, msgspec.json.decode(text), branch)

    def _started(self) -> Iterator[HookEvent]:
        at_ms, record = self._rows[0]
        self._started_ms = at_ms
        hook = next((row for row in self._rows if is_hook(row.record, "SessionStart")), None)
        source = "startup"
        if hook and hook.at_ms - at_ms < _SAME_START_MS:
            source = _source(hook.record) or source
        yield self._event(at_ms, "SessionStart", record, source=source, model=self._model())

    def _model(self) -> str:
        answers = (row.record for row in self._rows if row.record["type"] == "assistant")
        return str(next((one["message"].get("model", "") for one in answers), ""))

    def _progress(self, row: Row) -> Iterator[HookEvent]:
        if is_hook(row.record, "SessionStart"):
            if row.at_ms - self._started_ms > _SAME_START_MS:
                self._started_ms = row.at_ms
                source = _source(row.record) or "resume"
                yield self._event(
                    row.at_ms, "SessionStart", row.record, source=source, model=self._model()
                )
        elif (row.record.get("data") or {}).get("type") == "agent_progress":
            yield from self._of_agent(row)

    def _queued(self, place: int, row: Row) -> Iterator[HookEvent]:
        """Yield a prompt that was typed while the agent worked and handed to it in a turn."""
        text = row.record.get("content") or ""
        if row.record["operation"] != "enqueue" or not text or is_of_client(text):
            return
        users = (one.record for one in self._rows if one.record["type"] == "user")
        if text in map(prompt_of, users):
            return
        later = (one.record for one in self._rows[place + 1 :])
        following = next(
            (one.get("operation") for one in later if one["type"] == "queue-operation"), ""
        )
        if following in {"remove", "dequeue"}:
            yield self._event(row.at_ms, "UserPromptSubmit", row.record, prompt=text, queued=True)

    def _system(self, row: Row) -> Iterator[HookEvent]:
        if row.record.get("subtype") == "compact_boundary":
            trigger = (row.record.get("compactMetadata") or {}).get("trigger", "auto")
            yield self._event(
                row.at_ms, "PreCompact", row.record, trigger=trigger, custom_instructions=""
            )

    def _assistant(self, row: Row) -> Iterator[HookEvent]:
        if row.record.get("isSidechain"):
            return
        self._said_ms = row.at_ms
        for block in blocks(row.record):
            if block.get("type") == "tool_use":
                self._calls[block["id"]] = _Call(block, row.at_ms)
                if block["name"] in _AGENTS:
                    sort = block.get("input", {}).get("subagent_type", "general-purpose")
                    self._agents[block["id"]] = sort
            elif block.get("type") == "text" and block.get("text", "").strip():
                self._said = block["text"]
            elif block.get("type") == "thinking":
                self.left_out["thinking"] += 1
        yield from ()

    def _user(self, row: Row) -> Iterator[HookEvent]:
        record = row.record
        if record.get("isCompactSummary"):
            summary = text_of((record.get("message") or {}).get("content"))
            yield self._event(
                row.at_ms, "PostCompact", record, trigger="auto", compact_summary=summary
            )
            return
        if record.get("isSidechain"):
            return
        prompt = prompt_of(record)
        if prompt is not None:
            yield from self._stopped(record)
            self._said = ""
            yield self._event(row.at_ms, "UserPromptSubmit", record, prompt=prompt, source="user")
            return
        for block in blocks(record):
            yield from self._answered(row, block)

    def _answered(self, row: Row, block: Json) -> Iterator[HookEvent]:
        if block.get("type") == "text" and block["text"].startswith(_INTERRUPTED):
            self._said = ""
            self.left_out["interrupt"] += 1
        if block.get("type") != "tool_result":
            return
        call = self._calls.get(block.get("tool_use_id", ""))
        if call is None:
            self.left_out["result without call"] += 1
            return
        yield from self._result(row, block, call, {})

    def _stopped(self, record: Json) -> Iterator[HookEvent]:
        if self._said:
            yield self._event(
                self._said_ms + 1,
                "Stop",
                record,
                stop_hook_active=False,
                last_assistant_message=self._said,
                background_tasks=[],
                session_crons=[],
            )

    def _result(
        self, row: Row, block: Json, call: _Call, agent: Mapping[str, str]
    ) -> Iterator[HookEvent]:
        use = call.block
        common = {
            "tool_name": use["name"],
            "tool_input": use.get("input", {}),
            "tool_use_id": use["id"],
            "duration_ms": max(row.at_ms - call.at_ms, 0),
            **agent,
        }
        if block.get("is_error"):
            yield from self._failed(row, text_of(block.get("content")), common)
            return
        response = row.record.get("toolUseResult")
        if response is None:
            response = block.get("content")
        if use["name"] in _SHELLS and not isinstance(response, dict):
            output = text_of(block.get("content"))
            response = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        yield self._event(row.at_ms, "PostToolUse", row.record, tool_response=response, **common)
        if use["name"] in _AGENTS and isinstance(response, dict) and not agent:
            yield from self._agent_stopped(row, response, use["id"])

    def _failed(self, row: Row, error: str, common: Mapping[str, object]) -> Iterator[HookEvent]:
        if error.startswith(REFUSED):
            self.left_out["refused by the person"] += 1
            return
        error = error.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
        yield self._event(
            row.at_ms, "PostToolUseFailure", row.record, error=error, is_interrupt=False, **common
        )

    def _agent_stopped(self, row: Row, response: Json, call: str) -> Iterator[HookEvent]:
        if agent_id := response.get("agentId"):
            yield self._event(
                row.at_ms,
                "SubagentStop",
                row.record,
                stop_hook_active=False,
                agent_id=agent_id,
                agent_type=self._agents.get(call, ""),
                agent_transcript_path="",
                last_assistant_message=text_of(response.get("content")),
            )

    def _of_agent(self, row: Row) -> Iterator[HookEvent]:
        """Yield the finished calls of a sub-agent, which report as the agent's own."""
        record, data = row.record, row.record["data"]
        message = data.get("message") or {}
        sort = self._agents.get(record.get("parentToolUseID", ""), "general-purpose")
        agent = {"agent_id": data.get("agentId", ""), "agent_type": sort}
        inner = {
            "message": message.get("message"),
            "cwd": record.get("cwd"),
            "gitBranch": record.get("gitBranch"),
            "toolUseResult": message.get("toolUseResult"),
        }
        stamp = message.get("timestamp")
        within = Row(to_ms(stamp) if stamp else row.at_ms, inner)
        for block in blocks(inner):
            if block.get("type") == "tool_use":
                self._calls_of_agents[block["id"]] = _Call(block, within.at_ms)
            elif block.get("type") == "tool_result":
                call = self._calls_of_agents.pop(block.get("tool_use_id", ""), None)
                if call:
                    yield from self._result(within, block, call, agent)


def _source(record: Json) -> str:
    """Return why a session started, as the name of its hook says: ``SessionStart:clear``."""
    return str(record["data"].get("hookName", "")).partition(":")[2]
