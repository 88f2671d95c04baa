"""The MCP front as clients see it: the SDK's own and the Inspector, with the rules of the house."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from observer.core.model import item_id
from observer.memory.api import Memory
from observer.notes.values import Note
from observer.serve.mcp.server import McpFront
from observer.tools.fence import MARK, MARKED, RECORDS

MODES = ("legacy", "2026-07-28", "auto")

LIMIT_BYTES = 2048
"""What clients keep of a description or of the instructions."""


@pytest.fixture(params=MODES)
def ask(request: pytest.FixtureRequest, stdio: StdioServerParameters) -> Any:
    """Run a coroutine function with a connected client, in each protocol era."""

    def run(work: Callable[[Client], Awaitable[Any]]) -> Any:
        async def connected() -> Any:
            async with asyncio.timeout(30), Client(stdio, mode=request.param) as client:
                return await work(client)

        return asyncio.run(connected())

    return run


def test_the_core_tools_are_listed(ask: Any) -> None:
    listed = ask(lambda client: client.list_tools()).tools
    names = [
        "search", "timeline", "get_observations", "get_context", "related", "memory", "resolve",
    ]  # fmt: skip
    assert [tool.name for tool in listed] == names
    for tool in listed:
        assert tool.annotations.read_only_hint == (tool.name not in {"memory", "resolve"})
        assert len(tool.description.encode()) < LIMIT_BYTES
        assert tool.output_schema["type"] == "object"


def test_an_answer_says_what_it_is_and_an_error_names_the_fix(ask: Any) -> None:
    async def both(client: Client) -> Any:
        return (
            await client.call_tool("memory", {"action": "recall", "query": "jwt"}),
            await client.call_tool("search", {"query": "jwt", "project": "nowhere"}),
        )

    recalled, result = ask(both)
    assert recalled.content[0].text.startswith(f"{RECORDS}\n")
    assert next(iter(recalled.structured_content.items())) == (MARK, MARKED)
    assert result.is_error
    assert result.content[0].text.startswith("no project 'nowhere'\nhint: name one, such as ")
    assert result.content[0].text.endswith("; observer status --projects lists them")


def test_context_and_summaries_are_resources_and_work_is_resumed_by_a_prompt(ask: Any) -> None:
    async def read(client: Client) -> Any:
        listed = await client.list_resources()
        return (
            await client.read_resource(listed.resources[0].uri),
            await client.read_resource("observer://session/14/summary"),
            await client.list_resource_templates(),
            await client.get_prompt("resume_work", {}),
        )

    context, summary, templates, prompt = ask(read)
    assert context.contents[0].mime_type == "text/markdown"
    assert "Use JWT" in context.contents[0].text
    assert "add JWT login" in summary.contents[0].text
    assert [template.uri_template for template in templates.resource_templates] == [
        "observer://project/{handle}/context",
        "observer://session/{id}/summary",
        "observer://item/{id}",
    ]
    assert "add JWT login" in prompt.messages[0].content.text


def test_an_unknown_resource_is_an_error(ask: Any) -> None:
    async def refused(client: Client) -> list[str]:
        said = []
        for name in ("session/99/summary", "session/x/summary", "item/99", "nothing"):
            with pytest.raises(MCPError) as error:
                await client.read_resource(f"observer://{name}")
            said.append(error.value.message)
        return said

    for message in ask(refused):
        assert re.search("no session|no resource|no item", message)


def test_a_client_survives_the_restart_of_the_daemon(ask: Any, serve: Callable[[], Any]) -> None:
    async def across(client: Client) -> Any:
        before = await client.call_tool("search", {"query": "jwt"})
        await asyncio.to_thread(serve)
        after = await client.call_tool("search", {"query": "jwt"})
        return before, after

    before, after = ask(across)
    assert before.structured_content == after.structured_content


def keep(memory: Memory, content: str, **fields: object) -> int:
    note = Note(content=content, type="rule", **fields)  # type: ignore[arg-type] # a test's own
    return memory.notes.remember(note, project="my-api", author="person").item.id


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_rule_is_in_the_instructions_of_the_next_connection(
    stdio: StdioServerParameters, memory: Memory, mode: str
) -> None:
    async def instructions() -> str:
        async with asyncio.timeout(30), Client(stdio, mode=mode) as client:
            return client.instructions or ""

    before = asyncio.run(instructions())
    assert "Search before" in before
    assert "House Rules" not in before
    assert len(before.encode()) < LIMIT_BYTES
    keep(memory, "Never push to main.", title="Pushing")
    shown = asyncio.run(instructions())
    assert shown.endswith("## House Rules\n\n### Pushing\nNever push to main.")
    assert shown.startswith("observer remembers")


def test_rules_hold_in_their_project(memory: Memory, tmp_path: Path) -> None:
    keep(memory, "Here only. ![it](https://evil.example/x.png)")
    keep(memory, "Everywhere.", scope="team")
    house = McpFront(memory, rules_chars=1_000)
    assert "Here only. ![it]\u2768https:" in house.rules(str(tmp_path / "my-api"))
    assert "Here only." not in house.rules(str(tmp_path / "other"))
    assert "Everywhere." in house.rules("")


def test_no_rule_is_cut(memory: Memory) -> None:
    keep(memory, "x" * 500, title="Long")
    keep(memory, "short", title="Short", scope="team")
    shown = McpFront(memory, rules_chars=100).rules("")
    assert shown == "## House Rules\n\n### Short\nshort"
    keep(memory, "y" * 500, scope="team")
    assert "1 more did not fit" in McpFront(memory, rules_chars=100).rules("")
    assert McpFront(memory).rules("") == ""


INSPECTOR = shutil.which("mcp-inspector")


@pytest.mark.slow
@pytest.mark.skipif(INSPECTOR is None, reason="mcp-inspector is not installed")
@pytest.mark.parametrize(
    ("method", "key"),
    [
        (["tools/list"], "tools"),
        (["resources/list"], "resources"),
        (["resources/templates/list"], "resourceTemplates"),
        (["resources/read", "--uri", "ui://observer/search"], "contents"),
        (["prompts/list"], "prompts"),
        (["tools/call", "--tool-name", "search", "--tool-arg", "query=jwt"], "structuredContent"),
        (["prompts/get", "--prompt-name", "resume_work"], "messages"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_the_inspector_understands_us(
    stdio: StdioServerParameters, method: list[str], key: str
) -> None:
    assert INSPECTOR is not None
    assert stdio.env is not None
    command = [INSPECTOR, "--cli", "-e", f"OBSERVER_HOME={stdio.env['OBSERVER_HOME']}"]
    command += [stdio.command, *stdio.args, "--method", *method]
    run = subprocess.run(command, cwd=stdio.cwd, capture_output=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr.decode()
    shown: dict[str, Any] = json.loads(run.stdout)
    assert shown[key]
    if key == "structuredContent":
        assert item_id(12) in [row["id"] for row in shown[key]["observations"]]


def test_serving_needs_no_sdk() -> None:
    code = """if True:
        import sys
        import observer.serve.daemon, observer.serve.http
        print(sorted({"mcp", "mcp_types", "pydantic"} & sys.modules.keys()))
    """
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"
