"""A session that is imported says what it would have said through the hooks."""

from __future__ import annotations

import gzip
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from observer.core.events import Command, Compaction, Delegation, FileWrite, Prompt, Reply
from observer.core.value import TokenUsage
from observer.importers.shelf.claude_code import find
from observer.importers.source import LINE_BYTES, Problems, groups
from tests.importers.conftest import Memories, events_in
from tests.importers.played import BEGUN_MS, Played, fixed_bug

DAY_MS = 86_400_000


@pytest.fixture
def played(shop: Path) -> Played:
    return Played(shop)


def bodies(played: Played, *kinds: type) -> list[Any]:
    """Return what is imported of a session, of some kinds or of all."""
    found = [
        event.body for event in events_in("claude-code", played.write(Path(played.cwd).parents[1]))
    ]
    return [one for one in found if isinstance(one, kinds)] if kinds else found


def test_an_event_has_the_place_of_its_record(played: Played, shop: Path, tmp_path: Path) -> None:
    played.prompt("one")
    played.records[0] |= {"gitBranch": "main", "cwd": f"{shop}/deep"}
    played.records.append({**played.records[0], "uuid": "x", "gitBranch": "HEAD"})
    start, first, second, _ = events_in("claude-code", played.write(tmp_path))
    assert (first.at_ms, first.cwd, first.branch) == (played.at_ms, f"{shop}/deep", "main")
    assert start.roots == (f"{shop}/deep",)
    assert second.branch == ""


LATER_MS = BEGUN_MS + DAY_MS


@pytest.mark.parametrize("stamp", [None, "soon", 7, {"at": 1}, -1.5, LATER_MS, f"{LATER_MS}"])
def test_a_record_without_a_time_has_the_last_one(
    played: Played, tmp_path: Path, stamp: object
) -> None:
    played.prompt("one")
    played.shell("make", "done")
    played.records[-1]["timestamp"] = stamp
    (command,) = [
        one
        for one in events_in("claude-code", played.write(tmp_path))
        if isinstance(one.body, Command)
    ]
    is_read = str(stamp) == f"{LATER_MS}"
    assert command.at_ms == (LATER_MS if is_read else played.at_ms - 1000)


def test_what_the_person_did_not_type_is_no_prompt(played: Played) -> None:
    for text in (
        "<local-command-stdout>ok</local-command-stdout>",
        "<command-name>/clear</command-name>",
        "<command-name>/review</command-name> <command-args>it all</command-args>",
        "/compact now",
        "[Request interrupted by user]",
        "<ide_opened_file>a</ide_opened_file>",
        "really",
    ):
        played.prompt(text)
    played.prompt("expanded", isMeta=True)
    texts = [one.text for one in bodies(played, Prompt)]
    assert texts == ["/review it all", "really"]


NOTICE = '{"task_id":"b1","description":"Run the tests","task_type":"local_bash"}'
TAGGED = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>"


@pytest.mark.parametrize(
    ("content", "end", "is_prompt"),
    [
        pytest.param("and this", "remove", True, id="given in the turn"),
        pytest.param("and this", "popAll", False, id="taken back"),
        pytest.param("and this", "", False, id="unknown"),
        pytest.param(NOTICE, "remove", False, id="notice of a task"),
        pytest.param(TAGGED, "remove", False, id="notice in tags"),
    ],
)
def test_a_queued_prompt_may_count(
    played: Played, content: str, end: str, *, is_prompt: bool
) -> None:
    played.prompt("first")
    played.record("queue-operation", operation="enqueue", content=content)
    if end:
        played.record("queue-operation", operation=end)
    texts = [one.text for one in bodies(played, Prompt)]
    assert texts[1:] == ([content] if is_prompt else [])


def test_a_queued_prompt_that_became_a_turn_counts_once_and_a_copy_never(played: Played) -> None:
    played.record("queue-operation", operation="enqueue", content="first")
    played.record("queue-operation", operation="dequeue")
    played.prompt("first")
    assert len(bodies(played, Prompt)) == 1
    played.prompt("copied", forkedFrom={"sessionId": "s0"})
    played.prompt("own")
    texts = [one.text for one in bodies(played, Prompt)]
    assert texts == ["first", "own"]


REFUSAL = "The user doesn't want to proceed with this tool use. The tool use was rejected"
COMMENT = f"{REFUSAL}. To tell you how to proceed, the user said:\nnever use sed, use the editor"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Bash", {"command": "make"}),
        ("Edit", {"file_path": "/x.py", "old_string": "a", "new_string": "b"}),
        ("Task", {"description": "look", "prompt": "around"}),
        ("ExitPlanMode", {"plan": "# Move the till"}),
        ("mcp__tracker__close", {"id": 7}),
    ],
)
def test_a_call_that_the_person_refused_never_ran_but_what_was_said_counts(
    memory: Memories, shop: Path, tmp_path: Path, tool: str, given: dict[str, Any]
) -> None:
    known, played = memory("one"), Played(shop)
    played.call(tool, given, error=COMMENT)
    known.imported(played.write(tmp_path))
    kinds = {"Bash": "command", "Edit": "file-write"}
    assert known.kinds()[1:-1] == [kinds.get(tool, "tool-use")]
    (item,) = [one for one in known.items() if one.kind != "summary"]
    assert (item.kind, item.type) == ("observation", "decision")
    assert item.narrative == f"{item.title}: never use sed, use the editor"


@pytest.mark.parametrize("tool", ["Edit", "Write", "Bash", "Read", "Task", "mcp__till__open"])
def test_a_call_that_failed_without_a_word_has_failed(played: Played, tool: str) -> None:
    given = {"file_path": "/x.py", "content": "a", "new_string": "a", "command": "make"}
    played.call(tool, given, error="no")
    played.records[-1]["message"]["content"][0]["content"] = []
    (body,) = bodies(played)[1:-1]
    assert getattr(body, "failed", None) or getattr(body, "error", "")


def test_a_call_that_waited_for_a_person_has_no_duration(played: Played) -> None:
    played.shell("make", "done")
    played.shell("make", "done")
    played.records[-1]["permissionDecision"] = {"source": "user_temporary"}
    commands = bodies(played, Command)
    assert [one.duration_ms for one in commands] == [1000, None]
    played.shell("make", "done")
    played.records[-1]["timestamp"] = "2026-05-01T00:00:00.000Z"
    command = bodies(played, Command)[0]
    assert (command.output, command.failed, command.duration_ms) == ("done", False, 0)


def test_an_interrupted_answer_is_no_reply(played: Played) -> None:
    played.say("I will now")
    interrupt = {"type": "text", "text": "[Request interrupted by user]"}
    played.record("user", message={"role": "user", "content": [interrupt]})
    assert not bodies(played, Reply)


def test_what_the_client_says_of_its_service_is_no_reply(played: Played) -> None:
    """Nor is it a model."""
    error: dict[str, Any] = {"type": "text", "text": "API Error: 529 Overloaded"}
    played.prompt("why?")
    for fields in ({"isApiErrorMessage": True}, {}):
        played.answer(error, **fields)
        played.records[-1]["message"]["model"] = "<synthetic>"
    played.prompt("and now?")
    played.say("It rounds.")
    start, *found, _ = bodies(played)
    assert getattr(start, "model", "") == "m1"
    assert [one.text for one in found if isinstance(one, Reply)] == ["It rounds."]


def test_an_edit_of_several_places_says_what_it_changed(played: Played, shop: Path) -> None:
    """Its answer has the text before under a name of its own."""
    edits = [{"old_string": "1", "new_string": "2"}, {"old_string": "3", "new_string": "4"}]
    before = "def total():\n    return 1\n\n\ndef cent():\n    return 3\n"
    given = {"file_path": f"{shop}/cart.py", "edits": edits}
    played.call("MultiEdit", given, {"originalFileContents": before, "edits": edits})
    (write,) = bodies(played, FileWrite)
    assert [edit.new for edit in write.edits] == ["2", "4"]
    assert write.symbols is not None
    assert {"total", "cent"} <= set(repr(write.symbols).split("'"))


def test_a_start_after_a_break_is_a_resumption(played: Played) -> None:
    for name in ("SessionStart:clear", "SessionStart:resume"):
        data = {"type": "hook_progress", "hookEvent": "SessionStart", "hookName": name}
        played.record("progress", data=data)
        played.at_ms += 60_000
    played.prompt("go on")
    sources = [getattr(body, "source", None) for body in bodies(played)]
    assert sources[:2] == ["clear", "resume"]


def test_a_compaction_keeps_its_summary_and_cause(played: Played) -> None:
    played.compact("Half is done.")
    found = bodies(played, Compaction)
    assert found == [Compaction(trigger="manual", summary="Half is done.")]


def with_agent(shop: Path) -> tuple[Played, Played]:
    """A session that hands work to a sub-agent, and the records of that one."""
    played, agent = Played(shop), Played(shop)
    played.prompt("look")
    given = {"description": "Look", "prompt": "count", "subagent_type": "scout"}
    agent.at_ms, agent.count = played.at_ms, 50
    agent.prompt("count")
    agent.shell("wc -l a", "2 a")
    agent.say("Two lines.")
    played.at_ms = agent.at_ms
    done = {"status": "completed", "agentId": "a1", "content": [{"type": "text", "text": "Two."}]}
    played.call("Agent", given, done)
    for number, record in enumerate(agent.records):
        record |= {"isSidechain": True, "agentId": "a1", "uuid": f"a{number}"}
    return played, agent


def test_a_sub_agent_with_a_file_of_its_own(shop: Path, tmp_path: Path) -> None:
    played, agent = with_agent(shop)
    main = played.write(tmp_path / "p")
    below = tmp_path / "p" / "s1" / "subagents"
    below.mkdir(parents=True)
    (below / "agent-a1.jsonl").write_bytes(b"".join(agent.lines()))
    (below / "agent-a1.meta.json").write_text('{"agentType": "scout"}')
    events = events_in("claude-code", tmp_path / "p")
    assert [one.agent for one in events if isinstance(one.body, Command)] == ["scout/a1"]
    results = [one.body.result for one in events if isinstance(one.body, Delegation)]
    assert results == ["Two lines.", "Two."]  # its end, and that of the call
    assert len([one for one in events if isinstance(one.body, Prompt)]) == 1
    assert events_in("claude-code", main, below) == events


def test_a_sub_agent_within_the_progress_of_its_call(shop: Path, tmp_path: Path) -> None:
    played, agent = with_agent(shop)
    call = played.records.pop(), played.records.pop()
    use = call[1]["message"]["content"][0]["id"]
    played.records.append({**call[1], "timestamp": played.records[0]["timestamp"]})
    for record in agent.records:
        played.records.append(
            {
                **{key: record[key] for key in ("timestamp", "sessionId", "cwd")},
                "type": "progress",
                "uuid": f"p{record['uuid']}",
                "parentToolUseID": use,
                "data": {"type": "agent_progress", "agentId": "a1", "message": record},
            }
        )
    played.records.append(call[0])
    events = events_in("claude-code", played.write(tmp_path))
    assert [one.agent for one in events if isinstance(one.body, Command)] == ["scout/a1"]
    results = [one.body.result for one in events if isinstance(one.body, Delegation)]
    assert results == ["Two.", "Two."]


def test_sub_agents_without_ids_say_nothing_for_the_agent(played: Played) -> None:
    played.prompt("look")
    played.shell("ls", "a")
    played.answer({"type": "text", "text": "inner"}, isSidechain=True)
    played.say("outer")
    played.prompt("shown", isSidechain=True)
    found = bodies(played)
    assert [one.text for one in found if isinstance(one, Prompt | Reply)] == ["look", "outer"]


def test_a_fork_brings_only_what_is_new_in_it(shop: Path, tmp_path: Path) -> None:
    original, fork = fixed_bug(shop), Played(shop, "s2", begun_ms=BEGUN_MS + DAY_MS)
    fork.records = [{**record, "sessionId": "s2"} for record in original.records]
    fork.prompt("another way")
    original.write(tmp_path)
    fork.write(tmp_path)
    prompts = [one for one in events_in("claude-code", tmp_path) if isinstance(one.body, Prompt)]
    assert sorted((one.session, one.body.text) for one in prompts) == [
        ("s1", "and the invoices?"),
        ("s1", "why does the cart total differ by a cent?"),
        ("s2", "another way"),
    ]


def test_copies_of_one_session_are_united(shop: Path, tmp_path: Path) -> None:
    played = fixed_bug(shop)
    path = played.write(tmp_path / "one")
    with gzip.open(tmp_path / "a.jsonl.gz", "wb") as packed:
        packed.write(b"".join(played.lines()[2:]))
    assert events_in("claude-code", tmp_path) == events_in("claude-code", path)


def test_a_session_that_goes_on_has_no_end(shop: Path, tmp_path: Path) -> None:
    now_ms = time.time_ns() // 1_000_000
    played = Played(shop, begun_ms=now_ms - 300_000)
    played.prompt("earlier")
    played.at_ms = now_ms - 20_000
    played.prompt("just now")
    found = events_in("claude-code", played.write(tmp_path))
    assert [getattr(one.body, "text", "") for one in found] == ["", "earlier"]


def test_problems_are_counted_with_their_places(shop: Path, tmp_path: Path) -> None:
    played, problems = fixed_bug(shop), Problems()
    path = played.write(tmp_path)
    whole = events_in("claude-code", path)
    lines = played.lines()
    other = json.dumps({**played.records[0], "sessionId": "s9"}).encode() + b"\n"
    unknown = b'{"type": "later", "sessionId": "s1"}\n'
    timeless = json.dumps({**played.records[0], "timestamp": "soon"}).encode() + b"\n"
    long = b'{"a": "' + b"x" * LINE_BYTES + b'"}\n'
    odd = [b"{broken\n", b"[1]\n", b"\n", unknown, other, timeless, long]
    path.write_bytes(b"".join([*lines[:3], *odd, *lines[3:], b'{"type": "us']))
    assert events_in("claude-code", path, problems=problems) == whole
    assert problems.counts == {
        "corrupt line": 2,
        "line longer than any record": 1,
        "unfinished last line": 1,
    }
    assert problems.places["corrupt line"] == f"{path}:4"


@pytest.mark.parametrize("depth", [900, 1010, 100_000])
def test_a_record_nested_too_deep_is_counted(shop: Path, tmp_path: Path, depth: int) -> None:
    played, problems = Played(shop), Problems()
    played.prompt("go")
    played.call("Odd", {}, {})
    played.prompt("on")
    deep = b'"input": {"a": ' + depth * b"[" + depth * b"]" + b"}"
    path = played.write(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"input": {}', deep))
    found = [one.body for one in events_in("claude-code", path, problems=problems)]
    assert [one.text for one in found if isinstance(one, Prompt)] == ["go", "on"]
    assert len(found) + sum(problems.counts.values()) == 5


def test_files_without_a_session_are_counted(tmp_path: Path) -> None:
    problems = Problems()
    (tmp_path / "a.jsonl").write_text('{"type": "user"}\n' * 60)
    (tmp_path / "b.jsonl").symlink_to(tmp_path / "none")
    os.mkfifo(tmp_path / "c.jsonl")
    assert find([tmp_path], problems) == []
    assert problems.counts == {"file without a session": 3}


def test_newer_sessions_come_in_earlier_groups(shop: Path, tmp_path: Path) -> None:
    for number in range(45):
        played = Played(shop, f"s{number:02}", begun_ms=BEGUN_MS + number * DAY_MS)
        played.prompt("x")
        played.write(tmp_path)
    sizes = [len(group) for group in groups(find([tmp_path], Problems()))]
    newest = next(groups(find([tmp_path], Problems())))
    assert sizes == [20, 20, 5]
    assert {one.id for one in newest} == {f"s{number}" for number in range(25, 45)}


def test_a_reply_has_the_tokens_of_its_turn(played: Played) -> None:
    """Each message once, from the last of its records, and those of sub-agents."""

    def answer(number: str, written: int, **fields: Any) -> None:
        usage = {"input_tokens": 3, "output_tokens": written, "cache_read_input_tokens": 500}
        block = {"type": "text", "text": "Let me look."}
        message = {"id": number, "content": [block], "usage": usage}
        played.record("assistant", message=message, **fields)

    played.prompt("and the invoices?")
    answer("m1", 1)
    answer("m1", 20)
    answer("m2", 4, isSidechain=True, agentId="a1")
    played.say("They round once already.")
    played.prompt("and the taxes?")
    played.say("They do not.")
    replies = bodies(played, Reply)
    assert [reply.usage for reply in replies] == [
        TokenUsage(input=16, output=25, cache_read=1000),
        TokenUsage(input=10, output=1),
    ]
