"""Memories that are filled without a daemon: by hooks' calls, and by an import."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from observer.core.config import Settings
from observer.core.events import Event
from observer.core.model import Item, Receipt
from observer.core.paths import Home
from observer.importers.source import Problems, SessionSource, events_of, groups, sources
from observer.ingest.pipeline import Pipeline
from observer.ingest.projection import out_of_order
from observer.local.spool import Spool
from observer.store.database import SqliteStore
from observer.upkeep.take_out import Rederivation
from tests.support import pipeline_over


class Filled(NamedTuple):
    """A memory with what fills it."""

    store: SqliteStore
    spool: Spool
    pipeline: Pipeline
    home: Home

    def live(self) -> None:
        while self.pipeline.drain().entries:
            pass

    def hear(self, client: str, reports: Iterable[Mapping[str, Any]]) -> None:
        """Let hooks report what `scripts/record` has kept, at its times."""
        for report in reports:
            fields = {"client": client, "event": report["event"], "cwd": report["cwd"]}
            fields |= {"at": str(report["at"])}
            fields |= {f"env.{name}": value for name, value in report["env"].items()}
            self.spool.append(fields, json.dumps(report["payload"]).encode())
        self.live()

    def imported(
        self, *paths: Path, source: str = "claude-code", problems: Problems | None = None
    ) -> list[Receipt]:
        problems = problems or Problems()
        receipts = []
        known: SessionSource = sources()[source]
        for group in groups(known.find(paths, problems)):
            events = events_of(known, group, Settings(), problems)
            receipts += self.pipeline.ingest(events)
        return receipts

    def out_of_order(self) -> list[int]:
        with self.store.read() as reader:
            return out_of_order(reader)

    def put_in_order(self) -> None:
        """Do what the daemon does once an import is over."""
        if projects := self.out_of_order():
            anew = Rederivation(self.home, SqliteStore, self.store, frozenset(), projects)
            anew.derive()
            anew.adopt()

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


def events_in(client: str, *paths: Path, problems: Problems | None = None) -> list[Event]:
    """Return what an importer reads from files or folders, by time."""
    source, problems = sources()[client], problems or Problems()
    return events_of(source, source.find(paths, problems), Settings(), problems)


def without_tokens(facts: tuple[str, ...]) -> tuple[str, ...]:
    """Return facts but those that records alone have: what hooks reported first stays as it is."""
    return tuple(fact for fact in facts if not fact.startswith("Tokens: "))


def filled(folder: Path) -> Filled:
    """Return a memory in a folder, whose store the caller closes."""
    spool = Spool(folder / "spool")
    spool.prepare()
    store = SqliteStore(folder / "observer.db")
    pipeline = pipeline_over(store, spool, lambda: time.time_ns() // 1_000_000)
    return Filled(store, spool, pipeline, Home(folder))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memories]:
    """Make a memory of a name."""
    made: list[Filled] = []

    def make(name: str) -> Filled:
        made.append(filled(tmp_path / name))
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
