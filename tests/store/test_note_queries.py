"""What a store promises about notes and signals: histories, titles, counts, restrictions."""

from __future__ import annotations

from typing import Any

import pytest

from observer.core.events import Event, Remember, Triage
from observer.core.filters import Filters
from observer.core.model import Item, Link, NoteHeader, Recorded, item_id
from observer.store.interface import Store
from observer.store.rows import json_text
from tests.store.conftest import put


def a_note(seq: int, **fields: Any) -> Item:
    given = {"kind": "note", "type": "fact", "title": f"Note {seq}", "project_id": 1} | fields
    return Item(id=item_id(seq), uuid=f"u{seq}", created_ms=seq, updated_ms=seq, **given)


def test_everything_of_a_note_comes_back_also_of_a_deleted_one_to_who_asks(store: Store) -> None:
    asked = {"approval": "provisional", "suspicion": "override", "metadata": '{"a":1}'}
    item = a_note(1, tags=("a", "b"), expires_ms=9, **asked)
    put(store, item, gone := a_note(2, deleted_ms=5))
    with store.read() as reader:
        assert reader.item(item.id) == item
        assert reader.item(gone.id) is None
        assert reader.item(gone.id, deleted=True) == gone
        for number in (999, 2**63, -(2**63) - 1, 2**70):
            assert reader.item(number, deleted=True) is None


def test_a_history_is_in_log_order_and_goes_with_the_projection(store: Store) -> None:
    with store.write() as writer:
        for seq in (1, 2, 3):
            event = Event(id=f"e{seq}", at_ms=seq, client="x", body=Remember(content="x"))
            writer.append(Recorded(seq=seq, event=event, project_id=1), stored_ms=seq)
        for item, seq in ((4, 3), (4, 1), (8, 2)):
            writer.put_history(item, seq)
    with store.read() as reader:
        assert [recorded.seq for recorded in reader.history(4)] == [1, 3]
        assert reader.history(99) == []
    with store.write() as writer:
        writer.clear_projection()
        assert writer.history(4) == []


def test_a_title_finds_the_notes_of_its_place(store: Store) -> None:
    here, shared = a_note(1, title="Auth"), a_note(2, title="AUTH", project_id=None)
    mine = a_note(3, title="auth", project_id=None, scope="personal", owner="ana")
    put(store, shared, here, mine, a_note(4, title="Auth", kind="observation"), a_note(5))
    with store.read() as reader:
        in_one = Filters(project_id=1, with_global=True, owner="ana")
        assert reader.titled("auth", in_one) == [here, shared, mine]
        in_two = Filters(project_id=2, with_global=True, owner="bob")
        assert reader.titled("auth", in_two) == [shared]
        assert reader.titled("auth", Filters(owner="bob")) == [here, shared]


TITLES = {
    "Über das Projekt": "über DAS projekt",
    "Stra\u00dfe": "STRASSE",
    "Caf\u00e9": "cafe\u0301",
    "\uff21\uff30\uff29 v2": "api v2",
    "ПЛАН": "план",
}


def test_titles_are_one_whatever_their_case_and_encoding(store: Store) -> None:
    notes = [a_note(seq, title=title) for seq, title in enumerate(TITLES, 1)]
    links = [
        a_note(seq, title="else", links=(Link(kind="wiki", title=title),))
        for seq, title in enumerate(TITLES, 11)
    ]
    put(store, *notes, *links)
    with store.read() as reader:
        for note, source, asked in zip(notes, links, TITLES.values(), strict=True):
            assert reader.titled(asked, Filters(project_id=1)) == [note]
            assert reader.naming(asked, Filters(project_id=1), limit=9) == [source]


def test_who_names_a_title_is_found(store: Store) -> None:
    source = a_note(1, links=(Link(kind="wiki", title="Auth Spec"),), person="bea")
    put(store, source, a_note(2, links=(Link(kind="explicit", target=4),), person="ana"))
    put(store, a_note(3, person="bea"), a_note(4))
    with store.read() as reader:
        assert reader.naming("auth spec", Filters(project_id=1), limit=9) == [source]
        assert reader.naming("auth spec", Filters(project_id=2), limit=9) == []
        assert reader.naming("", Filters(), limit=9) == []
        assert reader.people() == ["ana", "bea"]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"tags": ("a",)}, [3, 1]),
        ({"tags": ("a", "b")}, [1]),
        ({"layer": "rule"}, [2]),
        ({"scope": "personal"}, [3]),
        ({"scope": "personal", "owner": "bob"}, []),
        ({"trusted_at_ms": 9}, [3]),
        ({"project_id": 1}, [4, 2, 1]),
    ],
)
def test_notes_are_restricted(store: Store, filters: dict[str, Any], found: list[int]) -> None:
    put(
        store,
        a_note(1, tags=("a", "b"), expires_ms=9),
        a_note(2, layer="rule", approval="provisional"),
        a_note(3, tags=("a",), scope="personal", owner="ana", project_id=None),
        a_note(4, suspicion="override"),
    )
    asked = Filters(**({"owner": "ana"} | filters))
    with store.read() as reader:
        ids = reader.ids(asked, limit=9)
        assert ids == [item_id(seq) for seq in found]
        assert [item.id for item in reader.recent(asked, limit=9)] == ids
        assert all(map(asked.admits, reader.items(ids)))


def test_notes_are_counted_by_what_they_have(store: Store) -> None:
    put(store, a_note(1, tags=("a", "b"), category="x"), a_note(2, tags=("b",), project_id=None))
    with store.read() as reader:
        assert list(reader.counts("tags", Filters()).items()) == [("b", 2), ("a", 1)]
        assert reader.counts("category", Filters()) == {"x": 1}
        assert reader.counts("type", Filters(project_id=1)) == {"fact": 1}
        assert reader.counts("type", Filters(project_id=1, with_global=True)) == {"fact": 2}


def newest(store: Store) -> int:
    with store.read() as reader:
        return reader.newest_note_change()


def test_only_a_change_of_a_note_counts_as_one(store: Store) -> None:
    assert newest(store) == 0
    put(store, a_note(1))
    before = newest(store)
    put(store, a_note(2, kind="observation"))
    assert newest(store) == before > 0
    put(store, a_note(1, deleted_ms=5))
    assert newest(store) > before


def test_a_sketch_is_a_note_without_its_words(store: Store) -> None:
    shown: dict[str, Any] = {"tags": ("a",), "links": (Link(kind="wiki", title="X"),)}
    shown |= {"project_id": 1, "layer": "state", "title": "Ours"}
    personal = {"scope": "personal", "project_id": None}
    put(store, a_note(2, **shown), a_note(1, owner="ana", **personal))
    put(store, a_note(3, kind="inference"), a_note(4, owner="bob", **personal))
    put(store, a_note(5, deleted_ms=1))
    with store.read() as reader:
        mine, ours = reader.sketches(Filters(owner="ana"))
    assert (mine.id, mine.layer) == (4, "past")
    assert ours == NoteHeader(id=8, created_ms=2, updated_ms=2, **shown)


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


def stating(seq: int, *relations: object, **fields: Any) -> Item:
    return a_note(seq, metadata=json_text({"relations": relations}), **fields)


USES = {"source": "Fee Service", "relation": "uses", "destination": "Redis"}


def test_what_an_agent_says_of_entities_is_found_by_either_in_any_spelling(store: Store) -> None:
    put(store, stating(1, USES), stating(2, {**USES, "source": "cart"}))
    with store.read() as reader:
        found = [(4, ("Fee Service", "uses", "Redis"))]
        assert reader.stated_of("fee_service", limit=9) == found
        assert [item for item, _ in reader.stated_of("redis", limit=9)] == [8, 4]


@pytest.mark.parametrize(
    "said", ["x", 5, {}, {**USES, "source": ""}, {**USES, "relation": "x" * 201}]
)
def test_relations_have_two_names_and_what_names_no_two_entities_is_none(
    store: Store, said: object
) -> None:
    other = {"source": "a", "relationship": "knows", "target": "Redis"}
    put(store, stating(1, said, other), a_note(2, metadata='{"relations": "many"}'))
    with store.read() as reader:
        assert reader.stated_of("redis", limit=9) == [(4, ("a", "knows", "Redis"))]
        assert reader.stated_of("many", limit=9) == reader.stated_of("", limit=9) == []


@pytest.mark.parametrize("goes", ["deleted", "changed", "taken out", "cleared"])
def test_relations_go_with_the_memory_that_says_them(store: Store, goes: str) -> None:
    put(store, stating(1, USES))
    with store.write() as writer:
        match goes:
            case "deleted":
                writer.put_items([stating(1, USES, deleted_ms=5)])
            case "changed":
                writer.put_items([stating(1)])
            case "taken out":
                writer.delete_items([4])
            case _:
                writer.clear_projection()
        assert writer.stated_of("redis", limit=9) == []
