"""Search among people: by one, one's own, and what others share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from observer.core.errors import BadInput, NotFound
from observer.core.filters import OWN
from observer.core.model import Item, item_id, item_uuid
from observer.core.paths import Home
from observer.memory.api import Memory
from observer.search.handles import SearchOptions
from observer.store.database import SqliteStore
from observer.tools.parse_filters import parse_filters
from tests.support import memory_over

NOW_MS = 1_800_000_000_000


def an_item(seq: int, title: str, **fields: Any) -> Item:
    at_ms = NOW_MS - seq * 60_000
    given: dict[str, Any] = {"kind": "observation", "type": "decision", "project_id": 1}
    given |= {"created_ms": at_ms, "updated_ms": at_ms} | fields
    return Item(id=item_id(seq), uuid=item_uuid(f"e{seq}", at_ms), title=title, **given)


def memory_of(store: SqliteStore, home: Home, items: Sequence[Item]) -> Memory:
    with store.write() as writer:
        writer.put_items(items)
    return memory_over(store, home, NOW_MS)


ITEMS = (
    an_item(1, "fees are rounded up", kind="note", type="decision"),
    an_item(2, "fees are rounded down", kind="note", type="decision", person="bea"),
    an_item(3, "fees on the laptop", kind="note", type="decision", person=OWN),
    an_item(4, "Round fees", type="commit", subtitle="commit 12ab by Eva Lee"),
)


@pytest.fixture
def memory(store: SqliteStore, home: Home) -> Memory:
    return memory_of(store, home, ITEMS)


def titles(memory: Memory, query: str = "fees", **narrow: Any) -> set[str]:
    found = memory.search(query, narrow=SearchOptions(**narrow))
    return {hit.item.title for hit in found.hits}


@pytest.mark.parametrize("query", ["fees", "fees OR nothing", ""])
def test_by_a_person_only_what_they_shared_is_found(memory: Memory, query: str) -> None:
    assert titles(memory, query, by="Bea") == {"fees are rounded down"}


def test_a_search_is_narrowed_to_an_author_to_mine_or_to_the_team(memory: Memory) -> None:
    assert titles(memory, by="eva lee") == {"Round fees"}
    assert titles(memory, by=memory.owner) == titles(memory, whose="mine")
    assert titles(memory, whose="mine") == {one.title for one in ITEMS if one.person != "bea"}
    assert titles(memory, whose="team") == {"fees are rounded down"}
    with pytest.raises(NotFound) as unknown:
        titles(memory, by="zoe")
    assert "who shares: another machine of yours, bea" in unknown.value.hint


def test_where_nobody_shares_all_is_mine(store: SqliteStore, home: Home) -> None:
    alone: list[Item] = [one for one in ITEMS if not one.person]
    assert titles(memory_of(store, home, alone), whose="mine") == {one.title for one in alone}


def test_mine_and_team_at_once_are_refused() -> None:
    with pytest.raises(BadInput, match="mine or team"):
        parse_filters(mine=True, team=True, now_ms=0)
