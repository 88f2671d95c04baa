"""Codex CLI: rollouts below `~/.codex/sessions`, one file a session, as its hook calls.

The format is the client's own and undocumented; seen in versions 0.140.0 to 0.169.0. Older rollouts
say neither prompts nor the ends of turns by events: they are read from the messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, number, text
from observer.clients.shelf.codex import HOOKS
from observer.clients.tools import PATCHES
from observer.importers import codex_calls
from observer.importers.records import HookCall, read_session, words_of
from observer.importers.source import (
    FoundSession,
    Problems,
    SessionSource,
    files_in,
    last_ms,
    lines,
    parse,
    time_of,
)

_OWN = re.compile(
    r"\s*(?:# AGENTS\.md|<(?:environment_context|user_instructions|permissions|collaboration_mode"
    r"|skills?|turn_aborted|user_shell_command|subagent_notification|INSTRUCTIONS)\b)"
)
_OWN_SPACES = frozenset({"functions", "collaboration", "multi_agent", "multi_agent_v1"})
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
_ANSWERS = frozenset({"function_call_output", "custom_tool_call_output"})
_PLACED = frozenset({"Bash", "apply_patch"})


class _Running(NamedTuple):
    """A command that has not ended: its call, folder, and what it printed so far."""

    call: str
    given: Object
    cwd: str
    printed: str


class RolloutCalls:
    """The hook calls of one rollout, in order."""

    def __init__(self, found: FoundSession, problems: Problems) -> None:
        self.session = found.id
        self._path = found.paths[0]
        self._problems = problems
        self._cwd = self._branch = self._turn = self._model = ""
        self._begun_ms: int | None = None
        self._has_copies = self._is_sub_agent = False
        self._calls: dict[str, tuple[str, Object]] = {}
        self._running: dict[str, _Running] = {}
        self._total: Object = {}
        self._counted: Object = {}
        self._ends: dict[str, bool] = {}
        self._known: set[str] = set()
        self._said: tuple[int, str] | None = None
        self._has = events_in(self._path)
        self._scripts = codex_calls.ScriptCalls(self._done, self._has)

    def __iter__(self) -> Iterator[HookCall]:
        """Yield the hook calls; the start comes first, which a rollout may say later."""
        calls = [one for one in self._in_order() if one.event in HOOKS.reporting]
        starts = [at for at, one in enumerate(calls) if one.event == "SessionStart"]
        if calls:
            yield calls.pop(starts[0]) if starts else self._start(calls[0].at_ms)
        yield from calls

    def _in_order(self) -> Iterator[HookCall]:
        readers: Mapping[str, Callable[[int, Object], Iterator[HookCall]]] = {
            META: self._meta,
            CONTEXT: self._context,
            EVENT: self._event,
            ITEM: self._item,
        }
        last_ms = 0
        for at_ms, kind, payload in steps(self._path, self._problems):
            reader = readers.get(kind)
            if reader is None or self._is_copied(payload):
                continue
            last_ms = max(last_ms, at_ms)
            yield from reader(at_ms, payload)
        yield from self._stopped()
        yield from self._scripts.left(last_ms)
        for running in self._running.values():
            yield self._ended(last_ms, running, codex_calls.Answer(""))._replace(is_open=True)
        if last_ms:
            yield self._call(last_ms + 1000, "SessionEnd", {"reason": "other"}, f"{last_ms}")

    def _is_copied(self, payload: Object) -> bool:
        """Return True if a record was copied from the session that this one was forked from.

        Copies begin with that one's first record, and end with a turn that was started since.
        """
        if self._begun_ms is not None and "cwd" in payload and "id" in payload:
            self._has_copies = text(payload, "id") != self.session
        started_s = number(payload, "started_at")
        if started_s is not None and started_s >= (self._begun_ms or 0) // 1000:
            self._has_copies = False
        if self._has_copies:
            used = inner(inner(payload, "info"), "total_token_usage")
            self._total = self._counted = used or self._total
        return self._has_copies

    def _call(self, at_ms: int, event: str, fields: Object, key: str) -> HookCall:
        payload: dict[str, Json] = {
            "session_id": self.session,
            "cwd": self._cwd,
            "hook_event_name": event,
            **({"turn_id": self._turn} if self._turn else {}),
            **fields,
        }
        return HookCall(at_ms, event, payload, self._branch, f"{event}/{key}")

    def _meta(self, at_ms: int, payload: Object) -> Iterator[HookCall]:
        self._cwd = text(payload, "cwd") or self._cwd
        self._branch = text(inner(payload, "git"), "branch") or self._branch
        if self._begun_ms is None:
            self._begun_ms = at_ms
            of = inner(payload, "source")
            self._is_sub_agent = "subagent" in of or text(payload, "thread_source") == "subagent"
        yield from ()

    def _context(self, at_ms: int, payload: Object) -> Iterator[HookCall]:
        self._cwd = text(payload, "cwd") or self._cwd
        self._turn = text(payload, "turn_id") or self._turn
        if not self._model:
            self._model = text(payload, "model")
            yield self._start(at_ms)

    def _start(self, at_ms: int) -> HookCall:
        source = "subagent" if self._is_sub_agent else "startup"
        start: Object = {"source": source, "model": self._model}
        begun_ms = at_ms if self._begun_ms is None else self._begun_ms
        return self._call(begun_ms, "SessionStart", start, "start")

    def _event(self, at_ms: int, payload: Object) -> Iterator[HookCall]:
        is_item = text(payload, "type") == "item_completed"
        said = inner(payload, "item") if is_item else payload
        kind = text(said, "type")
        if kind in {"user_message", "UserMessage"}:
            yield from self._asked(at_ms, text(said, "message") or words_of(said.get("content")))
        elif kind == "task_complete":
            yield from self._completed(at_ms, text(said, "last_agent_message"))
        elif kind == "CommandExecution":
            yield from self._executed(at_ms, said)
        elif kind == "McpToolCall":
            if text(said, "id") not in self._known:
                yield self._scripts.asked(at_ms, said)
        elif kind in {"context_compacted", "ContextCompaction"}:
            yield self._call(at_ms, "PostCompact", {}, f"{at_ms}")
        else:
            self._note(kind, said)
            call, success = text(said, "call_id", "id"), codex_calls.success_of(said)
            if inner(said, "changes") and success is not None and call not in self._known:
                yield self._scripts.changed(at_ms, said, success=success)

    def _note(self, kind: str, payload: Object) -> None:
        if kind == "task_started":
            self._turn = text(payload, "turn_id") or self._turn
        elif kind == "turn_aborted":
            self._said = None
        elif kind == "token_count":
            self._total = inner(inner(payload, "info"), "total_token_usage") or self._total
        elif (success := codex_calls.success_of(payload)) is not None:
            self._ends[text(payload, "call_id", "id")] = success

    def _asked(self, at_ms: int, said: str) -> Iterator[HookCall]:
        if not _OWN.match(said) and not self._is_sub_agent:
            yield from self._stopped()
            yield self._call(at_ms, "UserPromptSubmit", {"prompt": said}, f"{at_ms}")

    def _completed(self, at_ms: int, said: str) -> Iterator[HookCall]:
        if said or self._said:
            yield self._stop(at_ms, said or (self._said or (0, ""))[1])
        self._said = None

    def _stop(self, at_ms: int, said: str) -> HookCall:
        # What was used since the last turn; its input includes what was cached.
        given, cached, written = (
            (number(self._total, name) or 0) - (number(self._counted, name) or 0)
            for name in ("input_tokens", "cached_input_tokens", "output_tokens")
        )
        self._counted = self._total
        usage: Json = {"input": given - cached, "output": written, "cache_read": cached}
        fields: Object = {"last_assistant_message": said, "usage": usage}
        return self._call(at_ms, "Stop", fields, f"{at_ms}")

    def _stopped(self) -> Iterator[HookCall]:
        if self._said is not None and "end" not in self._has:
            yield self._stop(*self._said)
        self._said = None

    def _item(self, at_ms: int, payload: Object) -> Iterator[HookCall]:
        kind, call = text(payload, "type"), text(payload, "call_id", "id")
        if kind == "message":
            role, said = text(payload, "role"), words_of(payload.get("content"))
            if role == "user" and said.strip() and "prompt" not in self._has:
                yield from self._asked(at_ms, said)
            elif role == "assistant" and said.strip():
                self._said = at_ms, said
        elif kind in _CALLS:
            self._calls[call] = _asked(kind, payload)
            self._known.add(call)
        elif kind in _ANSWERS and call in self._calls:
            name, given = self._calls.pop(call)
            yield from self._answered(at_ms, call, name, given, payload.get("output"))
        elif kind == "web_search_call":
            name, given = codex_calls.looked_up(inner(payload, "action"))
            if name:
                yield self._done(at_ms, call or f"{at_ms}", name, given, None)

    def _answered(
        self, at_ms: int, call: str, name: str, given: Object, output: Json
    ) -> Iterator[HookCall]:
        answer, cwd = codex_calls.answer_of(output), _within(self._cwd, text(given, "workdir"))
        success = self._ends.pop(call, None)
        if self._scripts.is_of(name, given):
            yield from self._scripts.answered(at_ms, call, given, output)
        elif name in codex_calls.SHELLS and (patch := codex_calls.patch_of(given)):
            applied: Object = {"command": patch[0], "cwd": _within(cwd, patch[1])}
            yield self._done(
                at_ms, call, "apply_patch", applied, codex_calls.whole(answer, success=success)
            )
        elif name in codex_calls.SHELLS or name == codex_calls.STDIN:
            yield from self._printed(at_ms, call, name, given, answer)
        elif name in PATCHES:
            yield self._done(at_ms, call, name, given, codex_calls.whole(answer, success=success))
        elif success is False or answer.is_broken:
            failed: Json = {"isError": True, "content": answer.printed}
            yield self._done(at_ms, call, name, given, failed)
        else:
            yield self._done(at_ms, call, name, given, output)

    def _printed(
        self, at_ms: int, call: str, name: str, given: Object, said: codex_calls.Answer
    ) -> Iterator[HookCall]:
        cwd = _within(self._cwd, text(given, "workdir", "working_directory"))
        running = _Running(call, {"command": codex_calls.command_of(given)}, cwd, "")
        if name == codex_calls.STDIN:
            known = self._running.pop(text(given, "session_id"), None)
            if known is None:
                return
            running = known
        running = running._replace(printed=running.printed + said.printed)
        if said.going_on:
            self._running[said.going_on] = running
        else:
            yield self._ended(at_ms, running, said)

    def _executed(self, at_ms: int, item: Object) -> Iterator[HookCall]:
        call, code = text(item, "id"), number(item, "exit_code")
        for name, running in list(self._running.items()):
            if running.call == call:
                del self._running[name]
                ended = running._replace(printed=text(item, "aggregated_output") or running.printed)
                known = code if code is None or code >= 0 else None
                yield self._ended(at_ms, ended, codex_calls.Answer("", known))
        if call not in self._known and "command" in item:
            yield self._scripts.executed(at_ms, item)

    def _ended(self, at_ms: int, running: _Running, end: codex_calls.Answer) -> HookCall:
        answer: dict[str, Json] = {"output": running.printed}
        if end.code is not None:
            answer["exit_code"] = end.code
        elif end.is_aborted:
            answer["interrupted"] = True
        elif end.is_broken:
            answer["isError"] = True
        given: Object = {**running.given, "cwd": running.cwd}
        return self._done(at_ms, running.call, "Bash", given, answer)

    def _done(self, at_ms: int, call: str, name: str, given: Object, answer: Any) -> HookCall:  # noqa: ANN401 - any JSON
        asked = dict(given)
        fields: Object = {
            "cwd": asked.pop("cwd", self._cwd) if name in _PLACED else self._cwd,
            "tool_name": name,
            "tool_input": asked,
            "tool_use_id": call,
            "tool_response": answer,
        }
        return self._call(at_ms, "PostToolUse", fields, call)


def _asked(kind: str, payload: Object) -> tuple[str, Object]:
    if kind == "local_shell_call":
        return "local_shell", inner(payload, "action")
    name, space = text(payload, "name"), text(payload, "namespace")
    space = "" if space in _OWN_SPACES else space
    is_custom = kind == "custom_tool_call"
    given = {"command": text(payload, "input")} if is_custom else inner(payload, "arguments")
    return f"{space}__{name}" if space else name, given


def _within(folder: str, named: str) -> str:
    return str(Path(folder, named)) if named else folder


META, CONTEXT, EVENT, ITEM = "session_meta", "turn_context", "event_msg", "response_item"

_MARKS = {
    "prompt": (b'"user_message"', b'"UserMessage"'),
    "end": (b'"task_complete"',),
    "commands": (b'"CommandExecution"',),
    "changes": (b'"FileChange"', b'"patch_apply_end"'),
    "tools": (b'"McpToolCall"',),
}


def steps(path: Path, problems: Problems) -> Iterator[tuple[int, str, Object]]:
    """Yield the steps of a rollout: their times, their types, and what they say."""
    for line in lines(path, problems):
        record = parse(line, path, problems) or {}
        at_ms = time_of(record)
        if at_ms is not None:
            yield at_ms, text(record, "type"), inner(record, "payload")


def events_in(path: Path) -> frozenset[str]:
    """Return of which of `_MARKS` a rollout has events, beside messages and calls."""
    found: set[str] = set()
    for line in lines(path, Problems()):
        found |= {name for name, marks in _MARKS.items() if any(map(line.data.__contains__, marks))}
        if len(found) == len(_MARKS):
            break
    return frozenset(found)


def find(paths: Sequence[Path], problems: Problems) -> list[FoundSession]:
    """Return the sessions in files, and in all files below folders; of copies, the longest."""
    found: dict[str, FoundSession] = {}
    for path in files_in(paths):
        session = _session(path)
        if session is None:
            problems.add("file without a session", path)
        elif session.id not in found or found[session.id].size_bytes < session.size_bytes:
            found[session.id] = session
    return list(found.values())


def _session(path: Path) -> FoundSession | None:
    nothing: tuple[int, str, Object] = (0, "", {})
    first_ms, kind, payload = next(steps(path, Problems()), nothing)
    name = text(payload, "id", "session_id")
    if kind != META or not name:
        return None
    return FoundSession(
        id=name,
        paths=(path,),
        folder=text(payload, "cwd"),
        first_ms=first_ms,
        last_ms=max(last_ms(path), first_ms),
        size_bytes=path.stat().st_size,
        remote=text(inner(payload, "git"), "repository_url"),
    )


_read = partial(read_session, "codex", RolloutCalls)
SOURCES = (SessionSource("codex", ".codex", "CODEX_HOME", "sessions", find=find, read=_read),)
