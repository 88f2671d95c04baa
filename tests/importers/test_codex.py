"""A rollout of Codex says what happened, and how its commands ended."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from observer.core.events import (
    Command,
    Delegation,
    Event,
    FileRead,
    FileWrite,
    Prompt,
    Reply,
    Search,
    SessionEnd,
    SessionStart,
    ToolUse,
)
from observer.core.value import TokenUsage
from observer.importers.shelf.codex import find
from observer.importers.source import Problems
from tests.importers.conftest import Memories, events_in

BEGUN_MS = 1_780_000_000_000
PATCH = "*** Begin Patch\n*** Update File: cart.py\n@@\n-total = 1\n+total = 2\n*** End Patch"
RED = "FAILED test_cart.py::test_total - assert 1 == 2\n1 failed in 0.31s\n"


def printed(output: str, code: int) -> str:
    wall = "Chunk ID: 1a2b3c\nWall time: 0.3 seconds"
    return f"{wall}\nProcess exited with code {code}\nOriginal token count: 19\nOutput:\n{output}"


class Rollout:
    """One session; each method adds lines."""

    def __init__(self, cwd: Path) -> None:
        self.at_ms = BEGUN_MS
        self.cwd = str(cwd)
        self.lines: list[dict[str, Any]] = []
        git = {"branch": "main", "commit_hash": "a" * 40}
        self.line("session_meta", id="s1", cwd=self.cwd, git=git)
        self.line("turn_context", turn_id="t1", cwd=self.cwd, model="m1")

    def line(self, kind: str, **payload: Any) -> None:
        at = datetime.fromtimestamp(self.at_ms / 1000, UTC).isoformat(timespec="milliseconds")
        self.lines.append({"timestamp": at, "type": kind, "payload": payload})

    def prompt(self, text: str) -> None:
        self.at_ms += 10_000
        self.line("event_msg", type="user_message", message=text)

    def shell(self, command: str, *answers: str) -> None:
        """A command, and what it printed until it ended."""
        call = f"c{len(self.lines)}"
        given = {"name": "exec_command", "arguments": json.dumps({"cmd": command})}
        for number, answer in enumerate(answers):
            self.at_ms += 10_000
            step = f"{call}.{number}" if number else call
            self.line("response_item", type="function_call", call_id=step, **given)
            self.line("response_item", type="function_call_output", call_id=step, output=answer)
            given = {"name": "write_stdin", "arguments": '{"session_id": 77, "chars": ""}'}

    def patch(self, text: str) -> None:
        self.at_ms += 10_000
        call = f"c{len(self.lines)}"
        patch = {"type": "custom_tool_call", "name": "apply_patch", "input": text}
        self.line("response_item", call_id=call, **patch)
        done = (
            "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\n"
        )
        self.line("response_item", type="custom_tool_call_output", call_id=call, output=done)

    def end(self, text: str) -> None:
        self.at_ms += 10_000
        self.line("event_msg", type="context_compacted")
        self.line("event_msg", type="task_complete", last_agent_message=text)
        self.at_ms += 1000

    def item(self, **payload: Any) -> None:
        self.line("response_item", **payload)

    def called(
        self, name: str, given: object, answer: object, *, call: str = "c", **fields: str
    ) -> None:
        """A call of a function, and its answer."""
        asked = {"name": name, "arguments": json.dumps(given), **fields}
        self.item(type="function_call", call_id=call, **asked)
        self.item(type="function_call_output", call_id=call, output=answer)

    def write(self, folder: Path) -> Path:
        path = folder / "rollout-s1.jsonl"
        path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in self.lines))
        return path

    def events(self) -> list[Event]:
        """What is imported of it."""
        return events_in("codex", self.write(Path(self.cwd).parents[1]))

    def bodies(self, *kinds: type) -> list[Any]:
        """What happened between its start and its end, of some kinds or of all."""
        found = [one.body for one in self.events()]
        return [one for one in found if isinstance(one, kinds)] if kinds else found[1:-1]


@pytest.fixture
def made(shop: Path) -> Rollout:
    return Rollout(shop)


@pytest.fixture
def rollout(shop: Path) -> Rollout:
    made = Rollout(shop)
    made.prompt("why does the cart total differ by a cent?")
    made.shell("pytest -q", printed(RED, 1))
    made.patch(PATCH)
    made.shell("pytest -q", printed("1 passed in 0.30s\n", 0))
    made.end("The cart rounds once.")
    return made


def test_an_event_has_what_its_line_says(rollout: Rollout) -> None:
    """Its time, folder and branch; a command its exit code, a patch its files."""
    _, prompt, *_, end = rollout.events()
    assert isinstance(prompt.body, Prompt)
    assert (prompt.at_ms, prompt.cwd, prompt.branch) == (BEGUN_MS + 10_000, rollout.cwd, "main")
    assert isinstance(end.body, SessionEnd)
    assert [one.exit_code for one in rollout.bodies(Command)] == [1, 0]
    assert [one.path for one in rollout.bodies(FileWrite)] == ["cart.py"]


def test_a_command_that_went_on_is_one(made: Rollout) -> None:
    begun = "Wall time: 9 seconds\nProcess running with session ID 77\nOutput:\nhalf\n"
    made.shell("make all", begun, printed("whole\n", 2))
    made.shell("make more", begun)
    found = made.bodies(Command)
    assert [(one.command, one.output, one.exit_code, one.failed) for one in found] == [
        ("make all", "half\nwhole", 2, True),
        ("make more", "half", None, None),
    ]


@pytest.mark.parametrize(("code", "known"), [(3, 3), (-1, None)])
def test_a_command_left_alone_ends_with_its_item(
    made: Rollout, code: int, known: int | None
) -> None:
    """Newer rollouts have an item of each command; one that the client ended has a code of -1."""
    made.shell("make", "Wall time: 9 seconds\nProcess running with session ID 77\nOutput:\nhalf\n")
    item = {"type": "CommandExecution", "id": "c2", "aggregated_output": "half\nwhole\n"}
    made.line("event_msg", type="item_completed", item={**item, "exit_code": code})
    made.line("event_msg", type="item_completed", item={**item, "id": "c9", "exit_code": 0})
    found = made.bodies(Command)
    assert [(one.output, one.exit_code) for one in found] == [("half\nwhole", known)]


def test_a_command_that_may_still_run_or_is_unknown_is_none(made: Rollout) -> None:
    made.at_ms = (time.time_ns() // 1_000_000) - 5 * 60_000
    made.shell("make", "Wall time: 9 seconds\nProcess running with session ID 77\nOutput:\nhalf\n")
    assert made.bodies(Command) == []
    made.called("write_stdin", {"session_id": 5}, printed("x", 0))
    assert made.bodies(Command) == []


def test_a_fork_leaves_out_what_it_copied(made: Rollout) -> None:
    """Copies have the time of the fork, but a turn says when it was started."""

    def count(written: int) -> None:
        made.line(
            "event_msg", type="token_count", info={"total_token_usage": {"output_tokens": written}}
        )

    made.lines = made.lines[:1]
    made.line("session_meta", id="s0", cwd=f"{made.cwd}/other", git={"branch": "other"})
    made.line("event_msg", type="task_started", turn_id="t0", started_at=BEGUN_MS // 1000 - 90)
    made.line("turn_context", turn_id="t0", cwd=f"{made.cwd}/other", model="m0")
    made.line("event_msg", type="user_message", message="of the session before")
    count(70)
    made.line("event_msg", type="task_complete", last_agent_message="so it was")
    made.at_ms += 10_000
    made.line("event_msg", type="task_started", turn_id="t2", started_at=made.at_ms // 1000)
    made.line("turn_context", turn_id="t2", cwd=made.cwd, model="m1")
    made.prompt("and here?")
    count(75)
    made.end("It is not.")
    start, prompt, *_, reply, _ = made.events()
    assert isinstance(start.body, SessionStart)
    assert (start.body.model, start.cwd, start.branch) == ("m1", made.cwd, "main")
    assert prompt.body == Prompt(text="and here?")
    assert reply.body == Reply(text="It is not.", usage=TokenUsage(output=5))


def test_a_rollout_that_went_on_has_a_new_end(rollout: Rollout) -> None:
    before = rollout.events()
    rollout.end("Now it is done.")
    after = rollout.events()
    assert [event.id for event in before[:-1]] == [event.id for event in after[: len(before) - 1]]
    assert before[-1].id != after[-1].id


PATCHED = "Success. Updated the following files:\nM cart.py\n"
OLD_RED = json.dumps({"output": "1 failed", "metadata": {"exit_code": 1}})
OLD_DONE = json.dumps({"output": PATCHED, "metadata": {"exit_code": 0}})
REJECTED = json.dumps({"output": "exec command rejected by user", "metadata": {"exit_code": 1}})
BLOCKS = [{"type": "input_text", "text": printed("1 failed", 1)}]


@pytest.mark.parametrize(
    ("name", "given", "answer", "code"),
    [
        ("shell", {"command": ["bash", "-lc", "make all"]}, OLD_RED, 1),
        ("shell", {"command": ["make", "all"]}, json.loads(OLD_RED), 1),
        ("shell_command", {"command": "make all"}, "Exit code: 1\nOutput:\n1 failed", 1),
        ("exec_command", {"cmd": "make all"}, BLOCKS, 1),
        ("shell", {"command": ["make", "all"]}, "1 failed", None),
        ("shell", {"command": "make all"}, '{"output": "1 failed"}', None),
    ],
)
def test_a_shell_of_any_version_runs_a_command(
    made: Rollout, name: str, given: object, answer: object, code: int | None
) -> None:
    made.called(name, given, answer)
    _, command, _ = [event.body for event in made.events()]
    assert isinstance(command, Command)
    assert (command.command, command.exit_code) == ("make all", code)
    assert "1 failed" in command.output


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"command": ["apply_patch", PATCH]}, id="words"),
        pytest.param(
            {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]}, id="script"
        ),
        pytest.param({"cmd": f"apply_patch <<'EOF'\n{PATCH}\nEOF\n"}, id="line"),
    ],
)
@pytest.mark.parametrize(("answer", "error"), [(OLD_DONE, False), (OLD_RED, True)])
def test_a_patch_in_a_shell_is_an_edit(
    made: Rollout, given: object, answer: str, *, error: bool
) -> None:
    made.called("shell", given, answer)
    _, write, _ = [event.body for event in made.events()]
    assert isinstance(write, FileWrite)
    assert (write.path, bool(write.error)) == ("cart.py", error)


def test_older_rollouts_have_other_tools(made: Rollout) -> None:
    action = {"type": "exec", "command": ["bash", "-lc", "pwd"]}
    made.item(type="local_shell_call", call_id="c1", action=action)
    made.item(type="function_call_output", call_id="c1", output=OLD_DONE)
    query = {"type": "search", "query": "how to round"}
    made.item(type="web_search_call", id="w1", action=query)
    made.item(type="web_search_call", id="w2", action={"type": "open_page"})
    page = {"type": "find_in_page", "url": "https://e.org", "pattern": "cent"}
    made.item(type="web_search_call", id="w3", action=page)
    for number, (name, asked) in enumerate(
        (
            ("read_file", {"file_path": "/p/a.py"}),
            ("list_dir", {"dir_path": "/p"}),
            ("grep_files", {"pattern": "total", "path": "/p"}),
            ("spawn_agent", {"message": "look", "agent_type": "explorer"}),
        )
    ):
        made.called(name, asked, "a", call=f"n{number}")
    assert made.bodies() == [
        Command(command="pwd", output=PATCHED.strip(), exit_code=0, failed=False),
        Search(query="how to round", where="web", tool="web_search"),
        Search(query="https://e.org cent", where="web", tool="open_page"),
        FileRead(paths=("/p/a.py",), tool="read_file"),
        Search(query="/p", where="files", output="a", tool="list_dir"),
        Search(query="total", where="code", path="/p", output="a", tool="grep_files"),
        Delegation(task="look", agent="explorer", result="a"),
    ]


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        (OLD_DONE, False),
        (OLD_RED, True),
        (PATCHED, False),
        ("Exit code: 0\nOutput:\n" + PATCHED, False),
        ("apply_patch verification failed: Failed to find expected lines in /p/cart.py", True),
        ("patch rejected: writing outside of the project", True),
    ],
)
def test_a_patch_went_as_its_answer_says(made: Rollout, answer: str, *, failed: bool) -> None:
    made.called("apply_patch", {"input": PATCH}, answer)
    (write,) = [one.body for one in made.events() if "cart" in repr(one.body)]
    assert isinstance(write, FileWrite)
    assert (write.path, bool(write.error)) == ("cart.py", failed)


@pytest.mark.parametrize("success", [False, True])
def test_the_end_of_a_patch_says_more_than_its_answer(made: Rollout, *, success: bool) -> None:
    call = {"call_id": "c", "name": "apply_patch", "input": PATCH}
    made.item(type="custom_tool_call", **call)
    made.line("event_msg", type="patch_apply_end", call_id="c", success=success)
    made.item(type="custom_tool_call_output", call_id="c", output="done?")
    (write,) = [one.body for one in made.events() if "cart" in repr(one.body)]
    assert isinstance(write, FileWrite)
    assert bool(write.error) is not success


def test_a_command_and_a_patch_count_in_the_folder_they_name(made: Rollout) -> None:
    given = {"cmd": f"cd web && apply_patch <<'EOF'\n{PATCH}\nEOF", "workdir": "/other"}
    for call, asked in (("c1", given), ("c2", {"cmd": "make", "workdir": "/other"})):
        made.called("exec_command", asked, OLD_DONE, call=call)
    _, write, command, end = made.events()
    assert (getattr(write.body, "path", ""), write.cwd) == ("cart.py", "/other/web")
    assert (getattr(command.body, "command", ""), command.cwd) == ("make", "/other")
    assert end.cwd == made.cwd


@pytest.mark.parametrize(
    ("answer", "failed", "interrupted"),
    [
        ("exec_command failed for `make`: No such file or directory", True, False),
        ("execution error: Io(Os { code: 2 })", True, False),
        ("failed to parse function arguments: missing field `command`", True, False),
        ("exec command rejected by user", True, False),
        (REJECTED, True, False),
        ("aborted by user after 2.1s", None, True),
        ("Wall time: 2.1 seconds\naborted by user", None, True),
        ("aborted (core dumped) is what it printed", None, False),
    ],
)
def test_a_command_that_never_ended_says_why(
    made: Rollout, answer: str, *, failed: bool | None, interrupted: bool
) -> None:
    made.shell("make", answer)
    (found,) = made.bodies(Command)
    assert (found.failed, found.interrupted, found.exit_code) == (failed, interrupted, None)
    assert found.output in answer


def test_a_tool_that_failed_has_failed(made: Rollout) -> None:
    errors = ({"Ok": {"isError": True}}, {"Err": "no server"}, {"Ok": {"content": []}})
    for number, result in enumerate(errors):
        row = {"call_id": f"c{number}", "name": "find", "arguments": "{}"}
        made.item(type="function_call", **row)
        made.line("event_msg", type="mcp_tool_call_end", call_id=f"c{number}", result=result)
        made.item(type="function_call_output", call_id=f"c{number}", output="x")
    gone = "failed to read file: No such file or directory"
    made.called("read_file", {"file_path": "/p/a.py"}, gone, call="c9")
    assert [bool(one.failed) for one in made.bodies(ToolUse)] == [True, True, False, True]


def said(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def test_a_rollout_without_events_of_prompts_has_those_of_its_messages(made: Rollout) -> None:
    """And without ends of turns the last words of each; not of one that was broken off."""
    made.lines = made.lines[:1]
    texts = ("# AGENTS.md instructions for /p", "<environment_context>x", "<user_instructions>x")
    rows = [
        *(said("user", text) for text in texts),
        said("user", "why?"),
        said("assistant", "I look."),
        said("assistant", "It rounds."),
        said("user", "and here?"),
        said("assistant", "Wait"),
    ]
    for row in rows:
        made.at_ms += 1000
        made.item(**row)
    made.line("event_msg", type="turn_aborted", reason="interrupted")
    found = [one.body for one in made.events()]
    assert isinstance(found[0], SessionStart)
    assert found[1:-1] == [Prompt(text="why?"), Reply(text="It rounds."), Prompt(text="and here?")]


@pytest.mark.parametrize(
    "sort", [{"source": {"subagent": {"thread_spawn": {}}}}, {"thread_source": "subagent"}]
)
def test_what_a_sub_agent_is_given_no_person_has_asked(made: Rollout, sort: dict[str, Any]) -> None:
    """The agent that started it has said it by a call. What it says last stands in messages."""
    made.lines[0]["payload"] |= sort
    made.prompt("look for the cent")
    made.item(**said("assistant", "It is in cart.py."))
    made.line("event_msg", type="task_complete")
    start, *found, _ = [one.body for one in made.events()]
    assert start == SessionStart(source="subagent", model="m1")
    assert found == [Reply(text="It is in cart.py.")]


def test_what_an_editor_puts_before_a_prompt_is_left_out(made: Rollout) -> None:
    made.prompt(
        "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nwhy?"
    )
    made.line("event_msg", type="user_message", message="<user_instructions>x</user_instructions>")
    assert made.bodies() == [Prompt(text="why?")]


@pytest.mark.parametrize("space", ["collaboration", "multi_agent_v1", "functions"])
def test_tools_in_a_namespace_of_the_clients_are_its_own(made: Rollout, space: str) -> None:
    asked = {"message": "look", "agent_type": "explorer"}
    made.called("spawn_agent", asked, "a", namespace=space)
    assert made.bodies() == [Delegation(task="look", agent="explorer", result="a")]


def test_newer_rollouts_name_items_and_servers(made: Rollout) -> None:
    made.line("event_msg", type="task_started", turn_id="t2")
    item = {"type": "UserMessage", "content": [{"type": "text", "text": "look it up"}]}
    made.line("event_msg", type="item_completed", item=item)
    made.called("find", {}, "[]", namespace="mcp__tracker")
    _, prompt, tool, _ = made.events()
    assert (prompt.body, prompt.turn) == (Prompt(text="look it up"), "t2")
    assert getattr(tool.body, "tool", "") == "mcp__tracker__find"


def test_the_longest_copy_counts_and_others_are_counted(rollout: Rollout, tmp_path: Path) -> None:
    whole = rollout.write(tmp_path)
    problems = Problems()
    (tmp_path / "a.jsonl").write_bytes(whole.read_bytes()[:500])
    (tmp_path / "b.jsonl").write_text('{"type": "user"}\n')
    (tmp_path / "c.jsonl").touch()
    (found,) = find([tmp_path], problems)
    assert found.paths == (whole,)
    assert problems.counts == {"file without a session": 2}


def test_a_reply_has_the_tokens_of_its_turn(made: Rollout) -> None:
    """A rollout counts those of the whole session, what was cached among what was read."""

    def count(given: int, cached: int, written: int) -> None:
        names = ("input_tokens", "cached_input_tokens", "output_tokens")
        total = dict(zip(names, (given, cached, written), strict=True))
        made.line("event_msg", type="token_count", info={"total_token_usage": total})

    count(100, 0, 5)
    count(300, 120, 9)
    made.end("The cart rounds once.")
    made.line("event_msg", type="token_count", info=None)
    count(1300, 1020, 29)
    made.end("So do the invoices.")
    made.end("That is all.")
    replies = made.bodies(Reply)
    assert [reply.usage for reply in replies] == [
        TokenUsage(input=180, output=9, cache_read=120),
        TokenUsage(input=100, output=20, cache_read=900),
        None,
    ]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        pytest.param("git@github.com:ana/shop.git", "shop", id="another clone"),
        pytest.param("https://t:secret@github.com/Ana/Shop", "shop", id="another spelling"),
        pytest.param("https://github.com/ana/other", "gone", id="an unknown repository"),
        pytest.param("ext::sh -c true", "gone", id="a command"),
        pytest.param("\0", "gone", id="no remote"),
        pytest.param("", "gone", id="none"),
    ],
)
def test_a_session_whose_folder_is_gone_belongs_to_its_repository(
    memory: Memories, git: Callable[..., str], tmp_path: Path, url: str, name: str
) -> None:
    """What was never recorded of any project is a project of its own."""
    here, shop = memory("one"), tmp_path / "home" / "shop"
    git(shop, "init", "-q")
    git(shop, "remote", "add", "origin", "https://github.com/ana/shop")
    known = Rollout(shop)
    known.prompt("what is here?")
    here.imported(known.write(tmp_path), source="codex")
    gone = Rollout(tmp_path / "home" / "gone")
    gone.lines[0]["payload"] |= {"id": "s2", "git": {"repository_url": url}}
    gone.prompt("and what was there?")
    receipts = here.imported(gone.write(tmp_path), source="codex")
    with here.store.read() as reader:
        names = {project.id: project.name for project in reader.projects()}
    assert {names[one.project_id or 0] for one in receipts if one.seq} == {name}


def test_a_session_in_a_folder_that_a_project_had_belongs_to_it(
    memory: Memories, git: Callable[..., str], tmp_path: Path
) -> None:
    here, shop = memory("one"), tmp_path / "home" / "shop"
    git(shop, "init", "-q")
    first = Rollout(shop)
    first.prompt("what is here?")
    (before, *_) = here.imported(first.write(tmp_path), source="codex")
    shutil.rmtree(shop)
    second = Rollout(shop / "web")
    second.lines[0]["payload"]["id"] = "s2"
    second.prompt("and there?")
    receipts = [one for one in here.imported(second.write(tmp_path), source="codex") if one.seq]
    assert receipts
    assert {one.project_id for one in receipts} == {before.project_id}
