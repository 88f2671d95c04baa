from __future__ import annotations

import asyncio
from typing import Any

import anyio
import pytest
from mcp import types
from mcp.shared.exceptions import MCPError

from observer.core.errors import NotFound, ObserverError
from observer.memory.api import Memory
from observer.serve.mcp.handlers import McpHandlers, ResultPassthrough
from observer.tools.documents import Documents
from observer.tools.tool import JsonRpcError, ResultRow, Tool, ToolResult

ANY: Any = None  # no handler of ours looks at the SDK's context


class Nothing(ResultRow):
    pass


def crash() -> ToolResult[Nothing]:
    """Crash."""
    raise RuntimeError("inside")


def refused(error: ObserverError) -> JsonRpcError:
    return JsonRpcError(code=-32603, message=f"Internal error: {error.message}", data={"type": "X"})


def missing() -> ToolResult[Nothing]:
    """Find nothing."""
    raise NotFound("nothing there")


@pytest.fixture
def face(memory: Memory) -> McpHandlers:
    tools = {"crash": Tool(run=crash, title="Crash")}
    return McpHandlers(tools, Documents(memory, str), anyio.CapacityLimiter(1), ResultPassthrough())


def test_a_crash_is_logged_and_tells_nothing_of_the_inside(
    face: McpHandlers, caplog: pytest.LogCaptureFixture
) -> None:
    params = types.CallToolRequestParams(name="crash")
    result = asyncio.run(face.call_tool(ANY, params))
    (content,) = result.content
    assert result.is_error
    assert isinstance(content, types.TextContent)
    assert content.text == "crash failed inside observer\nhint: see the daemon's log"
    assert "RuntimeError: inside" in caplog.text


def test_an_unknown_tool_is_a_protocol_error(face: McpHandlers) -> None:
    with pytest.raises(MCPError, match="no tool 'x'"):
        asyncio.run(face.call_tool(ANY, types.CallToolRequestParams(name="x")))


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        pytest.param("missing", "Internal error: nothing there", id="refused"),
        pytest.param("crash", "Internal error: crash failed inside observer", id="unforeseen"),
    ],
)
def test_a_toolset_may_speak_json_rpc(memory: Memory, tool: str, message: str) -> None:
    tools = {run.__name__: Tool(run=run, title="", refusal=refused) for run in (missing, crash)}
    speaking = McpHandlers(
        tools, Documents(memory, str), anyio.CapacityLimiter(1), ResultPassthrough()
    )
    with pytest.raises(MCPError) as shown:
        asyncio.run(speaking.call_tool(ANY, types.CallToolRequestParams(name=tool)))
    assert (shown.value.code, shown.value.message, shown.value.data) == (
        -32603,
        message,
        {"type": "X"},
    )
    with pytest.raises(MCPError) as unknown:
        asyncio.run(speaking.call_tool(ANY, types.CallToolRequestParams(name="x")))
    assert unknown.value.code == types.METHOD_NOT_FOUND


def test_each_prompt_takes_a_project(face: McpHandlers) -> None:
    prompts = asyncio.run(face.list_prompts(ANY, None)).prompts
    assert [prompt.name for prompt in prompts] == ["resume_work", "review"]
    assert [(prompt.arguments or [])[0].name for prompt in prompts] == ["project", "project"]


def test_an_unknown_prompt_is_a_protocol_error(face: McpHandlers) -> None:
    with pytest.raises(MCPError, match="no prompt 'x'"):
        asyncio.run(face.get_prompt(ANY, types.GetPromptRequestParams(name="x")))


def test_a_prompt_without_a_project_names_the_fix(face: McpHandlers) -> None:
    with pytest.raises(MCPError, match=r"name one, such as .*observer status --projects"):
        asyncio.run(face.get_prompt(ANY, types.GetPromptRequestParams(name="resume_work")))


def test_nothing_is_at_hand_where_no_project_is_known(face: McpHandlers) -> None:
    assert asyncio.run(face.list_resources(ANY, None)).resources == []
