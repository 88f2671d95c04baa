from __future__ import annotations

import pytest

from observer.capture.clients import tools
from observer.events import Search
from observer.front.toolsets import TOOLSETS


def test_every_tool_of_ours_is_known_for_ours() -> None:
    known = tools.OWN_QUESTIONS | tools.OWN_SECRETIVE
    assert known == {
        tool.name
        for toolset in TOOLSETS.values()
        for tool in toolset.tools(None, str)  # type: ignore[arg-type] # names ask no memory
    }


@pytest.mark.parametrize("server", ["mcp__observer__", "MCP:"])
@pytest.mark.parametrize("name", sorted(tools.OWN_SECRETIVE))
def test_of_what_we_are_told_no_copy_is_kept(name: str, server: str) -> None:
    given = {"content": "Bo left", "data": "Bo left", "user_id": "bo", "query": "bo"}
    call = tools.Call(tool=f"{server}{name}", given=given, response="Bo left", error="Bo")
    told = tools.make(call, {})
    assert "bo" not in repr(told).lower().replace(call.tool, "")


def test_what_is_recalled_is_a_question() -> None:
    given = {"action": "recall", "query": "cache"}
    told = tools.make(tools.Call(tool="@observer/memory", given=given, response="Bo left"), {})
    assert told == Search(query="cache", where="memory", tool="@observer/memory")


def test_tools_of_other_servers_are_not_ours() -> None:
    assert not tools.is_own("mcp__tracker__search")
    assert not tools.is_own("mcp__observer__get_issue")
    assert not tools.is_own("MCP:search")
