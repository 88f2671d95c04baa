"""Memories that are filled without a daemon: by hooks' calls, and by an import."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from observer.core.config import Settings
from observer.core.model import Item, Receipt
from observer.importers.jsonl import Problems
from observer.importers.registry import SOURCES
from observer.importers.source import SessionSource, events_of, groups
from observer.ingest.derived import is_out_of_order
from observer.ingest.pipeline import Pipeline
from observer.projects import PlaceCache
from observer.spool.spool import Spool
from observer.store.sqlite.database import SqliteStore


class Filled(NamedTuple):
    """A memory with what fills it."""

    store: SqliteStore
    spool: Spool
    pipeline: Pipeline

    def live(self) -> None:
        while self.pipeline.drain().entries:
            pass

    def imported(
        self, *paths: Path, source: str = "claude-code", problems: Problems | None = None
    ) -> list[Receipt]:
        problems = problems or Problems()
        receipts = []
        known: SessionSource = SOURCES[source]
        for group in groups(known.find(paths, problems)):
            events = events_of(known, group, Settings(), problems)
            receipts += self.pipeline.ingest(events)
        return receipts

    def is_out_of_order(self) -> bool:
        with self.store.read() as reader:
            return is_out_of_order(reader)

    def items(self) -> list[Item]:
        with self.store.read() as reader:
            return list(reader.all_items())

    def said(self) -> list[tuple[str, str, str]]:
        """What the items say, apart from their numbers and times."""
        return sorted((item.type, item.title, item.narrative) for item in self.items())

    def kinds(self) -> list[str]:
        with self.store.read() as reader:
            found = reader.log(after_seq=0)
        return [type(one.event.body).__struct_config__.tag for one in found]


Memories = Callable[[str], Filled]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memories]:
    """Make a memory of a name."""
    made: list[Filled] = []

    def make(name: str) -> Filled:
        spool = Spool(tmp_path / name / "spool")
        spool.prepare()
        store = SqliteStore(tmp_path / name / "observer.db")
        pipeline = Pipeline(
            store,
            spool,
            settings=Settings(),
            places=PlaceCache(),
            now_ms=lambda: time.time_ns() // 1_000_000,
        )
        made.append(Filled(store, spool, pipeline))
        return made[-1]

    yield make
    for each in made:
        each.store.close()


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "shop"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    return folder
