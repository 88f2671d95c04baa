"""Storing a backlog waits for calls that are being answered, and not for long."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from observer.serve import servers
from observer.serve.servers import LazyMcp


class Front:
    """Answers so many calls, one fewer at each look."""

    def __init__(self, calls: int) -> None:
        self.left = calls
        self.looks = 0

    def calls(self) -> int:
        self.looks += 1
        self.left -= 1
        return max(self.left, 0)


def lazy(front: Front | None) -> LazyMcp:
    async def made() -> LazyMcp:
        return LazyMcp(cast("Any", None), cast("Any", None), 0)

    mcp = asyncio.run(made())
    mcp._front = cast("Any", front)
    return mcp


def test_it_waits_until_no_call_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "GIVE_WAY_S", 60.0)
    front = Front(calls=4)
    mcp = lazy(front)
    mcp._may_wait_s = 60.0
    mcp.give_way()
    assert (front.left, front.looks) == (0, 4)


def test_it_goes_on_though_somebody_asks_all_the_time() -> None:
    front = Front(calls=1_000_000)
    lazy(front).give_way()
    assert front.left > 0


def test_it_waits_no_longer_than_its_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has waited as long as it may works on, and has to earn the next pause by work."""
    monkeypatch.setattr(servers, "GIVE_WAY_SHARE", 0.0)
    front = Front(calls=1_000_000)
    mcp = lazy(front)
    mcp._may_wait_s = 0.003
    mcp.give_way()
    looks = front.looks
    assert looks > 1
    mcp.give_way()
    assert front.looks == looks + 1


def test_it_hurries_where_somebody_waits_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "GIVE_WAY_S", 60.0)
    front = Front(calls=1_000_000)
    mcp = lazy(front)
    mcp._may_wait_s = 60.0
    mcp.give_way(lambda: True)
    assert front.looks == 1


def test_before_the_first_connection_it_does_not_wait() -> None:
    mcp = lazy(None)
    mcp.give_way()
    assert mcp._front is None
