"""What was deleted for good leaves log, index and copies once its grace is over, and not before."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from observer.core.events import AnyBody, Forget, Reference, Remember, Revise, Triage, Undo
from observer.core.model import item_id
from observer.core.paths import Home
from observer.store.database import SqliteStore
from observer.store.tombstones import Tombstones
from observer.upkeep.carry_out import complete
from observer.upkeep.take_out import (
    Going,
    Removal,
    clean_copies,
    deleted,
    notes_due,
    take_out_notes,
    wipe,
)
from tests.ingest.test_rebuild import STEPS, everything
from tests.upkeep.purge.conftest import NOW_MS, World, holding
from tests.upkeep.purge.test_expire import take_out

BIRD = Remember(content="Ana keeps a zebrafink", scope="personal", owner="ana")


def forget(world: World, item: int, final_ms: int | None = NOW_MS) -> None:
    world.tell(Forget(item=item, final_ms=final_ms), days=0, session="")


def due(world: World) -> Going | None:
    with world.store.read() as reader:
        return notes_due(reader, now_ms=NOW_MS)


def held(world: World) -> bool:
    """Return True if the word stands in the database's files."""
    return any(name.startswith("observer.db") for name in holding(world.home, "zebrafink"))


def taken_out(world: World) -> int:
    gone = due(world)
    assert gone is not None
    return take_out_notes(world.store, gone, Tombstones(world.home.tombstones), now_ms=NOW_MS)


@pytest.mark.parametrize(
    ("final_ms", "is_due"), [(NOW_MS, True), (NOW_MS + 1, False), (None, False)]
)
def test_a_deletion_is_due_when_its_grace_is_over(
    world: World, final_ms: int | None, *, is_due: bool
) -> None:
    world.tell(BIRD, days=1, session="")
    forget(world, item_id(1), final_ms)
    assert (due(world) is not None) is is_due
    with world.store.read() as reader:
        assert [one.final_ms for one in deleted(reader)] == [final_ms] * (final_ms is not None)


def test_what_was_brought_back_stays(world: World) -> None:
    world.tell(BIRD, days=1, session="")
    forget(world, item_id(1))
    gone = due(world)
    assert gone
    world.tell(Undo(item=item_id(1)), days=0, session="")
    tombstones = Tombstones(world.home.tombstones)
    assert take_out_notes(world.store, gone, tombstones, now_ms=NOW_MS) == len(tombstones) == 0
    assert [item.narrative for item in everything(world.store)[0]] == [BIRD.content]


def test_no_byte_of_the_database_holds_it(world: World) -> None:
    world.tell(BIRD, Revise(item=item_id(1), content="Two zebrafinks"), days=1, session="")
    world.tell(Remember(content="another"), days=1, session="")
    forget(world, item_id(1))
    assert held(world)
    assert taken_out(world) == 3
    assert wipe(world.store)
    assert not held(world)
    assert [item.narrative for item in everything(world.store)[0]] == ["another"]


def test_it_takes_along_what_was_decided_about_it(world: World) -> None:
    world.tell(BIRD, Remember(content="another"), days=1, session="")
    for signal, note in ((5, 1), (6, 2)):
        judged = Triage(
            signal=signal, owner="ana", status="dismissed", type="pair", text="zebrafink",
            evidence=(item_id(note),),
        )  # fmt: skip
        world.tell(judged, days=1, session="")
    forget(world, item_id(1))
    assert taken_out(world) == 3
    with world.store.read() as reader:
        assert list(reader.triages("ana")) == [6]


def test_no_byte_is_held_of_a_note_of_no_project_that_a_session_recorded(world: World) -> None:
    world.tell(BIRD, Remember(content="another"), days=1, session="s1")
    forget(world, item_id(1))
    found = due(world)
    assert found
    assert not found.is_apart
    take_out(world, sorted(found.seqs))
    assert wipe(world.store)
    assert not held(world)
    assert "another" in [item.narrative for item in everything(world.store)[0]]


def test_what_is_taken_out_does_not_come_back(world: World) -> None:
    world.tell(BIRD, days=1, session="")
    forget(world, item_id(1))
    taken_out(world)
    tombstones = Tombstones(world.home.tombstones)
    assert tombstones.names("e1", "", ())
    assert not tombstones.names("e3", "", ())
    world.store.close()
    assert complete(world.home, SqliteStore) is None  # a start has nothing to do


def test_copies_lose_it_too(world: World) -> None:
    world.tell(BIRD, Remember(content="another"), days=1, session="")
    copy = world.home.backups / "observer-auto-1.db"
    world.store.backup(copy)
    forget(world, item_id(1))
    taken_out(world)
    what = Removal(Tombstones(world.home.tombstones))
    parts = (world.home, SqliteStore, what)
    assert clean_copies(*parts) == {copy.name: "rewritten, 1 events fewer"}
    assert b"zebrafink" not in copy.read_bytes()
    assert clean_copies(*parts) == {}


def test_what_a_kill_left_half_done_is_done_at_the_next_start(world: World) -> None:
    """Only tombstones were written."""
    world.tell(BIRD, Remember(content="another"), days=1, session="")
    forget(world, item_id(1))
    gone = due(world)
    assert gone
    Tombstones(world.home.tombstones).add(gone.marks)
    world.store.close()
    complete(world.home, SqliteStore)
    with closing(SqliteStore(world.home.database)) as store:
        assert [item.narrative for item in everything(store)[0]] == ["another"]
    assert not held(world)


def linked(number: int) -> AnyBody:
    return Remember(content=f"n{number}", links=(Reference(kind="supersedes", item=item_id(1)),))


@pytest.mark.measured
@given(steps=STEPS, chosen=st.sets(st.integers(0, 30)))
@settings(max_examples=30, phases=[Phase.explicit, Phase.generate])
def test_what_is_left_is_what_a_rebuild_makes_of_it(
    steps: list[tuple[AnyBody, str]], chosen: set[int]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Home(Path(folder)))
        for number, (body, session) in enumerate([(BIRD, ""), (linked(2), ""), *steps]):
            world.tell(body, days=40 - number, session=session)
        notes = [item.id for item in everything(world.store)[0] if item.kind == "note"]
        for number, item in enumerate(notes):
            if number in chosen:
                forget(world, item)
        found = due(world)
        if found and found.is_apart:
            assert taken_out(world) == len(found.seqs)
        left = everything(world.store)
        world.pipeline.rebuild()
        assert everything(world.store) == left
        world.store.close()
