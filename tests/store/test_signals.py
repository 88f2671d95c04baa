"""What signals are found by, and what somebody made of them."""

from __future__ import annotations

from typing import Any

from observer.core.events import Triage
from observer.core.filters import Filters
from observer.core.model import Item, Link, NoteHeader
from observer.store.interface import Store


def put(store: Store, number: int, **fields: Any) -> None:
    given = {"kind": "note", "type": "fact", "title": f"note {number}", "layer": "state"} | fields
    with store.write() as writer:
        writer.put_items([Item(id=number, uuid=f"u{number}", **given)])


def newest(store: Store) -> int:
    with store.read() as reader:
        return reader.newest_note_change()


def test_only_a_change_of_a_note_counts_as_one(store: Store) -> None:
    assert newest(store) == 0
    put(store, 4)
    before = newest(store)
    put(store, 8, kind="observation")
    assert newest(store) == before > 0
    put(store, 4, deleted_ms=5)
    assert newest(store) > before


def test_a_sketch_is_a_note_without_its_words(store: Store) -> None:
    links = (Link(kind="wiki", title="X"),)
    put(store, 8, tags=("a",), links=links, project_id=1, created_ms=5, updated_ms=6)
    put(store, 4, layer="past", scope="personal", owner="ana")
    put(store, 12, kind="inference")
    put(store, 16, scope="personal", owner="bob")
    put(store, 20, deleted_ms=1)
    with store.read() as reader:
        mine, ours = reader.sketches(Filters(owner="ana"))
    assert (mine.id, mine.layer) == (4, "past")
    assert ours == NoteHeader(
        id=8,
        title="note 8",
        project_id=1,
        layer="state",
        tags=("a",),
        links=links,
        created_ms=5,
        updated_ms=6,
    )


def test_what_somebody_made_of_a_signal_is_theirs_and_the_latest_counts(store: Store) -> None:
    first = Triage(signal=7, status="snoozed", type="t", text="x", evidence=(4, 8), owner="ana")
    last = Triage(signal=7, status="new", type="t", owner="ana")
    with store.write() as writer:
        writer.put_triage(first, at_ms=1)
        assert writer.triages("ana") == {7: first}
        assert writer.triages("bob") == {}
        writer.put_triage(last, at_ms=2)
        assert writer.triages("ana") == {7: last}
        writer.clear_projection()
        assert writer.triages("ana") == {}
