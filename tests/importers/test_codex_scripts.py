"""Scripts by which newer models call Codex's tools become the calls that they made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.events import Command, FileRead, FileWrite, Search, ToolUse
from observer.importers.codex_calls import calls_in, patch_of_changes
from tests.importers.test_codex import PATCH, Rollout

MAKE = 'const r = await tools.exec_command({"cmd":"make","workdir":"/w"}); text(r.output);'
HEAD = "Script completed\nWall time 0.2 seconds\nOutput:\n"


@pytest.mark.parametrize(
    ("script", "found"),
    [
        (MAKE, [("exec_command", {"cmd": "make", "workdir": "/w"})]),
        ("text(await tools.exec_command({cmd:'it\\'s', max: 10}));", [("exec_command",
         {"cmd": "it's", "max": 10})]),
        ('const c = "ls";\nawait tools.exec_command({cmd: c})', [("exec_command", {"cmd": "ls"})]),
        ("const cmd = `ls\n`;\nawait tools.exec_command({cmd})", [("exec_command",
         {"cmd": "ls\n"})]),
        (f"await tools.apply_patch({json.dumps(PATCH)});", [("apply_patch", {"command": PATCH})]),
        (f"const p = {json.dumps(PATCH)};\ntools.apply_patch({{input: p}})", [("apply_patch",
         {"input": PATCH})]),
        (f"tools.apply_patch({json.dumps(PATCH.splitlines())}.join('\\n'))", [("apply_patch",
         {"command": PATCH})]),
        (f"const p = String.raw`{PATCH}`;\ntools.apply_patch(p)", [("apply_patch",
         {"command": PATCH})]),
        ('tools.exec_command({cmd: "a" + b, yield_time_ms: 5, tty: true})', [("exec_command",
         {"yield_time_ms": 5, "tty": True})]),
        ("tools.exec_command({cmd: `make ${x}`})", []),
        ("tools.exec_command(command)", []),
        ("tools.exec_command({cmd: f({a: [1, '}']}), n: [1, 2,], m: {}})", [("exec_command",
         {"n": [1, 2], "m": {}})]),
        ("tools.exec_command({cmd: '\\u0041\\x42\\u{43}'})", [("exec_command", {"cmd": "ABC"})]),
        ("text(1)", []),
    ],
)  # fmt: skip
def test_a_script_is_read(script: str, found: list[tuple[str, dict[str, Any]]]) -> None:
    assert calls_in(script) == found


@given(st.text(alphabet="tools.x({\"'`[]}),:;\\$nu1 \n", max_size=60))
def test_any_text_is_a_script(text: str) -> None:
    for script in (f"tools.x({text}", f"const a = {text}; tools.x(a)"):
        assert all(given for _, given in calls_in(script))


class Scripted(Rollout):
    """A rollout with scripts."""

    def script(self, source: str, *said: str, call: str = "x1") -> None:
        self.at_ms += 1000
        asked = {"type": "custom_tool_call", "call_id": call, "name": "exec", "input": source}
        self.item(**asked)
        self.answer(call, *said)

    def answer(self, call: str, *said: str) -> None:
        parts = [{"type": "input_text", "text": one} for one in said]
        kind = "custom_tool_call_output"
        self.item(type=kind, call_id=call, output=parts)

    def done(self, **item: Any) -> None:
        self.line("event_msg", type="item_completed", item=item)


@pytest.fixture
def made(shop: Path) -> Scripted:
    return Scripted(shop)


RESULT = json.dumps({"chunk_id": "a", "exit_code": 2, "output": "no rule"})


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ((HEAD, "ok"), Command(command="make", output="ok")),
        ((HEAD, RESULT), Command(command="make", output="no rule", exit_code=2, failed=True)),
        ((f"{HEAD}{RESULT}",), Command(command="make", output="no rule", exit_code=2, failed=True)),
        (
            ("Script failed\nWall time 1 seconds\nOutput:\n", "Error: no shell"),
            Command(command="make", output="Error: no shell", failed=True),
        ),
    ],
)
def test_a_script_with_one_command_is_that_command(
    made: Scripted, said: tuple[str, ...], command: Command
) -> None:
    made.script(MAKE, *said)
    (event,) = made.events()[1:-1]
    assert event.body == command
    assert event.cwd == "/w"


def test_a_script_that_goes_on_is_one_call(made: Scripted) -> None:
    made.script(MAKE, "Script running with cell ID 28\nWall time 10.0 seconds\nOutput:\n", "half\n")
    wait = {
        "type": "function_call",
        "call_id": "w1",
        "name": "wait",
        "arguments": '{"cell_id": "28"}',
    }
    made.item(**wait)
    made.item(type="function_call_output", call_id="w1", output=f"{HEAD}whole")
    made.script(MAKE, "Script running with cell ID 29\nOutput:\nbegun", call="x2")
    first, second = made.bodies()
    assert first == Command(command="make", output="half\nwhole")
    assert second == Command(command="make", output="begun")


def test_a_script_of_several_calls_is_each_of_them(made: Scripted) -> None:
    """Which of them printed what is not known."""
    source = (
        f"await tools.apply_patch({json.dumps(PATCH)});\n{MAKE}\n"
        'await tools.view_image({path: "a.png"}); tools.write_stdin({session_id: 7});'
        'await tools.web__run({search_query: [{q: "round"}]}); tools.update_plan({plan: []});'
    )
    made.script(source, HEAD, "so")
    patch, command, image, search, plan = made.bodies()
    assert isinstance(patch, FileWrite)
    assert (patch.path, patch.error) == ("cart.py", "")
    assert command == Command(command="make")
    assert image == FileRead(paths=("a.png",), tool="view_image")
    assert search == Search(query="round", where="web", tool="web_search")
    assert isinstance(plan, ToolUse)


def test_items_say_what_a_script_did(made: Scripted) -> None:
    """Whatever it was written like; they may come after its answer."""
    ran = {"type": "CommandExecution", "command": ["/bin/zsh", "-lc", "make all"]}
    change = {"type": "update", "unified_diff": "@@ -1 +1 @@\n-total = 1\n+total = 2\n"}
    made.done(**ran, id="exec-1", cwd="file:///the%20till", exit_code=2, aggregated_output="no")
    made.script(f"for (const c of all) {{ run(c) }}; {MAKE}", HEAD, "?")
    made.done(type="FileChange", id="exec-2", changes={"/p/cart.py": change}, status="completed")
    gone = {"/p/cart.py": {"type": "delete", "content": "x"}}
    made.line(
        "event_msg",
        type="patch_apply_end",
        call_id="exec-3",
        changes=gone,
        success=False,
        stderr="no",
    )
    first, write, failed = made.events()[1:-1]
    assert first.body == Command(command="make all", output="no", exit_code=2, failed=True)
    assert first.cwd == "/the till"
    assert isinstance(write.body, FileWrite)
    assert (write.body.path, write.body.edits[0].new) == ("/p/cart.py", "total = 2")
    assert isinstance(failed.body, FileWrite)
    assert (failed.body.operation, failed.body.error != "") == ("delete", True)


def test_a_script_that_calls_nothing_is_a_tool(made: Scripted) -> None:
    made.script("text(ALL_TOOLS.length)", HEAD, "9")
    (tool,) = made.bodies()
    assert isinstance(tool, ToolUse)
    assert (tool.tool, tool.output) == ("exec", "9")


def test_changes_of_files_are_a_patch() -> None:
    changes: dict[str, Any] = {
        "a.py": {"type": "add", "content": "x = 1\n"},
        "b.py": {"type": "update", "move_path": "c.py", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n"},
    }
    assert patch_of_changes(changes).splitlines() == [
        "*** Begin Patch",
        "*** Add File: a.py",
        "+x = 1",
        "*** Update File: b.py",
        "*** Move to: c.py",
        "@@ -1 +1 @@",
        "-a",
        "+b",
        "*** End Patch",
    ]


@pytest.mark.parametrize(
    "source",
    [
        'const r = await tools.mcp__notes__find({query: "mill"}); text(r);',
        "const r = await tools[name](given); text(r);",
    ],
)
def test_a_tool_of_a_script_is_the_call_that_hooks_report(made: Scripted, source: str) -> None:
    found = {"content": [{"type": "text", "text": "the mill"}]}
    asked = {"server": "notes", "tool": "find", "arguments": {"query": "mill"}, "result": found}
    made.done(type="McpToolCall", id="exec-1", status="completed", **asked)
    made.script(source, HEAD, "the mill")
    (event,) = made.events()[1:-1]
    assert isinstance(event.body, ToolUse)
    assert event.body.tool == "mcp__notes__find"
    assert "exec-1" in event.dedup
