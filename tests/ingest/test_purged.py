"""What was purged does not come in again, on whichever way."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.core.config import Settings
from observer.core.events import Command, Commit, Event, Remember
from observer.core.model import UNASSIGNED, Receipt
from observer.core.paths import Home
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.projects import PlaceCache
from observer.store.interface import Store
from observer.store.tombstones import Tombstones

Post = Callable[..., str]
Make = Callable[..., Pipeline]


def a_commit(folder: Path, name: str = "again") -> Event:
    body = Commit(hash="c0ffee", subject="Begin", action="import")
    return Event(id=name, at_ms=1, client="git", body=body, cwd=str(folder), dedup="commit:c0ffee")


@pytest.fixture
def tombstones(home: Home) -> Tombstones:
    return Tombstones(home.tombstones)


def test_a_purged_event_is_refused_and_the_receipt_says_so(
    make_pipeline: Make, tombstones: Tombstones, store: Store
) -> None:
    tombstones.add([("a", "", ())])
    event = Event(id="a", at_ms=1, client="c", body=Command(command="make"))
    assert make_pipeline(tombstones=tombstones).ingest([event]) == [Receipt(is_purged=True)]
    with store.read() as reader:
        assert reader.totals().events == 0


def test_a_purged_project_leaves_no_trace_when_it_is_imported_again(
    make_pipeline: Make, tombstones: Tombstones, store: Store, folder: Path
) -> None:
    tombstones.add([("first", "commit:c0ffee", (str(folder),))])
    assert make_pipeline(tombstones=tombstones).ingest([a_commit(folder)])[0].is_purged
    with store.read() as reader:
        assert [project.id for project in reader.projects()] == [UNASSIGNED]


def test_a_front_that_names_the_project_brings_nothing_back(
    make_pipeline: Make, tombstones: Tombstones, store: Store, folder: Path
) -> None:
    pipeline = make_pipeline(tombstones=tombstones)
    pipeline.ingest(
        [Event(id="n", at_ms=1, client="c", body=Command(command="x"), cwd=str(folder))]
    )
    with store.read() as reader:
        project = reader.projects()[-1]
    tombstones.add([("first", "note:1", (str(folder),))])
    note = Event(id="z", at_ms=1, client="c", body=Remember(content="tabs"), dedup="note:1")
    assert pipeline.ingest([note], project.id)[0].is_purged


def test_a_replayed_spool_entry_is_taken_off_and_counted(
    make_pipeline: Make, tombstones: Tombstones, post: Post, caplog: pytest.LogCaptureFixture
) -> None:
    tombstones.add([(post("UserPromptSubmit", {"prompt": "hello"}), "", ())])
    with caplog.at_level(logging.INFO):
        drained = make_pipeline(tombstones=tombstones).drain()
    assert (drained.entries, drained.projects) == (1, frozenset())
    assert "1 events were left out that had been purged" in caplog.text


def test_a_replayed_spool_entry_that_is_too_old_is_taken_off_and_counted(
    store: Store, spool: Spool, caplog: pytest.LogCaptureFixture
) -> None:
    report = {"kind": "prompt", "text": "hello there", "at": "2020-01-01T00:00:00Z"}
    spool.append({"client": "generic", "event": "prompt"}, json.dumps(report).encode())
    pipeline = Pipeline(
        store,
        spool,
        settings=Settings(retention_days=30),
        places=PlaceCache(),
        now_ms=lambda: 1_790_000_000_000,
    )
    with caplog.at_level(logging.INFO):
        drained = pipeline.drain()
    assert (drained.entries, drained.projects) == (1, frozenset())
    assert "1 events were left out that are older than is kept" in caplog.text
