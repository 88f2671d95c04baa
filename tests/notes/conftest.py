"""A memory over a real pipeline and a real store, whose clock is ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from observer.core.events import Event
from observer.core.model import Item, Project, Receipt
from observer.core.paths import Home
from observer.index import Index
from observer.notes.notes import Notes
from observer.notes.values import Note
from observer.store.connection import stemmer
from observer.store.database import SqliteStore
from tests.support import memory_over, pipeline_over

START_MS = 1_790_000_000_000
HERE, ELSEWHERE = "app", "other"


class World:
    """One memory of two projects; every event is a second later than the one before."""

    def __init__(self, store: SqliteStore, home: Home) -> None:
        self.now_ms = START_MS
        self.store = store
        with store.write() as writer:
            for number, name in ((2, HERE), (3, ELSEWHERE)):
                writer.put_project(Project(id=number, uuid=f"uuid-{name}", name=name))
        self.pipeline = pipeline_over(store, home, self.tick)
        self.memory = memory_over(
            store,
            Index(Path("/nowhere"), stem=stemmer(), is_owner=False),
            self.tick,
            record=self._record,
        )

    @property
    def notes(self) -> Notes:
        return self.memory.notes

    def tick(self) -> int:
        self.now_ms += 1_000
        return self.now_ms

    def keep(self, content: str, **fields: object) -> Item:
        """Remember as a person does, in the first project."""
        note = Note(content=content, **fields)  # type: ignore[arg-type] # a test's own fields
        return self.notes.remember(note, project=HERE, author="person").item

    def _record(self, events: Sequence[Event], project_id: int | None) -> list[Receipt]:
        return self.pipeline.ingest(events, project_id)


Keep = Callable[..., Item]
Vector = NDArray[np.float32]


@pytest.fixture
def world(tmp_path: Path, home: Home) -> Iterator[World]:
    store = SqliteStore(tmp_path / "observer.db")
    yield World(store, home)
    store.close()


@pytest.fixture
def notes(world: World) -> Notes:
    return world.notes


@pytest.fixture
def keep(world: World) -> Keep:
    return world.keep
