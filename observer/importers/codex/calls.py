"""A rollout's lines as the hook calls that Codex made, or would have made.

Beyond what its hooks report, a rollout has the exit code of a command. A command that went on
while the agent did something else is one call, with all that it printed; one that never ended has
no exit code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, number, rows, text
from observer.importers.calls import HookCall
from observer.importers.codex.shell_calls import SHELLS, STDIN, answer_of, command_of, patch_of
from observer.importers.jsonl import Problems, lines, parse, time_of


class _Running(NamedTuple):
    """A command that has not ended: its call, and what it printed so far."""

    call: str
    given: Object
    printed: str


class RolloutCalls:
    """The hook calls of one rollout, in order.

    Args:
        path: the file.
        session: its id.
        problems: counts what cannot be read.
    """

    def __init__(self, path: Path, session: str, problems: Problems) -> None:
        self.session = session
        self._path = path
        self._problems = problems
        self._cwd = self._branch = self._turn = self._model = ""
        self._begun_ms: int | None = None
        self._has_copies = False
        self._calls: dict[str, tuple[str, Object]] = {}
        self._running: dict[str, _Running] = {}
        self._total: Object = {}
        self._counted: Object = {}

    def __iter__(self) -> Iterator[HookCall]:
        """Yield the hook calls."""
        readers: Mapping[str, Callable[[int, Object], Iterator[HookCall]]] = {
            "session_meta": self._meta,
            "turn_context": self._context,
            "event_msg": self._event,
            "response_item": self._item,
        }
        last_ms = 0
        for line in lines(self._path, self._problems):
            record = parse(line, self._path, self._problems) or {}
            at_ms, reader = time_of(record), readers.get(text(record, "type"))
            payload = inner(record, "payload")
            if at_ms is None or reader is None or self._is_copied(payload):
                continue
            last_ms = max(last_ms, at_ms)
            yield from reader(at_ms, payload)
        for running in self._running.values():
            yield self._ended(last_ms, running, None)._replace(is_open=True)
        if last_ms:
            yield self._call(last_ms + 1000, "SessionEnd", {"reason": "other"}, f"{last_ms}")

    def _is_copied(self, payload: Object) -> bool:
        """Return True if a record was copied from the session that this one was forked from.

        Copies have the time of the fork. They begin with the other session's own first record, and
        end with a turn that was started since.
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
        self._begun_ms = at_ms if self._begun_ms is None else self._begun_ms
        yield from ()

    def _context(self, at_ms: int, payload: Object) -> Iterator[HookCall]:
        self._cwd = text(payload, "cwd") or self._cwd
        self._turn = text(payload, "turn_id") or self._turn
        if not self._model:
            self._model = text(payload, "model")
            start: Object = {"source": "startup", "model": self._model}
            begun_ms = at_ms if self._begun_ms is None else self._begun_ms
            yield self._call(begun_ms, "SessionStart", start, "start")

    def _event(self, at_ms: int, payload: Object) -> Iterator[HookCall]:
        kind, item = text(payload, "type"), inner(payload, "item")
        done = text(item, "type") if kind == "item_completed" else ""
        if kind == "task_started":
            self._turn = text(payload, "turn_id") or self._turn
        elif kind == "user_message" or done == "UserMessage":
            said = text(payload, "message") or _words(item)
            yield self._call(at_ms, "UserPromptSubmit", {"prompt": said}, f"{at_ms}")
        elif kind == "task_complete":
            if said := text(payload, "last_agent_message"):
                fields: Object = {"last_assistant_message": said, "usage": self._usage()}
                yield self._call(at_ms, "Stop", fields, f"{at_ms}")
        elif kind == "token_count":
            self._total = inner(inner(payload, "info"), "total_token_usage") or self._total
        elif done == "CommandExecution":
            yield from self._executed(at_ms, item)
        elif kind == "context_compacted" or done == "ContextCompaction":
            yield self._call(at_ms, "PostCompact", {}, f"{at_ms}")

    def _usage(self) -> Json:
        """Return what was used since the last turn; its input includes what was cached."""
        spent = {
            name: (number(self._total, name) or 0) - (number(self._counted, name) or 0)
            for name in ("input_tokens", "cached_input_tokens", "output_tokens")
        }
        self._counted = self._total
        return {
            "input": spent["input_tokens"] - spent["cached_input_tokens"],
            "output": spent["output_tokens"],
            "cache_read": spent["cached_input_tokens"],
        }

    def _item(self, at_ms: int, payload: Object) -> Iterator[HookCall]:
        kind, call = text(payload, "type"), text(payload, "call_id")
        if kind in {"function_call", "custom_tool_call", "local_shell_call"}:
            self._calls[call] = _asked(kind, payload)
        elif kind in {"function_call_output", "custom_tool_call_output"} and call in self._calls:
            name, given = self._calls.pop(call)
            answer = payload.get("output")
            if name in SHELLS and (patch := patch_of(given)):
                said = answer_of(answer)
                whole = f"Exit code: {said.code}\n{said.printed}"
                yield self._done(at_ms, call, "apply_patch", {"command": patch}, whole)
            elif name in SHELLS or name == STDIN:
                yield from self._printed(at_ms, call, name, given, answer)
            else:
                yield self._done(at_ms, call, name, given, answer)
        elif kind == "web_search_call" and (query := text(inner(payload, "action"), "query")):
            key = call or text(payload, "id") or f"{at_ms}"
            yield self._done(at_ms, key, "web_search", {"query": query}, None)

    def _printed(
        self, at_ms: int, call: str, name: str, given: Object, answer: Json
    ) -> Iterator[HookCall]:
        said = answer_of(answer)
        running = _Running(call, {"command": command_of(given)}, "")
        if name == STDIN:
            known = self._running.pop(text(given, "session_id"), None)
            if known is None:
                return
            running = known
        running = running._replace(printed=running.printed + said.printed)
        if said.going_on:
            self._running[said.going_on] = running
        else:
            yield self._ended(at_ms, running, said.code)

    def _executed(self, at_ms: int, item: Object) -> Iterator[HookCall]:
        """Yield the end of a command that the agent did not wait for."""
        call, code = text(item, "id"), number(item, "exit_code")
        for name, running in list(self._running.items()):
            if running.call == call:
                del self._running[name]
                ended = running._replace(printed=text(item, "aggregated_output") or running.printed)
                yield self._ended(at_ms, ended, code if code is None or code >= 0 else None)

    def _ended(self, at_ms: int, running: _Running, code: int | None) -> HookCall:
        answer: dict[str, Json] = {"output": running.printed}
        if code is not None:
            answer["exit_code"] = code
        return self._done(at_ms, running.call, "Bash", running.given, answer)

    def _done(self, at_ms: int, call: str, name: str, given: Object, answer: Any) -> HookCall:  # noqa: ANN401 - any JSON
        fields: Object = {
            "tool_name": name,
            "tool_input": dict(given),
            "tool_use_id": call,
            "tool_response": answer,
        }
        return self._call(at_ms, "PostToolUse", fields, call)


def _asked(kind: str, payload: Object) -> tuple[str, Object]:
    """Return the tool of a call and its arguments."""
    if kind == "local_shell_call":
        return "local_shell", inner(payload, "action")
    name, space = text(payload, "name"), text(payload, "namespace")
    is_custom = kind == "custom_tool_call"
    given = {"command": text(payload, "input")} if is_custom else inner(payload, "arguments")
    return f"{space}__{name}" if space else name, given


def _words(item: Object) -> str:
    return "\n".join(text(part, "text") for part in rows(item, "content"))
