"""What is deleted is gone everywhere: words, meanings, links, now and after a rebuild."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.core.filters import Filters
from observer.core.paths import Home
from observer.index.embed.lazy_model import LazyModel
from observer.index.embed.registry import find
from observer.ingest.pipeline import Pipeline
from observer.memory.api import Memory
from observer.memory.opening import index_for
from observer.store.database import SqliteStore
from observer.tools.mem0 import Mem0
from tests.support import memory_over, pipeline_over, record_by

Run = Callable[..., Any]
CAR = "Bob drives an old car"
LINKED = f"Parking is free, see [[{CAR}]]"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LazyModel:
    return LazyModel(find("instant", tmp_path_factory.mktemp("models")))


@pytest.fixture
def pipeline(store: SqliteStore, home: Home, model: LazyModel) -> Pipeline:
    times = iter(range(1_790_000_000_000, 2_000_000_000_000, 1_000))
    return pipeline_over(store, home, lambda: next(times), embedder=model)


@pytest.fixture
def memory(store: SqliteStore, home: Home, pipeline: Pipeline, model: LazyModel) -> Memory:
    """A memory that knows meanings by the model that is part of the package."""
    index = index_for(home.index, model, is_owner=False)
    return memory_over(
        store, index, 1_790_000_000_000, encode=model.encode_patiently, record=record_by(pipeline)
    )


@pytest.fixture
def asked(memory: Memory) -> Run:
    """Call a tool by its name, for bob, who has two memories, one linked to the other."""
    tools = {tool.name: tool for tool in Mem0.of(memory, str)}

    def call(name: str, **arguments: Any) -> Any:
        return tools[name].call({"user_id": "bob", **arguments}).result

    call("add_memory", messages=[{"role": "user", "content": text} for text in (CAR, LINKED)])
    return call


def found(asked: Run, query: str) -> list[str]:
    return [each["memory"] for each in asked("search_memories", query=query)["results"]]


def go(asked: Run, how: str) -> None:
    """Take the memory of the car away."""
    car = next(each["id"] for each in asked("get_all_memories")["results"] if each["memory"] == CAR)
    match how:
        case "one":
            asked("delete_memory", memory_id=car)
        case "all":
            asked("delete_all_memories")
        case "planned":
            asked("add_memory", messages=[], plan=[{"event": "DELETE", "id": car}])
        case "reworded":
            asked("update_memory", memory_id=car, data="Bob knits socks")


@pytest.mark.parametrize("gone", ["one", "all", "planned", "reworded"])
@pytest.mark.parametrize("is_rebuilt", [False, True], ids=["live", "rebuilt"])
def test_no_words_and_no_meaning_find_what_is_gone(
    asked: Run, pipeline: Pipeline, gone: str, *, is_rebuilt: bool
) -> None:
    by_words, by_meaning = "drives", "automobile"
    assert CAR in found(asked, by_words)
    assert CAR in found(asked, by_meaning)
    go(asked, gone)
    if is_rebuilt:
        pipeline.rebuild()
    assert CAR not in found(asked, by_words)
    assert CAR not in found(asked, by_meaning)


@pytest.mark.parametrize("gone", ["one", "planned", "reworded"])
def test_no_link_leads_to_what_is_gone(asked: Run, memory: Memory, gone: str) -> None:
    notes = memory.of("bob").notes
    linked = next(item for item in notes.list() if item.narrative == LINKED)
    (before,) = notes.links(linked.id).out
    assert before.item is not None
    go(asked, gone)
    (after,) = notes.links(linked.id).out
    assert after.item is None


def test_nothing_is_left_of_a_deleted_memory_but_its_history(
    asked: Run, memory: Memory, store: SqliteStore, model: LazyModel
) -> None:
    linked = next(item for item in memory.of("bob").notes.list() if item.narrative == LINKED)
    go(asked, "all")
    with store.read() as reader:
        changes = reader.changes(after=0, model=model.id, limit=99)
        assert [change.vector for change in changes if change.item] == []
        assert reader.naming(CAR, Filters(owner="bob"), limit=9) == []
    history = memory.of("bob").notes.history(linked.id)
    assert [version.action for version in history] == ["remember", "forget"]
    assert memory.of("bob").notes.undo(linked.id).narrative == LINKED


GARAGE = {"source": "bob", "relation": "parks_in", "destination": "North Garage"}


def stated(asked: Run) -> str:
    """Have bob say what an entity has to do with another; return the memory's id."""
    said = [{"role": "user", "content": "My car stands in the garage"}]
    added = asked("add_memory", messages=said, metadata={"relations": [GARAGE]})
    return str(added["results"][0]["id"])


def related(store: SqliteStore) -> list[Any]:
    with store.read() as reader:
        return [one for _, one in reader.stated_of("north_garage", limit=9)]


def test_relations_come_back_with_the_memories_that_say_them(
    asked: Run, store: SqliteStore, pipeline: Pipeline
) -> None:
    """Also after an update and a rebuild."""
    asked("update_memory", memory_id=stated(asked), data="My car stands in the north garage")
    rows = [asked("search_memories", query="garage"), asked("get_all_memories")]
    assert [[tuple(one.values()) for one in row["relations"]] for row in rows] == [
        [("bob", "parks_in", "North Garage")]
    ] * 2
    assert related(store) == [("bob", "parks_in", "North Garage")]
    pipeline.rebuild()
    assert related(store) == [("bob", "parks_in", "North Garage")]


@pytest.mark.parametrize("how", ["one", "all", "of another"])
def test_a_deletion_takes_the_relations_of_its_scope(
    asked: Run, store: SqliteStore, how: str
) -> None:
    memory = stated(asked)
    match how:
        case "one":
            asked("delete_memory", memory_id=memory)
        case "all":
            asked("delete_all_memories")
        case _:
            asked("delete_all_memories", user_id="eva")
    assert bool(related(store)) == (how == "of another")
