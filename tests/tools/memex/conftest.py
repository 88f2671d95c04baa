"""A memex whose clock and meanings are ours: a text means the first subject that it names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcp import Client, StdioServerParameters
from numpy.typing import NDArray

from observer.core.model import Item, Project
from observer.core.paths import Home
from observer.index import Index
from observer.memory.api import Memory
from observer.store.connection import stemmer
from observer.store.database import SqliteStore
from tests.support import memory_over, pipeline_over, record_by

DAY_MS = 86_400_000
SUBJECTS = ("cookie", "garden", "train")


class Subjects:
    """A model that knows three subjects, each in a direction of its own."""

    id = "subjects"
    dimensions = len(SUBJECTS)

    def vector(self, text: str, doubt: float = 0.5, /) -> NDArray[np.float32] | None:
        del doubt
        for number, subject in enumerate(SUBJECTS):
            if subject in text.lower():
                return np.eye(len(SUBJECTS), dtype=np.float32)[number]
        return None

    def begin(self, items: Sequence[Item]) -> Callable[[], Mapping[int, bytes]]:
        return lambda: self.made(items)

    def made(self, items: Sequence[Item]) -> Mapping[int, bytes]:
        meant = {item.id: self.vector(f"{item.title} {item.narrative}") for item in items}
        return {n: (v * 127).astype(np.int8).tobytes() for n, v in meant.items() if v is not None}


class Clock:
    """A time that a test moves; every look at it is a second later."""

    now_ms = 1_790_000_000_000

    def __call__(self) -> int:
        self.now_ms += 1_000
        return self.now_ms

    def wait(self, days: int) -> None:
        self.now_ms += days * DAY_MS


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(store: SqliteStore, home: Home, tmp_path: Path, clock: Clock) -> Memory:
    here = tmp_path / "my-api"
    here.mkdir()
    with store.write() as writer:
        writer.put_project(Project(id=2, uuid="u2", name="my-api", roots=(str(here),)))
        writer.put_project(Project(id=3, uuid="u3", name="other"))
    model = Subjects()
    pipeline = pipeline_over(store, home, clock, embedder=model)
    index = Index(home.index, stem=stemmer(), is_owner=False)
    index.use(model.id, len(SUBJECTS))
    return memory_over(store, index, clock, encode=model.vector, record=record_by(pipeline))


class Answered:
    """What a client got of one call."""

    def __init__(self, result: Any, text: str) -> None:
        self.text = text
        self.data: dict[str, Any] = result.structured_content
        self.is_error: bool = result.is_error


@pytest.fixture
def call(
    calls: Callable[..., Any], unmarked: Callable[[Any], str]
) -> Callable[..., list[Answered]]:
    """Call memex tools, one after the other, in one connection of a real client."""

    def run(*wanted: tuple[str, dict[str, Any]]) -> list[Answered]:
        return [Answered(result, unmarked(result)) for result in calls("memex", *wanted)]

    return run


@pytest.fixture
def within(stdio: StdioServerParameters) -> Callable[..., Any]:
    """Call tools as a client with some variables; return its instructions and the answers."""

    def run(variables: dict[str, str], *calls: tuple[str, dict[str, Any]], **more: Any) -> Any:
        env = {**(stdio.env or {}), **variables}
        asked = stdio.model_copy(update={"args": [*stdio.args, "--tools", "memex"], "env": env})

        async def talk() -> Any:
            async with asyncio.timeout(30), Client(asked, **more) as client:
                answers = [await client.call_tool(*call) for call in calls]
                return client.instructions or "", answers

        return asyncio.run(talk())

    return run
