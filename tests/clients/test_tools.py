from __future__ import annotations

import pytest

from observer.clients import tools
from observer.clients.envelope import Json
from observer.clients.shelf import claude_code
from observer.core import own_tools
from observer.core.events import Command, Search, ToolUse
from observer.tools.registry import toolsets


def test_every_tool_of_ours_is_known_for_ours() -> None:
    known = own_tools.OWN_QUERIES | own_tools.OWN_PRIVATE_TOOLS
    assert known == {
        tool.name
        for toolset in toolsets().values()
        for tool in toolset.tools(None, str)  # type: ignore[arg-type] # names ask no memory
    }


@pytest.mark.parametrize("server", ["mcp__observer__", "MCP:"])
@pytest.mark.parametrize("name", sorted(own_tools.OWN_PRIVATE_TOOLS))
def test_of_what_we_are_shown_no_copy_is_kept(name: str, server: str) -> None:
    given = {"content": "Bo left", "data": "Bo left", "user_id": "bo", "query": "bo"}
    call = tools.ToolCall(tool=f"{server}{name}", given=given, response="Bo left", error="Bo")
    shown = tools.make(call, {})
    assert "bo" not in repr(shown).lower().replace(call.tool, "")


def test_what_is_recalled_is_a_question() -> None:
    given = {"action": "recall", "query": "cache"}
    shown = tools.make(tools.ToolCall(tool="@observer/memory", given=given, response="Bo left"), {})
    assert shown == Search(query="cache", where="memory", tool="@observer/memory")


def test_tools_of_other_servers_are_not_ours() -> None:
    assert not own_tools.is_own_tool("mcp__tracker__search")
    assert not own_tools.is_own_tool("mcp__observer__get_issue")
    assert not own_tools.is_own_tool("MCP:search")


@pytest.mark.parametrize(
    "spelled",
    [
        "mcp__observer__search",
        "mcp__observer-memex__search_notes",
        "mcp__plugin_tools_observer__get_observations",
        "mcp_observer_get_context",
        "functions.mcp__observer__why",
        "observer_search",
        "observer-search",
        "observer_get_observations",
        "observer-memory-search",
        "observer___search",
        "observer/search",
        "observer.timeline",
        "@observer/search",
        "Observer: search",
        "MCP: search (observer)",
        "search (observer MCP Server)",
        "MCP:get_observations",
    ],
)
def test_our_tools_are_known_in_every_spelling(spelled: str) -> None:
    shown = tools.make(tools.ToolCall(tool=spelled, given={"query": "cache"}, response="#1 Bo"), {})
    assert shown == Search(query="cache", where="memory", tool=spelled)


@pytest.mark.parametrize(
    "spelled",
    [
        "mcp__intersection-observer__search",
        "mcp__github__observer_search_repositories",
        "search",
        "observer",
        "search (github)",
        "observer_" * 100,
    ],
)
def test_a_name_that_only_holds_ours_is_not_ours(spelled: str) -> None:
    assert not own_tools.is_own_tool(spelled)


def test_a_tool_for_all_servers_is_known_by_the_server_it_calls() -> None:
    given = {"server_name": "observer", "tool_name": "search", "arguments": {"query": "cache"}}
    shown = tools.make(tools.ToolCall(tool="use_mcp_tool", given=given, response="#1"), {})
    assert shown == Search(query="cache", where="memory", tool="mcp__observer__search")
    elsewhere = tools.ToolCall(tool="use_mcp_tool", given={**given, "server_name": "tracker"})
    assert isinstance(tools.make(elsewhere, {}), ToolUse)


@pytest.mark.parametrize(
    ("tool", "response", "output"),
    [
        (
            "Grep",
            {"mode": "files_with_matches", "filenames": [], "numFiles": 0},
            "No matches found",
        ),
        ("Grep", {"mode": "content", "content": "a.py:1:x", "filenames": []}, "a.py:1:x"),
        ("Glob", {"filenames": ["a.py", "b.py"], "truncated": False}, "a.py\nb.py"),
        ("Glob", "", ""),
        (
            "WebSearch",
            {
                "query": "q",
                "results": [{"content": [{"title": "T", "url": "https://e.org"}]}, "So"],
            },
            "T (https://e.org)\nSo",
        ),
    ],
)
def test_a_search_is_answered_in_text(tool: str, response: Json, output: str) -> None:
    call = tools.ToolCall(tool=tool, given={"pattern": "x", "query": "x"}, response=response)
    made = tools.make(call, claude_code.TOOLS)
    assert isinstance(made, Search)
    assert made.output == output


@pytest.mark.parametrize(
    ("response", "output"),
    [
        (
            {"stdout": "", "stderr": "", "backgroundTaskId": "b1"},
            "Command running in background with ID: b1",
        ),
        ({"stdout": "on", "stderr": "", "backgroundTaskId": "b1"}, "on"),
        ({"stdout": "", "stderr": ""}, ""),
    ],
)
def test_a_command_that_was_sent_to_the_background_says_so(response: Json, output: str) -> None:
    call = tools.ToolCall(tool="Bash", given={"command": "make"}, response=response)
    shown = tools.make(call, claude_code.TOOLS)
    assert shown == Command(command="make", output=output)
