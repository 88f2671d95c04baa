"""One event from the hook to the MCP answer, through every real part there is.

A real sh hook writes a file, a real daemon process stores it in real SQLite, and a real MCP client
asks a real `observer mcp` over stdio.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from observer.core.paths import Home
from observer.local import client
from tests.support import told_by_hook

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
Tell = Callable[..., None]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = tmp_path / "shop"
    for command in ("init -q -b main", "commit -q --allow-empty -m Begin"):
        made.mkdir(exist_ok=True)
        subprocess.run(["git", "-C", str(made), *command.split()], check=True)
    return made


@pytest.fixture
def tell(repository: Path) -> Tell:
    return told_by_hook(repository)


def an_hour_of_work(tell: Tell, repository: Path) -> None:
    cart = str(repository / "cart.py")
    tell("SessionStart", source="startup")
    tell("UserPromptSubmit", prompt="why does the cart total differ by a cent?", prompt_id="p1")
    tell("PostToolUse", tool_name="Read", tool_use_id="t1", tool_input={"file_path": cart})
    tell(
        "PostToolUseFailure",
        tool_name="Bash",
        tool_use_id="t2",
        tool_input={"command": "pytest -q tests/test_cart.py"},
        error="Exit code 1\nFAILED tests/test_cart.py::test_total - assert 9.99 == 10.0\n"
        "1 failed, 2 passed in 0.31s",
    )
    tell(
        "PostToolUse",
        tool_name="Edit",
        tool_use_id="t3",
        tool_input={
            "file_path": cart,
            "old_string": "def total(lines):\n    return round(sum(lines), 2)",
            "new_string": "def total(lines):\n    return sum(lines).quantize(CENT)",
        },
    )
    tell(
        "PostToolUse",
        tool_name="Bash",
        tool_use_id="t4",
        tool_input={"command": "pytest -q tests/test_cart.py"},
        tool_response={"stdout": "3 passed in 0.30s", "stderr": "", "interrupted": False},
    )
    tell("SessionEnd", reason="other")


async def ask(mode: str, work: Callable[[Client], Awaitable[Any]], cwd: Path) -> Any:
    pump = StdioServerParameters(
        command=sys.executable,
        args=["-m", "observer", "mcp"],
        cwd=str(cwd),
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
    )
    async with Client(pump, mode=mode) as client:
        return await work(client)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_what_a_hook_saw_is_what_an_agent_is_shown(
    mode: str,
    tell: Tell,
    repository: Path,
    home: Home,
    observer: Callable[..., Any],
    within: Callable[..., Any],
    until: Callable[..., None],
) -> None:
    an_hour_of_work(tell, repository)  # nobody listens yet: the spool holds it
    assert observer("up").returncode == 0

    def status() -> Any:
        return json.loads(within("status", "--json").stdout)

    until(lambda: status()["events"] == 7)
    assert (status()["spool_depth"], status()["bad_events"], status()["degraded"]) == (0, 0, None)

    async def story(client: Client) -> tuple[Any, ...]:
        tools = await client.list_tools()
        found = await client.call_tool("search", {"query": "cart total", "project": "shop"})
        anchor = found.structured_content["observations"][0]["id"]
        around = await client.call_tool("timeline", {"anchor_id": anchor, "depth_before": 9})
        context = await client.call_tool("get_context", {"project": "shop"})
        asked = {"query": "cart total", "project": "shop", "type": "summary"}
        summed = await client.call_tool("search", asked)
        ids = [summed.structured_content["summaries"][0]["id"]]
        records = await client.call_tool("get_observations", {"ids": ids})
        (record,) = records.structured_content["observations"]
        return tools, record["answers"], around.structured_content, context

    tools, summary, around, context = asyncio.run(ask(mode, story, repository))
    assert {tool.name for tool in tools.tools} == {
        "search", "timeline", "get_observations", "get_context", "related", "memory", "resolve",
    }  # fmt: skip
    types = [entry["type"] for entry in around["timeline"]]
    assert [t for t in types if t != "summary"] == [
        "turn", "command", "file-write", "command", "fix",
    ]  # fmt: skip
    assert "cent" in summary["request"]
    assert "total" in summary["completed"]
    assert "learned" not in summary  # nothing was decided or noted
    assert context.structured_content["tokensUsed"] <= 2000
    assert "cart.py" in context.content[0].text


def test_the_next_session_starts_with_what_the_last_one_knew(
    tell: Tell, repository: Path, observer: Callable[..., Any], until: Callable[..., None]
) -> None:
    an_hour_of_work(tell, repository)
    observer("up")

    def context() -> str:
        argv = ["sh", str(ROOT / "hooks" / "context"), "claude-code"]
        return subprocess.run(argv, cwd=repository, capture_output=True, text=True).stdout  # noqa: PLW1510 - an empty answer is an answer

    until(lambda: "cart.py" in context())
    assert observer("down").returncode == 0
    assert "cart.py" in context()
    assert len(context()) <= 10_000


def test_an_agents_note_is_recalled_and_forgotten(
    home: Home,
    repository: Path,
    tell: Tell,
    observer: Callable[..., Any],
    until: Callable[..., None],
) -> None:
    tell("UserPromptSubmit", prompt="hello")
    observer("up")
    until(lambda: client.call(home, "GET", "/status")["events"] == 1)

    async def notes(client: Client) -> list[str]:
        async def memory(**arguments: Any) -> str:
            answer = await client.call_tool("memory", arguments)
            text = str(answer.content[0].text)
            return text.partition("```text\n")[2].removesuffix("\n```") or text

        stored = await memory(
            action="remember", content="Money is Decimal", fact_type="decision", key="money"
        )
        number = stored.rsplit(" ", 1)[-1]
        again = await memory(action="remember", content="Money is Decimal, in cents", key="money")
        recalled = await memory(action="recall", query="decimal")
        gone = await memory(action="forget", id=number)
        return [stored.replace(number, "N"), again.replace(number, "N"), recalled, gone]

    stored, again, recalled, gone = asyncio.run(ask("auto", notes, repository))
    assert stored == "Memory stored successfully with ID: N"
    assert again == "Memory updated successfully (ID: N)"
    assert "in cents" in recalled
    assert " deleted.\nFinal at " in gone
