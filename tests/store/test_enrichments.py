"""What waits for a language model, what it wrote, and what it cost."""

from __future__ import annotations

from typing import Any

import pytest

from observer.core.filters import Filters
from observer.core.model import UNASSIGNED, Enrichment, Item, LlmUsage, Session, item_uuid
from observer.store.interface import Store

WROTE = Enrichment(model="m", at_ms=9, as_of_ms=2, narrative="It was a race.", concepts=("mutex",))


def an_item(item_id: int, **fields: Any) -> Item:
    given = {"kind": "observation", "type": "command", "title": "t", "project_id": UNASSIGNED}
    given |= {"created_ms": item_id, "updated_ms": 2, "discovery_tokens": 2000}
    return Item(id=item_id, uuid=item_uuid(str(item_id), 1), **given | fields)


def a_summary(item_id: int, *, session: int, **fields: Any) -> Item:
    given = {"kind": "summary", "discovery_tokens": 1, "session_id": session}
    return an_item(item_id, **given | fields)


def waiting(store: Store) -> list[int]:
    with store.read() as reader:
        return [item.id for item in reader.unenriched(limit=9)]


def put(
    store: Store, *items: Item, over: tuple[int, ...] = (), open_ones: tuple[int, ...] = ()
) -> None:
    of = dict.fromkeys(open_ones, "active") | dict.fromkeys(over, "ended")
    with store.write() as writer:
        writer.put_items(items)
        for number, status in of.items():
            given: Any = {"id": number, "external": str(number), "status": status}
            writer.put_session(Session(client="c", project_id=UNASSIGNED, **given))


def test_summaries_wait_first_and_the_newest_of_each(store: Store) -> None:
    changed = a_summary(9, session=1, enrichment=WROTE, updated_ms=3)
    put(store, an_item(4), changed, a_summary(13, session=2), an_item(12), over=(1, 2))
    put(store, an_item(16, project_id=None))
    assert waiting(store) == [13, 9, 16, 12, 4]
    with store.read() as reader:
        assert [item.id for item in reader.unenriched(limit=9, without=[UNASSIGNED])] == [16]


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(an_item(4, discovery_tokens=1999), id="small"),
        pytest.param(an_item(4, kind="note"), id="note"),
        pytest.param(an_item(4, deleted_ms=3), id="forgotten"),
        pytest.param(an_item(4, enrichment=WROTE), id="written about"),
        pytest.param(a_summary(4, session=1), id="of a session that goes on"),
        pytest.param(an_item(4, session_id=1), id="in a session that goes on"),
    ],
)
def test_nothing_else_waits(store: Store, item: Item) -> None:
    put(store, item, open_ones=(1,))
    assert waiting(store) == []


def test_what_was_written_is_shown_by_item_and_found_by_its_words(store: Store) -> None:
    put(store, an_item(4, enrichment=WROTE), an_item(8))
    with store.read() as reader:
        assert reader.enrichments([4, 8, 12]) == {4: WROTE}
        for words in ("race", "concepts : mutex", "narrative : race"):
            assert reader.match(words, Filters(), limit=9) == [4]


def test_spending_adds_up_by_day_and_can_be_given_back(store: Store) -> None:
    with store.write() as writer:
        writer.spend("2026-11-21", tokens=5, requests=1)
        for day in ("2026-11-21", "2026-11-22"):  # given back beyond what was spent: not owed
            writer.spend(day, tokens=-300)
        writer.spend("2026-11-22", tokens=900, requests=1)
        writer.spend("2026-11-22", tokens=-300)
        writer.clear_projection()  # a rebuild keeps it
    with store.read() as reader:
        assert reader.spending("2026-11-21") == LlmUsage(requests=1)
        assert reader.spending("2026-11-22") == LlmUsage(tokens=600, requests=1)
        assert reader.spending("2026-11-23") == LlmUsage()
