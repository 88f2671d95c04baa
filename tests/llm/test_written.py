"""What a language model wrote is shown as that."""

from __future__ import annotations

import msgspec

from observer.core.model import Enrichment, Item, SummaryFields
from observer.tools import render, rows
from observer.tools.labels import Written

WROTE = Enrichment(
    model="tiny",
    at_ms=9_000,
    as_of_ms=60_000,
    narrative="The cart lost its lock.",
    learned="Hold the lock.",
    concepts=("locking", "cart"),
)
PLAIN = Item(
    id=6,
    uuid="u",
    kind="summary",
    type="summary",
    title="Fix the cart",
    narrative="Completed: Changed cart.py.",
    summary=SummaryFields(completed="Changed cart.py."),
    updated_ms=60_000,
)
ITEM = msgspec.structs.replace(PLAIN, enrichment=WROTE)
CHANGED = msgspec.structs.replace(ITEM, updated_ms=60_001)


def nameless(_: int | None) -> str:
    return ""


def test_the_whole_item_has_both_and_marks_what_a_model_wrote() -> None:
    lines = render.detail(ITEM, nameless).splitlines()
    assert "completed: Changed cart.py." in lines
    assert "narrative (by tiny): The cart lost its lock." in lines
    assert "learned (by tiny): Hold the lock." in lines
    assert "concepts (by tiny): locking, cart" in lines


def test_where_the_item_changed_since_the_time_is_shown() -> None:
    assert "narrative (by tiny, as of 1970-01-01 00:01Z): " in render.detail(CHANGED, nameless)


def test_a_pack_has_the_narrative_behind_the_answers() -> None:
    lines = render.pack_summary(ITEM).splitlines()
    assert lines[1:] == [
        "    completed: Changed cart.py.",
        "    narrative (by tiny): The cart lost its lock.",
    ]


def test_a_tool_has_it_in_a_field_of_its_own() -> None:
    shown = rows.observation(ITEM, nameless)
    assert isinstance(shown.written, Written)
    assert (shown.written.by, shown.written.is_outdated) == ("tiny", False)
    assert shown.written.next_steps is None


def test_a_tool_tells_that_the_item_changed_since() -> None:
    written = rows.observation(CHANGED, nameless).written
    assert isinstance(written, Written)
    assert written.is_outdated


def test_without_a_model_nothing_is_different() -> None:
    assert b"written" not in msgspec.json.encode(rows.observation(PLAIN, nameless))
    assert "(by" not in render.detail(PLAIN, nameless) + render.pack_summary(PLAIN)
