"""A made-up session of Claude Code twice: as its transcript, and as the calls of its hooks."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from observer.local.spool import Spool

BEGUN_MS = 1_780_000_000_000
STEP_MS = 10_000
RED = "FAILED test_cart.py::test_total - assert 1 == 2\n1 failed in 0.31s"


class Played:
    """One session; each method adds what the client writes, and what its hooks report."""

    def __init__(self, cwd: Path, session: str = "s1", *, begun_ms: int = BEGUN_MS) -> None:
        self.cwd, self.session, self.at_ms = str(cwd), session, begun_ms
        self.records: list[dict[str, Any]] = []
        self.hooks: list[tuple[int, str, dict[str, Any]]] = []
        self._turn = ""
        self.count = 0

    def record(self, kind: str, *, lag_ms: int = 0, **fields: Any) -> str:
        self.count += 1
        uuid = f"{self.session}-u{self.count}"
        at = datetime.fromtimestamp((self.at_ms + lag_ms) / 1000, UTC)
        common = {
            "type": kind,
            "uuid": uuid,
            "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "sessionId": self.session,
            "cwd": self.cwd,
            "gitBranch": "",
        }
        self.records.append({**common, **fields})
        return uuid

    def hook(self, event: str, *, lag_ms: int = 200, **fields: Any) -> None:
        payload = {"session_id": self.session, "cwd": self.cwd, "hook_event_name": event}
        turn = {"prompt_id": self._turn} if self._turn else {}
        self.hooks.append((self.at_ms + lag_ms, event, {**payload, **turn, **fields}))

    def start(self) -> None:
        self.hook("SessionStart", lag_ms=-90_000, source="startup", model="m1")

    def prompt(self, text: str, **fields: Any) -> None:
        self.at_ms += STEP_MS
        self._turn = f"p{self.count}"
        said = {"role": "user", "content": text}
        self.record("user", message=said, promptId=self._turn, **fields)
        self.hook("UserPromptSubmit", prompt=text)

    def say(self, text: str) -> None:
        self.at_ms += STEP_MS
        self.answer({"type": "text", "text": text})
        self.hook("Stop", last_assistant_message=text)

    def answer(self, *blocks: dict[str, Any], **fields: Any) -> None:
        usage = {"input_tokens": 10, "output_tokens": 1}
        message = {"model": "m1", "content": list(blocks), "usage": usage}
        self.record("assistant", message=message, **fields)

    def call(self, tool: str, given: dict[str, Any], response: Any = None, error: str = "") -> str:
        """A tool call that took a second; an error fails it."""
        use = f"t{self.count}"
        self.at_ms += STEP_MS
        self.answer({"type": "tool_use", "id": use, "name": tool, "input": given})
        self.at_ms += 1000
        text = error or json.dumps(response)
        result = {"type": "tool_result", "tool_use_id": use, "content": text}
        failed = {"is_error": True} if error else {}
        answer = {"toolUseResult": f"Error: {error}" if error else response}
        message = {"role": "user", "content": [{**result, **failed}]}
        self.record("user", message=message, promptId=self._turn, **answer)
        common = {"tool_name": tool, "tool_input": given, "tool_use_id": use, "duration_ms": 1000}
        if error:
            self.hook("PostToolUseFailure", error=error, is_interrupt=False, **common)
        else:
            self.hook("PostToolUse", tool_response=response, **common)
        return use

    def shell(self, command: str, output: str, exit_code: int = 0) -> None:
        done = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        error = f"Exit code {exit_code}\n{output}" if exit_code else ""
        self.call("Bash", {"command": command}, done, error)

    def edit(self, path: str, old: str, new: str) -> None:
        given = {"file_path": f"{self.cwd}/{path}", "old_string": old, "new_string": new}
        shown = {"filePath": given["file_path"], "originalFile": f"{old}\n"}
        self.call("Edit", given, {**shown, "oldString": old, "newString": new})

    def compact(self, summary: str) -> None:
        self.at_ms += STEP_MS
        kept = {"trigger": "manual", "preTokens": 9}
        boundary = self.record("system", subtype="compact_boundary", compactMetadata=kept)
        text = (
            "This session is being continued from a previous conversation.\n\nAnalysis:\nLong.\n"
            f"\nSummary:\n{summary}\n\nIf you need specific details from before compaction, read."
        )
        message = {"role": "user", "content": text}
        self.record("user", parentUuid=boundary, isCompactSummary=True, message=message)
        tagged = f"<analysis>Long.</analysis>\n<summary>\n{summary}\n</summary>"
        self.hook("PostCompact", trigger="manual", compact_summary=tagged)

    def end(self) -> None:
        self.hook("SessionEnd", lag_ms=1000, reason="other")

    def lines(self) -> list[bytes]:
        return [json.dumps(record).encode() + b"\n" for record in self.records]

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.session}.jsonl"
        path.write_bytes(b"".join(self.lines()))
        return path

    def spool(self, spool: Spool, first: int = 0, last: int | None = None) -> None:
        """Put what the hooks report into the spool, at the times of the session."""
        for at_ms, event, payload in self.hooks[first:last]:
            fields = {"client": "claude-code", "event": event, "at": str(at_ms), "cwd": self.cwd}
            spool.append(fields, json.dumps(payload).encode())


def fixed_later(cwd: Path, *, begun_ms: int = BEGUN_MS) -> list[Played]:
    """Three sessions, two hours apart: a test fails, is repaired, and passes; a plan is begun."""
    begun = [begun_ms + number * 7_200_000 for number in range(3)]
    first, second, third = (Played(cwd, f"s{at}", begun_ms=at) for at in begun)
    for played in (first, second, third):
        played.start()
    first.prompt("why does the cart total differ by a cent?")
    first.shell("pytest -q test_cart.py", RED, exit_code=1)
    first.shell("rtk pytest -q", "rtk: command not found", exit_code=127)
    first.shell("pytest -q test_other.py", "1 passed in 0.30s")
    first.say("It fails. Next: round the cart once.")
    second.prompt("round the cart once")
    second.edit("cart.py", "total = 1", "total = 2")
    second.shell("rtk pytest -q", "rtk: command not found", exit_code=127)
    second.shell("pytest -q test_other.py", "1 passed in 0.30s")
    second.say("The cart rounds once.")
    third.prompt("does it pass?")
    third.shell("pytest -q test_cart.py", "1 passed in 0.30s")
    third.say("It passes.")
    for played in (first, second, third):
        played.end()
    return [first, second, third]


def fixed_bug(cwd: Path, session: str = "s1", *, begun_ms: int = BEGUN_MS) -> Played:
    """A failing test, an edit, a passing test, a compaction, an answer."""
    played = Played(cwd, session, begun_ms=begun_ms)
    played.start()
    played.prompt("why does the cart total differ by a cent?")
    played.shell("pytest -q", RED, exit_code=1)
    played.edit("cart.py", "total = 1", "total = 2")
    played.shell("pytest -q", "1 passed in 0.30s")
    played.say("Rounding lines one by one lost a cent; the cart now rounds once.")
    played.compact("The cart rounds once. Next: the invoices.")
    played.prompt("and the invoices?")
    played.say("They round once already.")
    played.end()
    return played
