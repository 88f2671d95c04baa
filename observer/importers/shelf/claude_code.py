"""Claude Code: transcripts below `~/.claude/projects`, one file a session and one a sub-agent.

The format is the client's own and undocumented; seen in versions 2.0.64 to 2.1.330. What a
transcript does not say is not made up: a call of which the person was asked has no duration.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, NamedTuple

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, number, rows, text
from observer.clients.shelf.claude_code import HOOKS
from observer.core import json_text
from observer.core.config import Settings
from observer.core.events import Event
from observer.importers.records import HookCall, Opening, find_sessions, read_session, words_of
from observer.importers.records import records as lines_of
from observer.importers.source import FoundSession, Problems, SessionSource, lines, parse, time_of

Record = Mapping[str, Any]

KINDS = frozenset({"assistant", "progress", "queue-operation", "system", "user"})
"""Types of records that say what happened; the others are the client's bookkeeping."""

_CLIENTS_COMMANDS = frozenset(
    """
    /add-dir /agents /bug /clear /compact /config /context /cost /doctor /exit /export /extra-usage
    /fast /feedback /help /hooks /ide /login /logout /mcp /memory /model /output-style /permissions
    /plan /plugin /privacy-settings /quit /release-notes /rename /resume /rewind /skills /stats
    /status /statusline /tasks /terminal-setup /theme /todos /upgrade /usage /vim
    """.split()  # noqa: SIM905 - as all word lists are written here
)
_OWN = re.compile(
    r"\s*(?:<(?:task-notification|agent-notification|system-reminder|local-command-|bash-input"
    r"|bash-stdout|bash-stderr|command-name|command-message|user-prompt-submit-hook)"
    r"|\[Request interrupted by user|Caveat: |\{\"task_id\":)"
)
_NAME = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)


class Row(NamedTuple):
    """A record, its time in UTC ms, its sub-agent, and a key that is the same in every copy."""

    at_ms: int
    kind: str
    agent: str
    key: str
    record: Record


def rows_of(
    paths: Iterable[Path], session: str, *, problems: Problems, known: AbstractSet[str]
) -> list[Row]:
    """Return what one session's transcripts, those of its sub-agents included, say happened.

    The rows come by time, each once, one without a time as the one before it; but the ids `known`.
    """
    found: dict[str, Row] = {}
    for path in sorted(paths):
        last_ms: int | None = None
        for line in lines(path, problems):
            record = parse(line, path, problems)
            if record is None or record.get("sessionId", session) != session:
                continue
            if record.get("forkedFrom") or text(record, "uuid") in known:
                continue  # a copy of what the session before it said
            kind, said_ms = text(record, "type"), time_of(record)
            at_ms = last_ms = last_ms if said_ms is None else said_ms
            if kind in KINDS and at_ms is not None:
                name = text(record, "uuid").encode(errors="replace") or line.data.strip()
                key = hashlib.blake2b(name, digest_size=12).hexdigest()
                agent = text(record, "agentId") if record.get("isSidechain") else ""
                found.setdefault(key, Row(at_ms, kind, agent, key, record))
    return sorted(found.values(), key=lambda row: row.at_ms)


def place_of(rows: Iterable[Row]) -> tuple[str, str]:
    """Return the first folder and branch that a record names; a first record has neither."""
    first = next((row.record for row in rows if text(row.record, "cwd")), {})
    return text(first, "cwd"), text(first, "gitBranch")


def blocks(record: Record) -> list[Mapping[str, Json]]:
    """Return the content blocks of a message; a plain text is one block."""
    message = inner(record, "message")
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(rows(message, "content"))


def prompt_of(record: Record) -> str | None:
    """Return what the person typed, or None if the record is not a prompt."""
    # A turn that came through a channel is marked as the client's own, but for where it is from.
    is_own = bool(record.get("isMeta")) and not text(inner(record, "origin"), "kind")
    if is_own or record.get("isCompactSummary") or record.get("isSidechain"):
        return None
    parts = blocks(record)
    if any(part.get("type") == "tool_result" for part in parts):
        return None
    said = "\n".join(
        text(part, "text")
        for part in parts
        if part.get("type") == "text" and not text(part, "text").startswith("<ide_")
    )
    if found := _NAME.search(said[:400]):
        name = found[1].strip()
        name = name if name.startswith("/") else f"/{name}"
        if name in _CLIENTS_COMMANDS:
            return None
        given = _ARGUMENTS.search(said)
        return f"{name} {given[1].strip() if given else ''}".strip()
    return typed_prompt(said)


def typed_prompt(said: str) -> str | None:
    """Return a text, or None if the client wrote it, or answers it itself."""
    words = said.split(maxsplit=1)
    return None if not words or words[0] in _CLIENTS_COMMANDS or _OWN.match(said) else said


def is_hook(record: Record, event: str) -> bool:
    """Return True if a record reports that a hook of this event ran."""
    data = inner(record, "data")
    return data.get("type") == "hook_progress" and data.get("hookEvent") == event


_SAME_START_MS = 5_000
_SHELLS = frozenset({"Bash", "PowerShell"})
_AGENTS = frozenset({"Agent", "Task"})
_DEFAULT_AGENT = "general-purpose"
_UNNAMED = "-"
"""Stands for the sub-agents of versions that gave them no id and reported them as the agent."""
_COUNTS = (
    *("input_tokens", "output_tokens"),
    *("cache_read_input_tokens", "cache_creation_input_tokens"),
)
_SYNTHETIC = "<synthetic>"
"""The model of what the client says itself: errors of the service, and that it was not asked."""
_INTERRUPTED = "[Request interrupted"


class _Call(NamedTuple):
    name: str
    given: Json
    id: str
    at_ms: int


class _Said(NamedTuple):
    words: str
    row: Row


class HookCalls:
    """The hook calls of one session; those of a turn's end may come after later ones."""

    def __init__(self, rows: Sequence[Row], session: str, agents: Mapping[str, str]) -> None:
        self.session = session
        self._rows = rows
        self._types = dict(agents)
        self._last = {row.agent: row.key for row in rows if row.agent}
        self._begun: set[str] = set()
        self._cwd = self._branch = self._turn = ""
        self._calls: dict[str, _Call] = {}
        self._early: dict[str, tuple[Row, Row, Object, Object]] = {}
        self._said: dict[str, _Said] = {}
        self._usage: dict[str, Object] = {}
        self._started_ms = 0

    def __iter__(self) -> Iterator[HookCall]:
        """Yield the hook calls."""
        readers: Mapping[str, Callable[[Row], Iterator[HookCall]]] = {
            "progress": self._progress,
            "system": self._system,
            "assistant": self._assistant,
            "user": self._user,
        }
        handed_over = self._handed_over()
        last = None
        for row in self._rows:
            if last is None:
                yield from self._started(row)
            last = row
            self._cwd = text(row.record, "cwd") or self._cwd
            self._branch = text(row.record, "gitBranch") or self._branch
            if row.key in handed_over:
                typed: Object = {"prompt": handed_over[row.key], "queued": True}
                yield self._call(row, "UserPromptSubmit", typed)
            elif row.kind in readers:
                yield from readers[row.kind](row)
            if self._last.get(row.agent) == row.key:
                yield from self._stopped(row, row.agent)
        if last is not None:
            yield from self._stopped(last, "")
            yield self._call(last, "SessionEnd", {"reason": "other"}, at_ms=last.at_ms + 1000)

    def _call(
        self, row: Row, event: str, fields: Object, *, at_ms: int | None = None, key: str = ""
    ) -> HookCall:
        turn = {"prompt_id": self._turn} if self._turn else {}
        payload: dict[str, Json] = {
            "session_id": self.session,
            "transcript_path": "",
            "cwd": text(row.record, "cwd") or self._cwd,
            "permission_mode": text(row.record, "permissionMode") or "default",
            "hook_event_name": event,
            **turn,
            **fields,
        }
        branch = text(row.record, "gitBranch") or self._branch
        at_ms = row.at_ms if at_ms is None else at_ms
        return HookCall(at_ms, event, payload, branch, f"{event}/{key or row.key}")

    def _started(self, first: Row) -> Iterator[HookCall]:
        self._started_ms = first.at_ms
        self._cwd, self._branch = place_of(self._rows)
        soon = takewhile(lambda row: row.at_ms - first.at_ms < _SAME_START_MS, self._rows)
        reports = (row.record for row in soon if row.kind == "progress")
        hook = next((record for record in reports if is_hook(record, "SessionStart")), None)
        source = (_source(hook) if hook else "") or "startup"
        yield self._call(first, "SessionStart", {"source": source, "model": self._model()})

    def _model(self) -> str:
        answers = (row.record for row in self._rows if row.kind == "assistant")
        models = (text(inner(record, "message"), "model") for record in answers)
        return next((model for model in models if model != _SYNTHETIC), "")

    def _handed_over(self) -> dict[str, str]:
        """Return prompts, by their keys, that were given to the agent while it worked."""
        queue = [row for row in self._rows if row.kind == "queue-operation"]
        typed = {prompt_of(row.record) for row in self._rows if queue and row.kind == "user"}
        found: dict[str, str] = {}
        for row, then in pairwise(queue):
            prompt = typed_prompt(text(row.record, "content"))
            before, after = (text(one.record, "operation") for one in (row, then))
            is_taken = before == "enqueue" and after in {"remove", "dequeue"}
            if prompt and is_taken and prompt not in typed:
                found[row.key] = prompt
        return found

    def _progress(self, row: Row) -> Iterator[HookCall]:
        if is_hook(row.record, "SessionStart"):
            if row.at_ms - self._started_ms > _SAME_START_MS:
                self._started_ms = row.at_ms
                source = _source(row.record) or "resume"
                fields: Object = {"source": source, "model": self._model()}
                yield self._call(row, "SessionStart", fields)
        elif inner(row.record, "data").get("type") == "agent_progress":
            yield from self._of_agent(row)

    def _system(self, row: Row) -> Iterator[HookCall]:
        if row.record.get("subtype") == "compact_boundary":
            trigger = text(inner(row.record, "compactMetadata"), "trigger") or "auto"
            yield self._call(row, "PreCompact", {"trigger": trigger, "custom_instructions": ""})

    def _assistant(self, row: Row) -> Iterator[HookCall]:
        agent, message = _agent_of(row), inner(row.record, "message")
        yield from self._agent_began(row, agent)
        # Each record of a message repeats its usage, and the last has all of it.
        self._usage[text(message, "id") or row.key] = inner(message, "usage")
        if agent in self._said:
            # Stop comes after all that an answer consists of, calls included.
            self._said[agent] = self._said[agent]._replace(row=row)
        is_own = text(message, "model") == _SYNTHETIC or row.record.get("isApiErrorMessage") is True
        for block in blocks(row.record):
            if block.get("type") == "tool_use":
                yield from self._note(block, row.at_ms)
            elif block.get("type") == "text" and text(block, "text").strip() and not is_own:
                self._said[agent] = _Said(text(block, "text"), row)

    def _note(self, block: Object, at_ms: int) -> Iterator[HookCall]:
        """Keep a call for its result; yield its end if the result was dated before it."""
        call = _Call(text(block, "name"), block.get("input") or {}, text(block, "id"), at_ms)
        self._calls[call.id] = call
        if (early := self._early.pop(call.id, None)) is not None:
            yield from self._result(*early)

    def _user(self, row: Row) -> Iterator[HookCall]:
        record, agent = row.record, _agent_of(row)
        yield from self._agent_began(row, agent)
        if record.get("isCompactSummary"):
            rows = {text(one.record, "uuid"): one.record for one in self._rows}
            boundary = rows.get(text(record, "parentUuid"), {})
            trigger = text(inner(boundary, "compactMetadata"), "trigger") or "auto"
            summary = words_of(inner(record, "message").get("content"))
            fields: Object = {"trigger": trigger, "compact_summary": summary}
            yield self._call(row, "PostCompact", fields)
            return
        prompt = prompt_of(record)
        if prompt is not None:
            yield from self._stopped(row, "")
            self._turn = text(record, "promptId")
            yield self._call(row, "UserPromptSubmit", {"prompt": prompt, "source": "user"})
            return
        for block in blocks(record):
            if block.get("type") == "text" and text(block, "text").startswith(_INTERRUPTED):
                self._said.pop(agent, None)
            if block.get("type") == "tool_result":
                yield from self._result(row, row, block, self._fields(agent))

    def _agent_began(self, row: Row, agent: str) -> Iterator[HookCall]:
        if row.agent and agent not in self._begun:
            self._begun.add(agent)
            yield self._call(row, "SubagentStart", self._fields(agent))

    def _fields(self, agent: str) -> dict[str, Json]:
        if agent in {"", _UNNAMED}:
            return {}
        return {"agent_id": agent, "agent_type": self._types.get(agent, _DEFAULT_AGENT)}

    def _stopped(self, row: Row, agent: str) -> Iterator[HookCall]:
        """Yield the end of what an agent says; `row` comes after it, or is its last."""
        said = self._said.pop(agent, None)
        if said is None or agent == _UNNAMED:
            return
        common: dict[str, Json] = {
            "stop_hook_active": False,
            "last_assistant_message": said.words,
            "background_tasks": [],
            "session_crons": [],
        }
        event = "SubagentStop" if agent else "Stop"
        fields = {**self._fields(agent), **common}
        if not agent:
            counts = self._usage.values()
            fields["usage"] = {
                name: sum(number(one, name) or 0 for one in counts) for name in _COUNTS
            }
            self._usage = {}
        yield self._call(row, event, fields, at_ms=said.row.at_ms + 1, key=said.row.key)

    def _result(self, row: Row, answer: Row, block: Object, agent: Object) -> Iterator[HookCall]:
        """Yield the end of a call; `row` is the record that `answer`, the call's, came in."""
        call = self._calls.get(text(block, "tool_use_id"))
        said = words_of(block.get("content"))
        if call is None:
            self._early[text(block, "tool_use_id")] = (row, answer, block, agent)
            return
        asked_ms = answer.at_ms - call.at_ms
        decision = inner(answer.record, "permissionDecision")
        was_asked = text(decision, "source").startswith("user")  # the person
        common: dict[str, Json] = {
            "tool_name": call.name,
            "tool_input": call.given,
            "tool_use_id": call.id,
            **({} if was_asked else {"duration_ms": max(asked_ms, 0)}),
            **agent,
        }
        if block.get("is_error"):
            said = said.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
            error: dict[str, Json] = {"error": said, "is_interrupt": False}
            yield self._call(answer, "PostToolUseFailure", {**common, **error}, key=call.id)
            return
        response = answer.record.get("toolUseResult")
        if response is None:
            response = block.get("content")
        if call.name in _SHELLS and not isinstance(response, dict):
            response = {"stdout": said, "stderr": "", "interrupted": False, "isImage": False}
        done = {**common, "tool_response": response}
        yield self._call(answer, "PostToolUse", done, key=call.id)
        if call.name in _AGENTS and isinstance(response, dict) and not agent:
            yield from self._handed_back(row, response, call)

    def _handed_back(self, row: Row, response: Record, call: _Call) -> Iterator[HookCall]:
        agent = text(response, "agentId")
        if not agent or agent in self._last:
            return
        fields: Object = {
            "stop_hook_active": False,
            "agent_id": agent,
            "agent_type": _type_of(call),
            "agent_transcript_path": "",
            "last_assistant_message": words_of(response.get("content")),
        }
        yield self._call(row, "SubagentStop", fields, key=f"{call.id}/{agent}")

    def _of_agent(self, row: Row) -> Iterator[HookCall]:
        """Yield the finished calls of a sub-agent that come as progress of the agent's call."""
        data = inner(row.record, "data")
        message = inner(data, "message")
        parent = self._calls.get(text(row.record, "parentToolUseID"))
        agent: dict[str, Json] = {
            "agent_id": text(data, "agentId"),
            "agent_type": _type_of(parent) if parent else _DEFAULT_AGENT,
        }
        within: Record = {
            "message": message.get("message"),
            "cwd": row.record.get("cwd"),
            "gitBranch": row.record.get("gitBranch"),
            "toolUseResult": message.get("toolUseResult"),
        }
        at_ms = time_of(message)
        answer = row._replace(at_ms=row.at_ms if at_ms is None else at_ms, record=within)
        for block in blocks(within):
            if block.get("type") == "tool_use":
                yield from self._note(block, answer.at_ms)
            elif block.get("type") == "tool_result":
                yield from self._result(row, answer, block, agent)
                self._calls.pop(text(block, "tool_use_id"), None)


def _agent_of(row: Row) -> str:
    return row.agent or (_UNNAMED if row.record.get("isSidechain") else "")


def _type_of(call: _Call) -> str:
    given = call.given if isinstance(call.given, dict) else {}
    return text(given, "subagent_type") or _DEFAULT_AGENT


def _source(record: Record) -> str:
    """Return why a session started, as the name of its hook says: ``SessionStart:clear``."""
    return text(inner(record, "data"), "hookName").partition(":")[2]


_AGENT = "agent-"


def find(paths: Sequence[Path], problems: Problems) -> list[FoundSession]:
    """Return the sessions in files and below folders; what one was forked from is before it."""
    alike: dict[str, set[str]] = defaultdict(set)

    def opening(_: Path, found: Iterable[Object]) -> Opening | None:
        session = folder = first = ""
        begun_ms = 0
        for record in found:
            session = session or text(record, "sessionId")
            folder = folder or text(record, "cwd")
            if text(record, "type") in KINDS:
                begun_ms = begun_ms or time_of(record) or 0
                first = first or text(record, "uuid")
            if session and folder and begun_ms and first:
                break
        alike[first].add(session)
        return Opening(session, folder, begun_ms) if session and begun_ms else None

    found = {one.id: one for one in find_sessions(opening, paths, problems)}
    before: dict[str, list[Path]] = defaultdict(list)
    for first, names in alike.items():
        # Whoever forks goes on in the fork: the file that was written first is the original.
        in_order = sorted((found[name].last_ms, name) for name in names & found.keys() if first)
        for place, (_, name) in enumerate(in_order):
            before[name] += [path for _, other in in_order[:place] for path in found[other].paths]
    return [one._replace(before=tuple(before[one.id])) for one in found.values()]


def read(found: FoundSession, settings: Settings, problems: Problems) -> Iterator[Event]:
    """Yield the events of a session; those of a turn's end may come after later ones."""
    known = frozenset(
        text(record, "uuid") for path in found.before for record in lines_of(path, Problems())
    )
    happened = rows_of(found.paths, found.id, problems=problems, known=known)
    project, _ = place_of(happened)
    types: dict[str, str] = {}
    for path in found.paths:
        if path.name.startswith(_AGENT):
            agent = path.name.partition(".")[0].removeprefix(_AGENT)
            with suppress(OSError, ValueError, RecursionError):
                said = json_text.load(path.with_name(f"{_AGENT}{agent}.meta.json").read_bytes())
                if isinstance(said, dict) and (sort := text(said, "agentType")):
                    types[agent] = sort
    calls = HookCalls(happened, found.id, types)
    reported = (call for call in calls if call.event in HOOKS.reporting)
    at = found._replace(folder=project)
    yield from read_session("claude-code", lambda *_: reported, at, settings, problems)


SOURCES = (
    SessionSource("claude-code", ".claude", "CLAUDE_CONFIG_DIR", "projects", find=find, read=read),
)
