"""Our plugins in clients that run JavaScript: what they report, add and never do, under node."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.clients.config_files.context import InstallContext, InstallPlan
from observer.clients.installers import install, perform
from observer.core.errors import ConfigInvalid
from observer.core.events import Command, Delegation, Event, Prompt, Reply, SessionEnd, SessionStart
from observer.core.value import TokenUsage
from observer.ingest.decode import decode
from observer.local.spool import Spool
from tests.support import ended, put_file

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")

DRIVER = """
import { readFileSync } from "node:fs"
import * as plugin from %(plugin)s
const exported = Object.values(plugin)
if (exported.length !== 1) throw new Error("every export is called as a plugin")
const hooks = await exported[0]({ directory: %(folder)s })
const answers = []
for (const [name, input, output] of JSON.parse(readFileSync(0, "utf8"))) {
  await hooks[name](input, output)
  answers.push(output ?? null)
}
process.stdout.write(JSON.stringify(answers))
"""
PI_DRIVER = """
import { readFileSync } from "node:fs"
import extend from %(plugin)s
const handlers = {}
extend({ on: (event, handler) => (handlers[event] = handler) })
const ctx = { cwd: %(folder)s, sessionManager: { getSessionId: () => "s1" } }
const answers = []
for (const [name, event] of JSON.parse(readFileSync(0, "utf8"))) {
  answers.push((await handlers[name]({ type: name, ...event }, ctx)) ?? null)
}
answers.push(process.env.PI_SESSION_ID ?? null)
process.stdout.write(JSON.stringify(answers))
"""
CHILD = {"id": "c1", "parentID": "s1"}

Run = Callable[..., list[Any]]


@pytest.fixture
def folder(tmp_path: Path, context: InstallContext) -> Path:
    """A project with context for OpenCode and Pi."""
    folder = tmp_path / "my project"
    folder.mkdir()
    mirror = context.home.context / "by-path" / folder.relative_to("/")
    put_file(mirror / "CONTEXT.md", "for anyone")
    (mirror / "CONTEXT.opencode.md").write_text("what was done")
    (mirror / "CONTEXT.pi.md").write_text("what Pi did")
    return folder


@pytest.fixture
def run(context: InstallContext, folder: Path, put: Callable[[str], InstallPlan]) -> Run:
    """Call hooks of the installed plugin in their order; return what they made of their outputs."""
    put("opencode")
    plugin = context.user_home / ".config" / "opencode" / "plugins" / "observer.js"
    return lambda *calls: driven(DRIVER, plugin, folder, calls, context)


@pytest.fixture
def run_pi(context: InstallContext, folder: Path, put: Callable[[str], InstallPlan]) -> Run:
    """Call handlers of the installed extension; return their answers and then `PI_SESSION_ID`."""
    put("pi")
    extension = context.user_home / ".pi" / "agent" / "extensions" / "observer.js"
    return lambda *calls: driven(PI_DRIVER, extension, folder, calls, context)


def driven(
    driver: str, plugin: Path, folder: Path, calls: object, context: InstallContext
) -> list[Any]:
    module = plugin.with_suffix(".mjs")
    module.write_bytes(plugin.read_bytes())
    names = {"plugin": json.dumps(str(module)), "folder": json.dumps(str(folder))}
    argv = ["node", "--input-type=module", "-e", driver % names]
    env = {**os.environ, "OBSERVER_HOME": str(context.home.root)}
    done = ended(argv, input=json.dumps(calls), timeout=60, check=True, env=env)
    assert done.stderr == ""
    return list(json.loads(done.stdout))


def reported(context: InstallContext) -> list[Event]:
    entries = Spool(context.home.spool).claim(at_most=100)
    found = [decode(one.id, one.data, one.at_ms, cap_bytes=65_536) for one in entries]
    return [event for events in found for event in events]


def bus(kind: str, **properties: Any) -> tuple[str, Any, Any]:
    return "event", {"event": {"type": kind, "properties": properties}}, None


def message(session: str, said: str) -> tuple[str, Any, Any]:
    parts = [{"type": "text", "text": said}]
    return "chat.message", {"sessionID": session}, {"message": {"id": "m1"}, "parts": parts}


def tool(session: str, command: str) -> tuple[str, Any, Any]:
    given = {"tool": "bash", "sessionID": session, "callID": command, "args": {"command": command}}
    return "tool.execute.after", given, {"output": "2 calc.py", "metadata": {"exit": 0}}


def test_a_session_is_reported_in_order(run: Run, context: InstallContext, folder: Path) -> None:
    run(
        bus("session.created", info={"id": "s1"}),
        message("s1", "count the lines"),
        tool("s1", "wc -l calc.py"),
        ("experimental.text.complete", {"sessionID": "s1"}, {"text": "Two lines."}),
        bus("session.idle", sessionID="s1"),
        ("dispose", None, None),
    )
    events = reported(context)
    assert {(event.client, event.session, event.cwd) for event in events} == {
        ("opencode", "s1", str(folder))
    }
    assert [type(event.body) for event in events] == [
        *(SessionStart, Prompt, Command, Reply, SessionEnd)
    ]
    assert events[3].body == Reply(text="Two lines.")


def answer(session: str, number: str, *counts: int, **time: int) -> tuple[str, Any, Any]:
    given, written, reasoning, read = counts
    cache = {"read": read, "write": 0}
    tokens = {"input": given, "output": written, "reasoning": reasoning, "cache": cache}
    info = {"id": number, "role": "assistant", "sessionID": session, "tokens": tokens}
    return bus("message.updated", info={**info, "time": time})


def test_a_reply_has_the_tokens_of_its_turn(run: Run, context: InstallContext) -> None:
    """Each message once, however often it is reported, and those of sub-agents, but no older one.

    What is seen of another session does not begin it.
    """
    run(
        bus("session.created", info={"id": "s1"}),
        bus("message.updated", info={"id": "u1", "role": "user", "sessionID": "s1"}),
        answer("s1", "a0", 500, 10, 0, 0, created=1),
        answer("other", "o1", 5, 1, 0, 0),
        answer("s1", "a1", 0, 0, 0, 0),
        answer("s1", "a1", 100, 20, 5, 1000),
        bus("session.created", info=CHILD),
        answer("c1", "b1", 30, 4, 0, 0),
        bus("session.idle", sessionID="c1"),
        bus("session.idle", sessionID="s1"),
        answer("s1", "a1", 100, 20, 5, 1000),
        answer("s1", "a2", 7, 1, 0, 0),
        bus("session.idle", sessionID="s1"),
        bus("session.idle", sessionID="s1"),
        ("dispose", None, None),
    )
    events = reported(context)
    bodies = [event.body for event in events]
    assert [body.usage for body in bodies if isinstance(body, Reply)] == [
        TokenUsage(input=130, output=29, cache_read=1000),
        TokenUsage(input=7, output=1),
        None,
    ]
    assert {event.session for event in events} == {"s1", "c1"}


def test_a_sub_agents_session_is_a_delegation(run: Run, context: InstallContext) -> None:
    run(
        bus("session.created", info={"id": "s1"}),
        bus("session.created", info=CHILD),
        message("c1", "count lines"),
        bus("session.idle", sessionID="c1"),
        ("dispose", None, None),
    )
    found = [(event.session, event.body) for event in reported(context)]
    assert found[1] == ("c1", SessionStart(source="subagent", parent_session="s1"))
    assert found[2] == ("s1", Delegation(task="count lines"))
    assert not any(isinstance(body, Reply) for _, body in found)


def test_a_tool_that_failed_is_reported(run: Run, context: InstallContext) -> None:
    state = {"status": "error", "input": {"command": "rm x"}, "error": "denied"}
    part = {"type": "tool", "tool": "bash", "callID": "1", "sessionID": "s1", "state": state}
    pending = {**part, "state": {"status": "pending"}}
    run(
        bus("message.part.updated", sessionID="s1", part=pending),
        bus("message.part.updated", sessionID="s1", part=part),
        ("dispose", None, None),
    )
    (event,) = reported(context)
    assert isinstance(event.body, Command)
    assert (event.body.command, event.body.output, event.body.failed) == ("rm x", "denied", True)


def test_a_session_that_goes_on_is_begun_once(run: Run, context: InstallContext) -> None:
    run(message("s1", "go on"), message("s1", "and on"), ("dispose", None, None))
    bodies = [event.body for event in reported(context)]
    assert bodies[0] == SessionStart(source="resume")
    assert [type(body) for body in bodies[1:]] == [Prompt, Prompt, SessionEnd]


def test_the_context_is_in_the_system_prompt_of_a_main_session(run: Run) -> None:
    transform = "experimental.chat.system.transform"
    title = "You are a title generator. You output ONLY a thread title."
    answers = run(
        bus("session.created", info=CHILD),
        (transform, {"sessionID": "s1"}, {"system": ["You are a coder."]}),
        (transform, {"sessionID": "c1"}, {"system": ["You are a coder."]}),
        (transform, {"sessionID": "s1"}, {"system": [title]}),
        (transform, {}, {"system": []}),
    )
    assert [answer["system"] for answer in answers[1:]] == [
        ["You are a coder.", "what was done"],
        ["You are a coder."],
        [title],
        [],
    ]


def test_context_is_asked_for_before_the_first_prompt(run: Run, context: InstallContext) -> None:
    spooled = f"cat '{context.home.spool}'/new/* 2>/dev/null | grep -c 'mend the mill'; true\n"
    (context.home.hooks / "context").write_text(f"#!/bin/sh\n{spooled}")
    answers = run(
        bus("session.created", info={"id": "s1"}),
        message("s1", "mend the mill"),
        ("experimental.chat.system.transform", {"sessionID": "s1"}, {"system": []}),
    )
    assert answers[-1]["system"] == ["0\n"]


def test_a_shell_knows_its_session(run: Run) -> None:
    answers = run(
        ("shell.env", {"sessionID": "s1"}, {"env": {"A": "1"}}), ("shell.env", {}, {"env": {}})
    )
    assert answers == [{"env": {"A": "1", "OPENCODE_SESSION_ID": "s1"}}, {"env": {}}]


def test_nothing_is_thrown_where_the_home_is_gone(run: Run, context: InstallContext) -> None:
    shutil.rmtree(context.home.root)
    transform = ("experimental.chat.system.transform", {"sessionID": "s1"}, {"system": ["a"]})
    answers = run(
        transform, message("s1", "hello"), tool("s1", "ls"), bus("odd"), ("dispose", None, None)
    )
    assert answers[0] == {"system": ["a"]}
    assert len(answers[1]["parts"]) == 1


def test_an_event_of_another_shape_is_survived(run: Run, context: InstallContext) -> None:
    run(
        bus("session.created"),
        bus("message.part.updated", part=None),
        ("event", {"event": {"type": "session.idle"}}, None),
        ("tool.execute.after", {"tool": "bash"}, {}),
    )
    assert [event.body for event in reported(context)] == [Command(command="", failed=False)]


def remind(context: InstallContext, text: str) -> None:
    """Let `hooks/recall` print a text, as it does where a daemon knows something."""
    (context.home.hooks / "recall").write_text(f'#!/bin/sh\nprintf "%s" "{text} ($2)"\n')


def test_a_reminder_is_behind_the_output_of_a_command(run: Run, context: InstallContext) -> None:
    remind(context, "use make test")
    read = {"tool": "read", "sessionID": "s1", "callID": "1", "args": {}}
    answers = run(
        tool("s1", "wc -l calc.py"),
        ("tool.execute.after", read, {"output": "1: def add"}),
        message("s1", "count the lines"),
    )
    assert answers[0]["output"] == "2 calc.py\n\nuse make test (tool.execute.after)"
    assert answers[1]["output"] == "1: def add"
    assert len(answers[2]["parts"]) == 1


def test_pi_adds_a_reminder_to_a_commands_output(run_pi: Run, context: InstallContext) -> None:
    remind(context, "use make test")
    printed = [{"type": "text", "text": "2"}]
    call = {"toolCallId": "1", "input": {}, "content": printed, "isError": False}
    answers = run_pi(
        ("tool_result", {"toolName": "bash", **call}), ("tool_result", {"toolName": "read", **call})
    )
    added = {"type": "text", "text": "use make test (tool_result)"}
    assert answers[:2] == [{"content": [*printed, added]}, None]


def test_pi_reports_a_session(run_pi: Run, context: InstallContext, folder: Path) -> None:
    usage = {"input": 100, "output": 20, "cacheRead": 9, "cacheWrite": 1, "totalTokens": 130}
    called = {"role": "assistant", "content": [], "usage": usage}
    said = {**called, "content": [{"type": "text", "text": "Two lines."}]}
    call = {"toolName": "bash", "toolCallId": "1", "input": {"command": "wc -l calc.py"}}
    answers = run_pi(
        ("session_start", {"reason": "startup"}),
        ("before_agent_start", {"prompt": "count the lines", "systemPrompt": "You are Pi."}),
        ("tool_result", {**call, "content": [{"type": "text", "text": "2"}], "isError": False}),
        ("agent_end", {"messages": [{"role": "user", "content": []}, called, said]}),
        ("session_shutdown", {"reason": "quit"}),
    )
    assert answers[1] == {"systemPrompt": "You are Pi.\n\nwhat Pi did"}
    assert answers[2:] == [None, None, None, "s1"]
    events = reported(context)
    assert {(event.client, event.session, event.cwd) for event in events} == {
        ("pi", "s1", str(folder))
    }
    assert [type(event.body) for event in events] == [
        *(SessionStart, Prompt, Command, Reply, SessionEnd)
    ]
    usage_of_both = TokenUsage(input=200, output=40, cache_read=18, cache_write=2)
    assert events[3].body == Reply(text="Two lines.", usage=usage_of_both)


def test_pi_goes_on_where_the_home_is_gone(run_pi: Run, context: InstallContext) -> None:
    shutil.rmtree(context.home.root)
    answers = run_pi(
        ("before_agent_start", {"prompt": "hello", "systemPrompt": "You are Pi."}),
        ("agent_end", {"messages": []}),
        ("session_shutdown", {}),
    )
    assert answers[:3] == [None, None, None]


@pytest.mark.parametrize("name", ["opencode", "kilo"])
def test_a_plugin_of_somebody_else_is_refused(name: str, context: InstallContext) -> None:
    theirs = context.user_home / ".config" / name / "plugins" / "observer.js"
    put_file(theirs, "export const Mine = async () => ({})\n")
    with pytest.raises(ConfigInvalid, match="not a file of observer"):
        install(name, context)


def test_an_old_plugin_goes(context: InstallContext, put: Callable[[str], InstallPlan]) -> None:
    put("opencode")
    plugin = context.user_home / ".config" / "opencode" / "plugins" / "observer.js"
    current = plugin.read_bytes()
    plugin.write_bytes(current.splitlines(keepends=True)[0])
    perform(install("opencode", context), context.home, at_ms=1)
    assert plugin.read_bytes() == current
