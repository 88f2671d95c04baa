"""Whose notes are whose: nobody sees, changes or deletes what is somebody else's."""

from __future__ import annotations

from typing import Any

import pytest

from observer.core.errors import BadInput, NotFound
from observer.core.model import Item
from observer.memory.api import Memory
from observer.notes.values import Note
from observer.search.handles import SearchOptions


def own(memory: Memory, content: str, **fields: Any) -> Item:
    note = Note(content=content, scope="personal", **fields)
    return memory.notes.remember(note).item


OWN = SearchOptions(kinds=("note",), scope="personal")


def contents(memory: Memory) -> list[str]:
    return sorted(item.narrative for item in memory.notes.list())


def test_all_of_an_owner_is_deleted_and_nothing_else(world: Any) -> None:
    ana, bob = world.memory, world.memory.of("bob")
    kept = world.keep("tabs, not spaces")
    for whose, content in ((ana, "a"), (ana, "b"), (bob, "a")):
        own(whose, content)
    assert ana.notes.erase_all(OWN)[0] == 2
    assert contents(ana) == [kept.narrative]
    assert contents(bob) == ["a", kept.narrative]


def test_of_an_owner_what_has_a_tag_is_deleted(world: Any) -> None:
    ana = world.memory
    for content, tags in (("a", ("x",)), ("b", ("x", "y")), ("c", ())):
        own(ana, content, tags=tags)
    assert ana.notes.erase_all(SearchOptions(scope="personal", tags=("X",)))[0] == 2
    assert contents(ana) == ["c"]


def test_an_agent_deletes_no_rule_that_a_person_approved(world: Any) -> None:
    ana = world.memory
    rule = own(ana, "Never push", type="rule")
    own(ana, "Always pull", type="rule")
    ana.notes.approve(rule.id, author="person")
    assert ana.notes.erase_all(OWN)[0] == 1
    assert contents(ana) == ["Never push"]
    assert ana.notes.erase_all(OWN, author="person")[0] == 1


def test_many_are_deleted_in_several_transactions(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("observer.notes.notes.AT_ONCE", 2)
    ana = world.memory
    for number in range(5):
        own(ana, f"number {number}")
    assert ana.notes.erase_all(OWN)[0] == 5
    assert contents(ana) == []


def test_whoever_has_the_uuid_finds_the_keeper(world: Any) -> None:
    bob = world.memory.of("bob")
    note = own(bob, "a")
    assert world.memory.owner_of(note.uuid).owner == "bob"


def test_a_deleted_note_has_its_keeper(world: Any) -> None:
    bob = world.memory.of("bob")
    note = own(bob, "a")
    assert bob.notes.erase(note.id)
    assert bob.notes.erase(note.id) is None
    assert world.memory.owner_of(f"#{note.id}").owner == "bob"


@pytest.mark.parametrize("of", [lambda note: note.uuid[:20], lambda note: f"{note.id}x"])
def test_half_a_handle_finds_no_keeper(world: Any, of: Any) -> None:
    note = own(world.memory, "a")
    with pytest.raises(NotFound):
        world.memory.owner_of(of(note))


def test_what_all_share_has_no_keeper(world: Any) -> None:
    with pytest.raises(NotFound):
        world.memory.owner_of(world.keep("a").uuid)


@pytest.mark.parametrize("name", [" ana", "a\nb", "\ud800", "x" * 201, "AKIA" + "ABCDEFGHIJKLMNOP"])
def test_a_name_that_would_be_stored_otherwise_owns_nothing(world: Any, name: str) -> None:
    with pytest.raises(BadInput):
        world.memory.of(name)
