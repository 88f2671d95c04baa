"""The index follows the store, and everything gets a vector of the model in use."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from observer.core.model import UNASSIGNED, Item, item_id, item_uuid
from observer.core.paths import Home
from observer.index import Index
from observer.index.embed.lazy_model import LazyModel
from observer.index.embed.registry import ModelInfo, find
from observer.local import client
from observer.serve.drain import IndexWorker
from observer.serve.worker import LazyStore
from observer.store.connection import stemmer
from observer.store.database import SqliteStore
from observer.store.interface import Store
from tests.serve.services import services_over
from tests.support import Until, run_until


def items(count: int, *, start: int = 1) -> list[Item]:
    return [
        Item(
            id=item_id(n),
            uuid=item_uuid(f"e{n}", n),
            kind="observation",
            type="command",
            title=f"Ran target {n}",
            project_id=UNASSIGNED,
            created_ms=n,
        )
        for n in range(start, start + count)
    ]


@pytest.fixture
def store(home: Home) -> Iterator[SqliteStore]:
    opened = SqliteStore(home.database)
    yield opened
    opened.close()


class Bench:
    """The tasks with all that they need, for one event loop."""

    def __init__(self, home: Home, store: SqliteStore | LazyStore, info: ModelInfo) -> None:
        self.index = Index(home.index, stem=stemmer(), is_owner=True)
        self.index.use(info.id, info.dimensions)
        self.model = model = LazyModel(info)
        services = services_over(home, store, at_ms=1, embedder=model)
        self.store, self.health, self._writer = services.store, services.health, services.writer
        self.tasks = IndexWorker(services, self.index, model)

    def run(self, *work: Callable[[], Awaitable[None]], until: Callable[[], Any]) -> None:
        """Run tasks until a condition holds; none may end before."""
        asyncio.run(run_until(until, *(each() for each in work)))
        self._writer.close()

    def vectors(self) -> dict[str, int]:
        with self.store.read() as reader:
            return dict(reader.vectors())


@pytest.fixture
def info(home: Home) -> ModelInfo:
    return find("instant", home.models)


@pytest.fixture
def bench(home: Home, store: SqliteStore, info: ModelInfo) -> Bench:
    return Bench(home, store, info)


def put(store: Store, *made: Item) -> None:
    with store.write() as writer:
        writer.put_items(made)


def test_all_without_a_vector_of_this_model_get_one_and_those_of_others_go(
    bench: Bench, store: SqliteStore, info: ModelInfo
) -> None:
    put(store, *items(70))
    with store.write() as writer:
        writer.put_vectors("former", {item.id: b"1234" for item in items(40)})
    bench.run(bench.tasks.run_embedding, until=lambda: bench.vectors() == {info.id: 70})


def test_what_comes_later_is_embedded_when_no_more_comes(
    bench: Bench, store: SqliteStore, info: ModelInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("observer.serve.drain.STILL_S", 0.05)
    put(store, *items(3))

    def has_all() -> bool:
        found = bench.vectors()
        if found == {info.id: 3}:
            put(store, *items(2, start=10))
            bench.tasks.touch([None])
            bench.tasks.touch([UNASSIGNED])
        return found == {info.id: 5}

    bench.run(bench.tasks.run_embedding, until=has_all)


def test_what_never_ends_is_embedded_in_between(
    bench: Bench, store: SqliteStore, info: ModelInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("observer.serve.drain.STILL_S", 60)
    monkeypatch.setattr("observer.serve.drain.LATEST_S", 0.2)
    put(store, *items(1))

    def has_all() -> bool:
        found = bench.vectors()
        if found == {info.id: 1}:
            put(store, *items(2, start=10))
        bench.tasks.touch([UNASSIGNED])
        return found == {info.id: 3}

    bench.run(bench.tasks.run_embedding, until=has_all)


@pytest.mark.measured
def test_the_index_takes_up_what_is_stored_and_embedded(bench: Bench, store: SqliteStore) -> None:
    put(store, *items(5))
    bench.run(bench.tasks.run, bench.tasks.run_embedding, until=lambda: bench.index.embedded() == 5)
    assert bench.health.text() is None


@pytest.mark.parametrize("project", [UNASSIGNED, None], ids=["a project", "no project"])
def test_the_index_takes_up_what_is_stored_later_in(
    bench: Bench, store: SqliteStore, monkeypatch: pytest.MonkeyPatch, project: int | None
) -> None:
    given: list[int] = []
    monkeypatch.setattr("observer.serve.drain.QUIET_S", 0.01)
    monkeypatch.setattr("observer.serve.drain.give_memory_back", lambda: given.append(1))

    def has_all() -> bool:
        if given == [1]:  # all is done, and it waits
            given.append(2)
            put(store, *items(3))
            bench.tasks.touch([project])
        return sum(each.size for each in bench.index._segments) == 3

    bench.run(bench.tasks.run, until=has_all)


def test_in_times_of_quiet_the_index_is_made_quick_to_ask_and_memory_given_back(
    bench: Bench, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[int] = []
    monkeypatch.setattr("observer.serve.drain.QUIET_S", 0.01)
    monkeypatch.setattr(
        "observer.serve.drain.give_memory_back", lambda: given.append(len(bench.index._segments))
    )
    for start, count in ((1, 160), (201, 60)):
        put(store, *items(count, start=start))
        with store.read() as reader:
            bench.index.refresh(reader)
    assert len(bench.index._segments) == 2
    bench.run(bench.tasks.run, until=lambda: given)
    assert given == [1]


def test_memory_is_given_back_though_it_is_never_quiet(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[None] = []
    monkeypatch.setattr("observer.serve.drain.QUIET_S", 60.0)
    monkeypatch.setattr("observer.serve.drain.GIVE_BACK_S", 0.0)
    monkeypatch.setattr("observer.serve.drain.give_memory_back", lambda: given.append(None))
    bench.run(bench.tasks.run, until=lambda: given)
    assert given


@pytest.mark.measured
def test_a_store_that_cannot_be_opened_ends_no_task(
    home: Home, tmp_path: Path, info: ModelInfo
) -> None:
    (tmp_path / "file").touch()
    tries = []

    def again() -> SqliteStore:
        tries.append(1)
        return SqliteStore(tmp_path / "file" / "observer.db")

    bench = Bench(home, LazyStore(again), info)

    def was_tried_again() -> bool:
        bench.tasks.touch([UNASSIGNED])
        return len(tries) > 3

    bench.run(bench.tasks.run, bench.tasks.run_embedding, until=was_tried_again)
    assert "store" in (bench.health.text() or "")


@pytest.mark.measured
def test_an_index_that_fails_is_shown_and_recovers(
    bench: Bench, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, *items(1))
    monkeypatch.setattr("observer.index.index.segment", None)
    shown = []

    def is_well_again() -> bool:
        ill = "index: " in (bench.health.text() or "")
        if ill and not shown:
            shown.append(ill)
            monkeypatch.undo()
            bench.tasks.touch([UNASSIGNED])
        return bool(shown) and not ill

    bench.run(bench.tasks.run, until=is_well_again)


def test_a_model_with_a_problem_is_shown_and_nothing_is_dropped(
    home: Home, store: SqliteStore, info: ModelInfo
) -> None:
    folder = home.models / "broken"
    folder.mkdir(parents=True)
    (folder / "model.toml").write_text("dimensions = 'many'")
    put(store, *items(2))
    with store.write() as writer:
        writer.put_vectors("former", {4: b"1234"})
    bench = Bench(home, store, find("broken", home.models))
    bench.run(bench.tasks.run_embedding, until=lambda: "model: " in (bench.health.text() or ""))
    assert bench.vectors() == {"former": 1}


@pytest.mark.slow
def test_a_daemon_killed_while_it_embeds_leaves_each_item_one_vector(
    home: Home, info: ModelInfo, until: Until
) -> None:
    home.root.mkdir(exist_ok=True)
    home.config.write_text(f"model = '{info.name}'")
    made = items(3_000)
    store = SqliteStore(home.database)
    with store.write() as writer:
        writer.put_items(made)
        writer.put_vectors("former", {item.id: b"1234" for item in made})
    moments = random.Random(20261122)

    def vectors() -> dict[str, int]:
        with store.read() as reader:
            return dict(reader.vectors())

    for _ in range(4):
        client.ensure_daemon(home, wait_s=30)
        time.sleep(moments.uniform(0.1, 0.8))  # the random moment itself, not a wait
        os.kill(client.daemon_pid(home) or 0, signal.SIGKILL)
        until(lambda: not client.is_running(home))
    client.ensure_daemon(home, wait_s=30)
    until(lambda: vectors() == {info.id: len(made)}, wait_s=60)
    assert store.check() == "ok"
    store.close()


def test_a_model_that_nobody_needs_is_let_go(
    bench: Bench, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("observer.serve.drain.REST_EVERY_S", 0.01)
    monkeypatch.setattr("observer.serve.drain.UNUSED_S", 0.0)
    put(store, *items(3))
    bench.model.encode_patiently("target")
    bench.run(bench.tasks.run, bench.tasks.run_resting, until=lambda: bench.model._model is None)
