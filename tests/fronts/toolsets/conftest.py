from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from observer.tools.fence import RECORDS

Work = Callable[[Client], Awaitable[Any]]
HEAD, FOOT = f"{RECORDS}\n", "\n```"
FENCED = f"{HEAD}```text\n"


@pytest.fixture
def unmarked() -> Callable[[Any], str]:
    """Return what takes the label off the text of a tool's answer, and the fence."""

    def text_of(result: Any) -> str:
        text: str = result.content[0].text
        if text.startswith(FENCED):
            return text.removeprefix(FENCED).removesuffix(FOOT)
        return text.removeprefix(HEAD)

    return text_of


@pytest.fixture
def ask(stdio: StdioServerParameters) -> Callable[[str, Work], Any]:
    """Run a coroutine function with a client of some toolsets: the SDK's own, over the pump."""

    def run(toolsets: str, work: Work) -> Any:
        chosen = stdio.model_copy(update={"args": [*stdio.args, "--tools", toolsets]})

        async def connected() -> Any:
            async with asyncio.timeout(30), Client(chosen) as client:
                return await work(client)

        return asyncio.run(connected())

    return run


@pytest.fixture
def calls(ask: Callable[[str, Work], Any]) -> Callable[..., Any]:
    """Call tools of some toolsets, one after the other, in one connection."""

    def run(toolsets: str, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
        async def all_of_them(client: Client) -> list[Any]:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

        found: list[Any] = ask(toolsets, all_of_them)
        return found

    return run
