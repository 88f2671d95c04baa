"""A probe takes the whole way into the store, is answered, and is never committed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from observer.core.events import Prompt
from observer.core.paths import Home
from observer.ingest.pipeline import ANSWER, Pipeline, Probed
from observer.local.spool import Spool
from observer.store.interface import Store

Make = Callable[..., Pipeline]
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def probes(home: Home) -> Path:
    folder = home.probes / "1" / "quill"
    folder.mkdir(parents=True)
    return folder


def post(spool: Spool, cwd: Path, text: str) -> None:
    body = {"kind": "prompt", "text": text, "session": "s", "cwd": str(cwd), "client": "quill"}
    spool.append({"client": "generic", "event": "prompt"}, json.dumps(body).encode())


def drain(make_pipeline: Make, home: Home) -> None:
    pipeline = make_pipeline(probes=home.probes)
    while pipeline.drain().entries:
        pass


def answers(folder: Path) -> list[Probed]:
    found = sorted(folder.glob(f"{ANSWER}*"))
    return [msgspec.json.decode(path.read_bytes(), type=Probed) for path in found]


def logged(store: Store) -> list[Any]:
    with store.read() as reader:
        return reader.log()


def test_a_probe_comes_back_redacted_and_with_its_item(
    make_pipeline: Make, spool: Spool, probes: Path, home: Home
) -> None:
    post(spool, probes, f"the key is {KEY}")
    drain(make_pipeline, home)
    (found,) = answers(probes)
    assert isinstance(found.recorded.event.body, Prompt)
    assert found.recorded.event.body.text.startswith("the key is ")
    assert KEY not in found.recorded.event.body.text
    assert found.item is not None
    assert found.item.type == "turn"


def test_a_probe_is_in_no_log_and_no_list_of_projects_or_sessions(
    make_pipeline: Make, spool: Spool, store: Store, probes: Path, home: Home
) -> None:
    (probes / "pyproject.toml").touch()
    post(spool, probes, "look")
    drain(make_pipeline, home)
    assert spool.depth() == 0
    with store.read() as reader:
        assert reader.totals().events == reader.totals().items == reader.totals().sessions == 0
        assert [project.id for project in reader.projects()] == [1]


def test_events_beside_a_probe_are_stored(
    make_pipeline: Make, spool: Spool, store: Store, probes: Path, home: Home, folder: Path
) -> None:
    for text, cwd in (("one", folder), ("probe", probes), ("two", folder)):
        post(spool, cwd, text)
    drain(make_pipeline, home)
    assert [one.event.body.text for one in logged(store)] == ["one", "two"]
    assert [one.seq for one in logged(store)] == [1, 2]
    assert len(answers(probes)) == 1


def test_a_probe_whose_folder_is_gone_is_dropped(
    make_pipeline: Make, spool: Spool, store: Store, probes: Path, home: Home
) -> None:
    post(spool, probes / "gone", "look")
    drain(make_pipeline, home)
    assert spool.depth() == 0
    assert logged(store) == []


def test_a_folder_that_only_begins_like_the_probes_is_recorded(
    make_pipeline: Make, spool: Spool, store: Store, home: Home
) -> None:
    beside = home.root / "probes-of-mine"
    beside.mkdir()
    post(spool, beside, "look")
    drain(make_pipeline, home)
    assert len(logged(store)) == 1
