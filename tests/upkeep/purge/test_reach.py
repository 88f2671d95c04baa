"""What a purge derives anew: what events bear on that go, and nothing else."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from observer.core.events import AnyBody, Command, Enriched, FileWrite, Prompt, Remember
from observer.core.model import Project, item_id
from observer.core.paths import Home
from observer.store.tombstones import Tombstones
from observer.upkeep.choose import reached_projects
from observer.upkeep.take_out import Removal, all_about, clean, marks_of
from tests.ingest.test_rebuild import BODIES, everything
from tests.upkeep.purge.conftest import World

PROJECTS = (7, 8, 9)


@pytest.fixture
def world(world: World) -> World:
    """The memory, with three projects in it."""
    return with_projects(world)


def with_projects(world: World) -> World:
    with world.store.write() as writer:
        for number in PROJECTS:
            uuid = f"00000000-0000-7000-8000-{number:012x}"
            writer.put_project(Project(id=number, uuid=uuid, name=f"p{number}", created_ms=0))
    return world


def purge(world: World, seqs: frozenset[int]) -> int:
    tombstones = Tombstones(world.home.tombstones)
    with world.store.read() as reader:
        tombstones.add(marks_of(reader, seqs))
    derived: list[int] = []
    assert clean(world.store, Removal(tombstones), advance=derived.append).gone == len(seqs)
    return sum(derived)


def reached_of(world: World, *seqs: int) -> list[int]:
    with world.store.read() as reader:
        return sorted(reached_projects(reader, seqs))


STEPS = st.lists(
    st.tuples(
        st.one_of(BODIES, st.builds(Remember, content=st.just("z"), scope=st.just("personal"))),
        st.sampled_from(PROJECTS),
        st.sampled_from(["", "7", "8", "both"]),
    ),
    max_size=30,
)


@pytest.mark.measured
@given(steps=STEPS, going=st.sets(st.integers(1, 30), min_size=1, max_size=4))
@settings(max_examples=40, phases=[Phase.explicit, Phase.generate])
def test_what_is_left_is_what_a_rebuild_makes_of_it(
    steps: list[tuple[AnyBody, int, str]], going: set[int]
) -> None:
    """Sessions named after a project stay in it, so that some projects share nothing."""
    with tempfile.TemporaryDirectory() as folder:
        world = with_projects(World(Home(Path(folder))))
        for body, project, session in steps:
            place = int(session) if session.isdigit() else project
            world.tell(body, project=place, session=session)
        with world.store.read() as reader:
            gone = all_about(reader, going)
        purge(world, gone)
        left = everything(world.store)
        world.pipeline.rebuild()
        assert everything(world.store) == left
        world.store.close()


def test_other_projects_keep_their_vectors(world: World) -> None:
    for number in PROJECTS:
        world.tell(Prompt(text="mend the cart"), project=number, session=f"s{number}")
    ids = [item_id(seq) for seq in (1, 2, 3)]
    with world.store.write() as writer:
        writer.put_vectors("m", dict.fromkeys(ids, b"\0\0\0\0"))
    world.tell(Command(command="make"), project=8, session="s8")
    assert purge(world, frozenset({4})) == 1
    with world.store.read() as reader:
        assert sorted(reader.vectors_of(ids)) == [ids[0], ids[2]]
        assert [item.id for item in reader.items(ids)] == ids


@pytest.mark.parametrize(
    ("joining", "reached"),
    [
        pytest.param([], [7], id="nothing"),
        pytest.param([(Prompt(text="x"), 8, "s1")], [7], id="a session of the same name"),
        pytest.param(
            [(Remember(content="a", scope="personal"), n, "") for n in (7, 9)],
            [7, 9],
            id="notes that belong to no project",
        ),
        pytest.param(
            [(Enriched(item=item_id(1), model="m", as_of_ms=1, narrative="x"), 9, "")],
            [7, 9],
            id="an account of an item",
        ),
        pytest.param(
            [(Enriched(item=item_id(1, "summary"), model="m", as_of_ms=1, narrative="x"), 9, "")],
            [7, 9],
            id="an account of a session",
        ),
    ],
)
def test_how_far_an_event_reaches(
    world: World, joining: list[tuple[AnyBody, int, str]], reached: list[int]
) -> None:
    world.tell(FileWrite(path="/x/a.py", content="x"), project=7, session="s1")
    world.tell(Prompt(text="mend it"), project=8, session="s2")
    for body, project, session in joining:
        world.tell(body, project=project, session=session)
    assert reached_of(world, 1) == reached
    assert reached_of(world) == []
