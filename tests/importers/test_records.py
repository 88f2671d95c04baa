"""What the recorded sessions do not hold: sub-agents, forks, compactions, refusals, old formats."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from observer.core.config import Settings
from observer.core.events import (
    Command,
    Compaction,
    Custom,
    Delegation,
    FileRead,
    FileWrite,
    Prompt,
    Reply,
    Search,
    SessionEnd,
    SessionStart,
    ToolUse,
)
from observer.importers.source import OBJECT_BYTES, Problems, events_of, sources
from tests.importers.conftest import events_in

Record = dict[str, Any]


def at(second: int) -> str:
    return f"2026-05-28T20:{second // 60:02}:{second % 60:02}.000Z"


def written(path: Path, records: Sequence[Record]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def bodies(client: str, path: Path) -> list[Any]:
    """Return what was imported but for the session's start and end."""
    found = [event.body for event in events_in(client, path)]
    return [body for body in found if not isinstance(body, SessionStart | SessionEnd)]


def said(part: str) -> list[Record]:
    return [{"type": "text", "text": part}]


# --- Gemini CLI -----------------------------------------------------------------------------------


def gemini(second: int, kind: str, content: Any, **fields: Any) -> Record:
    return {"id": f"m{second}", "timestamp": at(second), "type": kind, "content": content, **fields}


def gemini_call(second: int, command: str, status: str = "success", **response: str) -> Record:
    answer = {"functionResponse": {"response": response or {"output": "Output: ok\nExit Code: 0"}}}
    call = {"id": f"c{second}", "name": "run_shell_command", "args": {"command": command}}
    return {**call, "status": status, "timestamp": at(second), "result": [answer]}


GEMINI = {"sessionId": "g1", "projectHash": "0" * 64, "startTime": at(0)}


def test_an_old_session_of_gemini_is_one_object(tmp_path: Path) -> None:
    """Its folder stands in its first message."""
    context = "<session_context>\nWorkspace Directories:**\n  - /home/ana/till\n"
    messages = [
        gemini(0, "user", context),
        gemini(1, "user", "why?"),
        gemini(2, "gemini", "so", toolCalls=[gemini_call(1, "make")]),
    ]
    path = tmp_path / "tmp/0/chats/session-1.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({**GEMINI, "messages": messages}, indent=2))
    (tmp_path / "tmp/0/logs.json").write_text("[]")
    events = events_in("gemini", tmp_path)
    assert {event.cwd for event in events} == {"/home/ana/till"}
    assert [type(event.body) for event in events[1:-1]] == [Prompt, Command, Reply]


def test_a_message_of_gemini_that_is_written_again_is_one(tmp_path: Path) -> None:
    first = gemini(2, "gemini", "", tokens={"input": 9, "cached": 4, "output": 1})
    whole = {**first, "toolCalls": [gemini_call(2, "make")]}
    asked = gemini(1, "user", [{"text": "why?"}])
    again: Record = {"$set": {"messages": [asked, whole]}}
    spent = {"input": 10, "output": 2, "thoughts": 3}
    last = gemini(4, "gemini", [{"text": "hm", "thought": True}, {"text": "so"}], tokens=spent)
    path = tmp_path / "chats/s.jsonl"
    prompt, command, reply = bodies(
        "gemini", written(path, [GEMINI, asked, first, whole, again, last])
    )
    assert (prompt.text, command.command, reply.text) == ("why?", "make", "so")
    assert (reply.usage.input, reply.usage.cache_read, reply.usage.output) == (15, 4, 6)


STREAMS = "Command: make\nDirectory: (root)\nStdout: {}\nStderr: {}\nError: {}\n"
ENDED = "Exit Code: {}\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 7"


@pytest.mark.parametrize(
    ("answer", "output", "code", "failed"),
    [
        (STREAMS.format("ok", "(empty)", "(none)") + ENDED.format(0), "ok", 0, False),
        (STREAMS.format("(empty)", "no rule", "(none)") + ENDED.format(2), "no rule", 2, True),
        (STREAMS.format("one", "two", "(none)") + ENDED.format(1), "one\ntwo", 1, True),
        ("Output: on\nError: (none)\n" + ENDED.format("(none)"), "on", None, None),
        ("Output: (empty)\nError: spawn x ENOENT\n" + ENDED.format("(none)"), None, None, True),
        ("Output: Error: boom\nError: (none)\n" + ENDED.format(0), "Error: boom", 0, False),
        ("Command was automatically cancelled because it was silent", None, None, None),
    ],
)
def test_a_command_of_gemini_went_as_its_answer_says(
    tmp_path: Path, answer: str, output: str | None, code: int | None, *, failed: bool | None
) -> None:
    """Also in versions that kept the streams of a command apart."""
    records = [GEMINI, gemini(1, "gemini", "", toolCalls=[gemini_call(1, "make", output=answer)])]
    (found,) = bodies("gemini", written(tmp_path / "chats/s.jsonl", records))
    assert isinstance(found, Command)
    assert (found.exit_code, found.failed) == (code, failed)
    assert output is None or found.output == output
    assert found.interrupted is answer.startswith("Command was")


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"result": [], "resultDisplay": "no such file"}, "no such file"),
        ({"result": None}, "failed"),
        ({"result": [{"functionResponse": {"response": {"output": "0 matches"}}}]}, "0 matches"),
        ({"result": {"functionResponse": {"response": {"error": "gone"}}}}, "gone"),
    ],
)
def test_a_call_of_gemini_may_have_failed(tmp_path: Path, fields: Record, error: str) -> None:
    call = {"id": "c", "name": "replace", "args": {"file_path": "a.py"}, "status": "error"}
    records = [GEMINI, gemini(1, "gemini", "", toolCalls=[{**call, **fields}])]
    (found,) = bodies("gemini", written(tmp_path / "chats/s.jsonl", records))
    assert (found.path, found.error) == ("a.py", error)


def test_what_gemini_answers_itself_and_refused_calls_are_left_out(tmp_path: Path) -> None:
    calls = [gemini_call(3, "rm x", "cancelled"), gemini_call(4, "make", "error", error="no make")]
    records = [
        GEMINI,
        gemini(1, "user", "/compress"),
        gemini(2, "user", "/home/ana is full"),
        gemini(3, "gemini", "", toolCalls=calls),
    ]
    prompt, command = bodies("gemini", written(tmp_path / "chats/s.jsonl", records))
    assert prompt.text == "/home/ana is full"
    assert (command.command, command.failed) == ("make", True)


def test_a_sub_agent_of_gemini_works_in_its_parents_session(tmp_path: Path) -> None:
    written(tmp_path / "chats/s.jsonl", [GEMINI, gemini(1, "user", "why?")])
    head = {**GEMINI, "sessionId": "a1", "kind": "subagent", "directories": ["/home/ana/till"]}
    calls = [gemini_call(3, "make")]
    records = [head, gemini(2, "user", "look"), gemini(3, "gemini", "found", toolCalls=calls)]
    written(tmp_path / "chats/g1/a1.jsonl", records)
    events = events_in("gemini", tmp_path)
    assert {event.session for event in events} == {"g1"}
    assert [(type(event.body), event.agent) for event in events[1:-1]] == [
        (Prompt, ""),
        (Command, "subagent/a1"),
    ]


# --- Qwen Code ------------------------------------------------------------------------------------


def qwen(second: int, kind: str, *parts: Record, **fields: Any) -> Record:
    common = {"uuid": f"u{second}", "sessionId": "q1", "timestamp": at(second), "cwd": "/p"}
    return {**common, "type": kind, "message": {"parts": list(parts)}, **fields}


def qwen_call(second: int, status: str = "success", **fields: Any) -> list[Record]:
    call = {"id": f"c{second}", "name": "run_shell_command", "args": {"command": "make"}}
    answer = {"id": f"c{second}", "response": {"output": "Output: ok\nExit Code: 0"}}
    result = {"toolCallResult": {"status": status}, **fields}
    return [
        qwen(second, "assistant", {"functionCall": call}, **fields),
        qwen(second + 1, "tool_result", {"functionResponse": answer}, **result),
    ]


def test_of_qwens_messages_those_count_that_somebody_typed(tmp_path: Path) -> None:
    records = [
        qwen(1, "user", {"text": "why?\n<hook>"}, systemPayload={"displayText": "why?"}),
        qwen(2, "user", {"text": "tick"}, subtype="cron"),
        qwen(3, "user", {"text": "task done"}, subtype="notification"),
        qwen(4, "user", {"text": "and taxes?"}, subtype="mid_turn_user_message"),
        qwen(5, "user", {"text": "copied"}, forkedFrom={"sessionId": "q0"}),
        *qwen_call(6, "cancelled"),
    ]
    found = bodies("qwen", written(tmp_path / "s.jsonl", records))
    assert [body.text for body in found] == ["why?", "and taxes?"]
    asked, answered = qwen_call(1, "error")
    asked["message"]["parts"][0]["functionCall"]["name"] = "read_file"
    (call,) = bodies("qwen", written(tmp_path / "s.jsonl", [asked, answered]))
    assert isinstance(call, ToolUse)
    assert call.failed


def test_sub_agents_and_compactions_of_qwen(tmp_path: Path) -> None:
    history = [{"parts": [{"text": "x <state_snapshot>The cart rounds.</state_snapshot>"}]}]
    records = [
        qwen(1, "user", {"text": "why?"}),
        qwen(9, "system", subtype="chat_compression", systemPayload={"compressedHistory": history}),
    ]
    written(tmp_path / "s.jsonl", records)
    side = {"isSidechain": True, "agentId": "a1", "agentName": "explorer"}
    more = [qwen(2, "user", {"text": "look"}, **side), *qwen_call(3, **side)]
    written(tmp_path / "agents/a.jsonl", [*more, qwen(5, "assistant", {"text": "seen"}, **side)])
    events = events_in("qwen", tmp_path)[1:-1]
    assert [event.agent for event in events] == ["", "explorer/a1", ""]
    assert [type(event.body) for event in events] == [Prompt, Command, Compaction]
    assert getattr(events[-1].body, "summary", "") == "The cart rounds."


# --- Copilot CLI ----------------------------------------------------------------------------------


def copilot(second: int, kind: str, agent: str = "", **data: Any) -> Record:
    row: Record = {"type": kind, "id": f"e{second}", "timestamp": at(second), "data": data}
    return {**row, "agentId": agent} if agent else row


def copilot_call(second: int, agent: str = "", **end: Any) -> list[Record]:
    call = {"toolCallId": f"c{second}", "toolName": "bash", "arguments": {"command": "make"}}
    done = {"toolCallId": f"c{second}", **end}
    return [
        copilot(second, "tool.execution_start", agent, **call),
        copilot(second + 1, "tool.execution_complete", agent, **done),
    ]


COPILOT = copilot(0, "session.start", sessionId="p1", context={"cwd": "/p", "branch": "main"})


def test_a_session_of_copilot_that_was_resumed_and_moved(tmp_path: Path) -> None:
    records = [
        COPILOT,
        copilot(1, "user.message", content="why?"),
        copilot(2, "assistant.message", content="half"),
        copilot(3, "abort", reason="user_initiated"),
        copilot(60, "session.resume", context={"cwd": "/p", "branch": "fix"}),
        copilot(61, "user.message", content="skill text", source="skill-pdf"),
        copilot(62, "user.message", content="on", isAutopilotContinuation=True),
        copilot(63, "session.compaction_complete", success=True, summaryContent="The cart rounds."),
        copilot(64, "session.compaction_complete", success=False),
        copilot(65, "session.context_changed", cwd="/q", branch="main"),
        copilot(66, "user.message", content="and here?"),
    ]
    events = events_in("copilot", written(tmp_path / "events.jsonl", records))
    assert [(type(event.body), event.branch, event.cwd) for event in events] == [
        (SessionStart, "main", "/p"),
        (Prompt, "main", "/p"),
        (SessionStart, "fix", "/p"),
        (Compaction, "fix", "/p"),
        (Prompt, "main", "/q"),
        (SessionEnd, "main", "/q"),
    ]


def test_calls_of_copilot_that_failed_or_were_refused_and_a_sub_agents(tmp_path: Path) -> None:
    records = [
        COPILOT,
        *copilot_call(1, success=False, error={"code": "denied", "message": "no"}),
        *copilot_call(3, success=False, error={"code": "failure", "message": "no shell"}),
        copilot(5, "subagent.started", "a1", toolCallId="t", agentName="explore"),
        copilot(6, "user.message", "a1", content="look"),
        *copilot_call(
            7, "a1", success=True, result={"content": "<shellId: 0 completed with exit code 2>"}
        ),
        copilot(9, "assistant.message", "a1", content="seen"),
        copilot(10, "subagent.completed", "a1", toolCallId="t", agentName="explore"),
    ]
    events = events_in("copilot", written(tmp_path / "events.jsonl", records))[1:-1]
    assert [event.agent for event in events] == ["", "explore/a1", "explore/a1"]
    failed, done, back = (event.body for event in events)
    assert isinstance(failed, Command)
    assert isinstance(done, Command)
    assert (failed.failed, done.exit_code) == (True, 2)
    assert back == Delegation(agent="explore", result="seen")


def test_older_sessions_of_copilot_say_some_things_elsewhere(tmp_path: Path) -> None:
    """A prompt among what was put around it, and calls in the request alone."""
    asked = "<current_datetime>now</current_datetime>\n\nwhy?"
    _, done = copilot_call(3, success=True, result={"content": "<exited with exit code 1>"})
    request = {"toolCallId": "c3", "name": "bash", "arguments": {"command": "make"}}
    records = [
        COPILOT,
        copilot(1, "user.message", content="", transformedContent=asked),
        copilot(2, "assistant.message", content="", toolRequests=[request]),
        done,
    ]
    prompt, command = bodies("copilot", written(tmp_path / "events.jsonl", records))
    assert (prompt.text, command.command, command.exit_code) == ("why?", "make", 1)


@pytest.mark.parametrize(
    ("last", "code", "failed"),
    [
        ("<shellId: 3 completed with exit code 2>", 2, True),
        ("<exited with exit code 1>", 1, True),
        ("<exited with exit code 0>", 0, False),
        ("<command with shellId: 4 is still running after 10 seconds. Use read_bash>", None, None),
    ],
)
def test_the_last_line_of_copilots_output_says_how_a_command_ended(
    tmp_path: Path, last: str, code: int | None, *, failed: bool | None
) -> None:
    calls = copilot_call(1, success=True, result={"content": f"so\n{last}"})
    (command,) = bodies("copilot", written(tmp_path / "events.jsonl", [COPILOT, *calls]))
    assert isinstance(command, Command)
    assert (command.output, command.exit_code, command.failed) == ("so", code, failed)


# --- OpenCode -------------------------------------------------------------------------------------


def opencode(path: Path, sessions: dict[str, str], *messages: tuple[str, int, Record, Any]) -> Path:
    """Write sessions with their parents, and messages: session, second, message, parts."""
    begun = 1_780_000_000_000
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "CREATE TABLE session (id, parent_id, directory, time_created, time_updated)"
        )
        database.execute("CREATE TABLE message (id, session_id, time_created, data)")
        database.execute("CREATE TABLE part (id, message_id, session_id, data)")
        for name, parent in sessions.items():
            row = (name, parent or None, "/p", begun, begun + 60_000)
            database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?)", row)
        for number, (session, second, message, parts) in enumerate(messages):
            at_ms = begun + second * 1000
            data = json.dumps({"time": {"created": at_ms}, **message})
            database.execute(
                "INSERT INTO message VALUES (?, ?, ?, ?)", (f"m{number}", session, at_ms, data)
            )
            for place, part in enumerate(parts):
                row = (f"m{number}p{place}", f"m{number}", session, json.dumps(part))
                database.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)
    return path


ASKED, ANSWERED = {"role": "user", "agent": "build"}, {"role": "assistant"}


def opencode_call(tool: str, status: str, **state: Any) -> Record:
    return {"type": "tool", "tool": tool, "callID": tool, "state": {"status": status, **state}}


def test_a_sub_agent_of_opencode_has_a_session_of_its_own(tmp_path: Path) -> None:
    path = opencode(
        tmp_path / "opencode.db",
        {"s1": "", "s2": "s1"},
        ("s1", 1, ASKED, said("why?")),
        ("s2", 2, {"role": "user", "agent": "explore"}, said("look")),
        (
            "s2",
            3,
            ANSWERED,
            [opencode_call("read", "completed", input={"filePath": "a"}), *said("a")],
        ),
        ("s1", 4, ANSWERED, said("so")),
    )
    events = events_in("opencode", path)
    assert [
        (event.session, event.body)
        for event in events
        if not isinstance(event.body, SessionStart | SessionEnd | FileRead)
    ] == [
        ("s1", Prompt(text="why?")),
        ("s1", Delegation(task="look", agent="explore")),
        ("s1", Reply(text="so")),
    ]
    starts = [event.body for event in events if isinstance(event.body, SessionStart)]
    assert [start.parent_session for start in starts] == ["", "s1"]
    assert [event.session for event in events if isinstance(event.body, FileRead)] == ["s2"]


def test_compactions_errors_and_forks_of_opencode(tmp_path: Path) -> None:
    error = {"name": "APIError", "data": {"message": "no model"}}
    path = opencode(
        tmp_path / "opencode.db",
        {"s1": ""},
        ("s1", 1, {**ASKED, "time": {"created": 1_779_999_999_000}}, said("of the session before")),
        ("s1", 2, ASKED, said("why?")),
        ("s1", 3, ANSWERED, [opencode_call("bash", "error", input={"command": "x"}, error="no")]),
        ("s1", 4, {**ANSWERED, "error": error}, []),
        ("s1", 5, ASKED, [{"type": "compaction", "auto": True}]),
        ("s1", 6, {**ANSWERED, "summary": True}, said("The cart rounds.")),
        ("s1", 7, ANSWERED, [opencode_call("bash", "running", input={"command": "y"})]),
    )
    prompt, command, failure, compaction = bodies("opencode", path)
    assert prompt == Prompt(text="why?")
    assert isinstance(command, Command)
    assert command.failed
    assert failure == Custom(name="opencode:session.error", text="APIError\nno model")
    assert compaction == Compaction(summary="The cart rounds.")


def test_the_first_patches_of_opencode_had_a_tool_of_another_name(tmp_path: Path) -> None:
    given = {"patchText": "*** Begin Patch\n*** Delete File: a.py\n*** End Patch"}
    call = opencode_call("patch", "completed", input=given, output="done")
    path = opencode(tmp_path / "opencode.db", {"s1": ""}, ("s1", 1, ANSWERED, [call]))
    (write,) = bodies("opencode", path)
    assert (write.path, write.operation) == ("a.py", "delete")


def test_a_database_without_sessions_is_counted(tmp_path: Path) -> None:
    problems = Problems()
    path = opencode(tmp_path / "opencode.db", {"": ""})
    empty = opencode(tmp_path / "more.db", {})
    assert sources()["opencode"].find([path, empty, tmp_path], problems) == []
    assert problems.counts == {"session without an id or a time": 1, "file without a session": 1}


# --- Cursor ---------------------------------------------------------------------------------------


def table(path: Path, name: str, values: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE {name} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        kept = [(key, json.dumps(value).encode()) for key, value in values.items()]
        database.executemany(f"INSERT INTO {name} VALUES (?, ?)", kept)


def cursor_call(name: str, status: str = "completed", result: Any = "", **given: Any) -> Record:
    raw = {"rawArgs": json.dumps(given), "result": json.dumps(result)}
    return {"type": 2, "text": "", "toolFormerData": {"name": name, "status": status, **raw}}


def test_conversations_of_cursor_are_rows_of_one_table(tmp_path: Path) -> None:
    edit = {"old_string": "a", "new_string": "b"}
    bubbles: list[Record] = [
        {"type": 1, "text": "why?", "createdAt": at(1)},
        cursor_call(
            "run_terminal_command_v2", result={"output": "ok", "exitCode": 2}, command="make"
        ),
        cursor_call("search_replace", file_path="/p/a.py", **edit),
        cursor_call("read_file_v2", target_file="/p/a.py"),
        cursor_call("run_terminal_cmd", "error", command="gone"),
        cursor_call("run_terminal_cmd", "cancelled", command="rm"),
        {"type": 2, "text": "so", "createdAt": at(9)},
    ]
    heads = [{"bubbleId": f"b{number}"} for number in range(len(bubbles))]
    about = {"composerId": "c1", "createdAt": 1_780_000_000_000, "lastUpdatedAt": "?"}
    values: dict[str, Any] = {f"bubbleId:c1:b{number}": one for number, one in enumerate(bubbles)}
    values["composerData:c1"] = {**about, "fullConversationHeadersOnly": heads}
    values |= {"composerData:c2": {**about, "composerId": "c2"}, "composerData:c3": []}
    table(tmp_path / "User/globalStorage/state.vscdb", "cursorDiskKV", values)
    place = tmp_path / "User/workspaceStorage/1"
    here = {"composer.composerData": {"allComposers": [{"composerId": "c1"}]}}
    table(place / "state.vscdb", "ItemTable", here)
    (place / "workspace.json").write_text('{"folder": "file:///home/ana/the%20till"}')
    written(tmp_path / "User/workspaceStorage/2/workspace.json", [{"folder": "vscode-remote://x"}])
    events = events_in("cursor", tmp_path)
    assert {(event.session, event.cwd) for event in events} == {("c1", "/home/ana/the till")}
    prompt, command, write, looked, failed, reply = bodies("cursor", tmp_path)
    assert (prompt.text, command.command, command.exit_code) == ("why?", "make", 2)
    assert (write.path, write.edits[0].new, looked.paths) == ("/p/a.py", "b", ("/p/a.py",))
    assert (failed.command, failed.failed, reply.text) == ("gone", True, "so")


def cursor(path: Path, *bubbles: Record) -> Path:
    """Write a database with one conversation of these messages."""
    heads = [{"bubbleId": f"b{number}"} for number in range(len(bubbles))]
    about = {"composerId": "c1", "createdAt": 1_780_000_000_000}
    values: dict[str, Any] = {f"bubbleId:c1:b{number}": one for number, one in enumerate(bubbles)}
    values["composerData:c1"] = {**about, "fullConversationHeadersOnly": heads}
    table(path, "cursorDiskKV", values)
    return path


EDITED = {"old_string": "a", "new_string": "b"}
CURSOR_CALL = cursor_call("MultiEdit", file_path="a.py", edits=[EDITED])


@pytest.mark.parametrize(
    ("call", "kind", "about"),
    [
        (cursor_call("list_dir_v2", target_directory="/p"), Search, "/p"),
        (cursor_call("list_dir", relative_workspace_path="src"), Search, "src"),
        (cursor_call("file_search", query="cart.py"), Search, "cart.py"),
        (cursor_call("glob_file_search", glob_pattern="*.py"), Search, "*.py"),
        (cursor_call("codebase_search", query="where?"), Search, "where?"),
        (cursor_call("write", file_path="a.py", contents="x"), FileWrite, "content='x'"),
        (CURSOR_CALL, FileWrite, "new='b'"),
        (cursor_call("edit_file", "error", "no file", target_file="a.py"), FileWrite, "no file"),
        (
            cursor_call("apply_patch", patch="*** Begin Patch\n*** Delete File: a.py\n"),
            FileWrite,
            "delete",
        ),
        (cursor_call("task_v2", description="look", prompt="find it"), Delegation, "find it"),
        (
            cursor_call(
                "run_terminal_cmd", result={"output": "no", "exitCodeV2": 2}, command="make"
            ),
            Command,
            "exit_code=2",
        ),
    ],
)
def test_the_database_of_cursor_has_names_of_its_own_for_tools(
    tmp_path: Path, call: Record, kind: type, about: str
) -> None:
    (body,) = bodies("cursor", cursor(tmp_path / "state.vscdb", call))
    assert isinstance(body, kind)
    assert about in repr(body)


# --- Pi, Cline, Droid -----------------------------------------------------------------------------


def pi(second: int, role: str, content: Any, **fields: Any) -> Record:
    message = {"role": role, "content": content, **fields}
    return {"type": "message", "id": f"e{second}", "timestamp": at(second), "message": message}


def test_a_fork_of_pi_leaves_out_what_it_copied_and_droid_what_it_added(tmp_path: Path) -> None:
    head = {"type": "session", "id": "s2", "timestamp": at(60), "cwd": "/p", "parentSession": "s1"}
    summary = {"type": "compaction", "id": "c", "timestamp": at(62), "summary": "The cart rounds."}
    records = [head, pi(1, "user", said("why?")), pi(61, "user", "and here?"), summary]
    assert bodies("pi", written(tmp_path / "s.jsonl", records)) == [
        Prompt(text="and here?"),
        Compaction(summary="The cart rounds."),
    ]
    call = {"type": "tool_use", "id": "c1", "name": "Skill", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c1", "is_error": True, "content": "no"}
    stray = {"type": "tool_result", "tool_use_id": "c9", "content": "x"}
    records = [
        {"type": "session_start", "id": "s1", "cwd": "/p"},
        pi(1, "user", [*said("<system-reminder>x</system-reminder>"), *said("why?")]),
        pi(2, "assistant", [call]),
        pi(3, "user", [result, stray]),
    ]
    prompt, tool = bodies("droid", written(tmp_path / "s.jsonl", records))
    assert prompt == Prompt(text="why?")
    assert tool == ToolUse(tool="Skill", output="no", failed=True)


def cline(folder: Path, messages: Sequence[Record]) -> Path:
    folder.mkdir(exist_ok=True)
    about = {"session_id": "s1", "started_at": at(0), "ended_at": at(90), "cwd": "/p"}
    git = {"git": {"branch": "main"}}
    (folder / "s1.json").write_text(json.dumps({**about, "metadata": git}))
    (folder / "s1.messages.json").write_text(json.dumps({"messages": messages}))
    return folder


def test_cline_wraps_prompts_and_adds_messages_of_its_own(tmp_path: Path) -> None:
    begun = 1_780_000_000_000
    failed = {"type": "tool_result", "tool_use_id": "c1", "name": "fetch", "content": "no"}
    messages = [
        {"role": "user", "content": said("<user_input mode='act'>why?</user_input>"), "ts": begun},
        {"role": "user", "content": said("<hook_context>x</hook_context>"), "ts": begun + 1},
        {
            "role": "user",
            "content": said("x"),
            "metadata": {"displayRole": "system"},
            "ts": begun + 2,
        },
        {"role": "user", "content": [{**failed, "is_error": True}], "ts": begun + 3},
        {"role": "user", "content": said("late"), "ts": "never"},
    ]
    events = events_in("cline", cline(tmp_path, messages))
    assert {event.branch for event in events} == {"main"}
    prompt, tool = bodies("cline", tmp_path)
    assert prompt == Prompt(text="why?")
    assert tool == ToolUse(tool="fetch", output="no", failed=True)


@pytest.mark.parametrize(
    ("client", "first"),
    [
        pytest.param("gemini", {"sessionId": "s"}, id="gemini"),
        pytest.param("qwen", {"sessionId": "s", "timestamp": at(0)}, id="qwen"),
        pytest.param("copilot", {"type": "user.message", "timestamp": at(0)}, id="copilot"),
        pytest.param("droid", {"type": "message", "timestamp": at(0)}, id="droid"),
        pytest.param("pi", {"type": "message", "timestamp": at(0)}, id="pi"),
        pytest.param("cline", {}, id="cline"),
    ],
)
def test_files_of_something_else_are_counted(client: str, first: Record, tmp_path: Path) -> None:
    names = {"gemini": "chats/a.jsonl", "cline": "a.messages.json"}
    problems = Problems()
    written(tmp_path / names.get(client, "a.jsonl"), [first])
    assert sources()[client].find([tmp_path], problems) == []
    assert problems.counts == {"file without a session": 1}


def test_a_file_larger_than_any_session_is_counted(tmp_path: Path) -> None:
    path = cline(tmp_path, []) / "s1.messages.json"
    os.truncate(path, OBJECT_BYTES + 1)
    problems = Problems()
    source = sources()["cline"]
    assert len(events_of(source, source.find([path], problems), Settings(), problems)) == 0
    assert problems.counts == {"file larger than any session": 1}
