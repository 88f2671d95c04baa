"""What is imported, purged or a probe: it changes nothing of what is known, or never comes in."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from observer.clients.envelope import Envelope
from observer.core.config import Settings
from observer.core.errors import Undecodable
from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    Edit,
    Event,
    FileWrite,
    Prompt,
    Remember,
    SessionEnd,
)
from observer.core.model import UNASSIGNED, Receipt
from observer.core.paths import Home
from observer.core.routes import import_route
from observer.ingest.decode import decode_call
from observer.ingest.pipeline import ANSWER, Pipeline, Probed
from observer.local.pauses import EVERYWHERE
from observer.local.spool import Spool
from observer.observations import project_state
from observer.store.interface import Store
from observer.store.tombstones import Tombstones
from tests.ingest.conftest import Make, Post, drained, items_of, log_of

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
NOW_MS = 1_790_000_000_000
RED = Command(command="pytest", output="FAILED a.py::x - KeyError\n1 failed in 0.1s", exit_code=1)
GREEN = Command(command="pytest", output="1 passed in 0.10s", exit_code=0)
MISSING = Command(
    command="wrap bun test", output="error: unrecognized subcommand 'bun'", exit_code=2
)
WORKED = Command(command="bun test", output="5 pass\n0 fail", exit_code=0)
EDIT = FileWrite(path="a.py", edits=(Edit(old="a = 1", new="a = 2"),))


@pytest.fixture
def event(folder: Path) -> Callable[..., Event]:
    """Make an event of a session, a time ago."""
    count = iter(range(99))

    def make(body: AnyBody, session: str, ago_ms: int, *, imported: bool = True) -> Event:
        number = next(count)
        return Event(
            id=f"import-{number}" if imported else f"e{number}",
            at_ms=NOW_MS - ago_ms + number,
            client="claude-code",
            session=session,
            cwd=str(folder),
            body=body,
            route=import_route("claude-code") if imported else "claude-code/x",
        )

    return make


def failing(store: Store) -> list[str]:
    with store.read() as reader:
        state = project_state.decode(reader.project_state(reader.projects()[-1].id))
    return [failure.head for failure in state.failures]


def status(store: Store) -> str:
    with store.read() as reader:
        return reader.sessions()[0].status


@pytest.mark.parametrize("at_once", [1, 9])
def test_what_was_red_long_ago_is_not_red_now(
    pipeline: Pipeline, store: Store, event: Callable[..., Event], at_once: int
) -> None:
    """Of the past the fixes are found once it is put in order."""
    pipeline.ingest([event(GREEN, "now", 0, imported=False)])
    past = [event(body, "new", DAY_MS) for body in (RED, EDIT, GREEN, RED)]
    older = [event(body, "old", 9 * DAY_MS) for body in (EDIT, GREEN, RED)]
    for group in (past, older):
        for start in range(0, len(group), at_once):
            pipeline.ingest(group[start : start + at_once])
    assert failing(store) == []
    pipeline.rebuild()
    assert [item.type for item in items_of(store)].count("fix") == 1
    assert failing(store) == []


@pytest.mark.parametrize(
    ("first", "then", "red"),
    [
        pytest.param(
            (RED, "new", DAY_MS, True),
            (GREEN, "old", 9 * DAY_MS, True),
            ["pytest"],
            id="what the newest import left red",
        ),
        pytest.param(
            (GREEN, "now", 0, False),
            (RED, "now", DAY_MS, False),
            [],
            id="what comes late by a hook is of its own time",
        ),
    ],
)
def test_only_what_is_red_now_is_red(
    pipeline: Pipeline, store: Store, event: Callable[..., Event], first: Any, then: Any, red: Any
) -> None:
    for *happened, imported in (first, then):
        pipeline.ingest([event(*happened, imported=imported)])
    assert failing(store) == red


def test_what_works_is_known_through_all_of_the_past(
    pipeline: Pipeline, store: Store, event: Callable[..., Event]
) -> None:
    """One fix for the project, with a count, in whichever order its sessions come."""
    for session, ago_ms in (("new", 0), ("old", DAY_MS), ("older", 9 * DAY_MS)):
        pipeline.ingest([event(body, session, ago_ms) for body in (EDIT, MISSING, WORKED)])
    pipeline.rebuild()
    with store.read() as reader:
        (fix,) = (item for item in reader.all_items() if item.type == "fix")
    assert "met 3 times" in fix.narrative


def test_no_session_is_closed_between_two_parts_of_an_import(
    pipeline: Pipeline, store: Store, event: Callable[..., Event]
) -> None:
    pipeline.ingest([event(Prompt(text="go"), "old", DAY_MS)])
    assert pipeline.close_idle() == frozenset()
    assert status(store) == "active"
    pipeline.end_import()
    assert pipeline.close_idle()
    assert status(store) == "idle"


def test_the_commit_of_now_is_not_that_of_the_past(
    pipeline: Pipeline,
    store: Store,
    folder: Path,
    git: Callable[..., str],
    event: Callable[..., Event],
) -> None:
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "c")
    pipeline.ingest([event(Prompt(text="go"), "old", DAY_MS)])
    pipeline.ingest([event(Prompt(text="go on"), "new", 0, imported=False)])
    with store.read() as reader:
        assert [bool(one.commit) for one in reader.log(after_seq=0)] == [False, True]


def test_an_end_is_imported_if_no_later_one_is_known(
    pipeline: Pipeline, event: Callable[..., Event]
) -> None:
    for session, ends_ms, is_stored in (("later", HOUR_MS, False), ("resumed", DAY_MS, True)):
        pipeline.ingest([event(Prompt(text="go"), session, 2 * DAY_MS, imported=False)])
        pipeline.ingest([event(SessionEnd(reason="other"), session, ends_ms, imported=False)])
        (receipt,) = pipeline.ingest([event(SessionEnd(reason="other"), session, 2 * HOUR_MS)])
        assert (receipt.seq is not None) == is_stored


@pytest.mark.parametrize(("ago_ms", "is_kept"), [(DAY_MS, False), (0, True)], ids=["then", "now"])
def test_what_was_paused_is_not_imported(
    pipeline: Pipeline, spool: Spool, event: Callable[..., Event], ago_ms: int, is_kept: bool
) -> None:
    begin_ms = NOW_MS - ago_ms - HOUR_MS
    spool.pauses.begin([EVERYWHERE], from_ms=begin_ms, until_ms=begin_ms + 2 * HOUR_MS)
    (receipt,) = pipeline.ingest([event(Prompt(text="go"), "s", DAY_MS)])
    assert (receipt != Receipt()) == is_kept


def test_a_policy_is_for_the_past_too(
    pipeline: Pipeline, folder: Path, event: Callable[..., Event]
) -> None:
    (folder / ".observer.toml").write_text("[capture]\nenabled = false\n")
    assert pipeline.ingest([event(Prompt(text="go"), "s", DAY_MS)]) == [Receipt()]


@pytest.mark.measured
def test_a_call_nested_too_deep_cannot_be_decoded() -> None:
    deep: object = "x"
    for _ in range(100_000):
        deep = [deep]
    call = {"hook_event_name": "New", "deep": deep}
    envelope = Envelope(id="e", at_ms=1, client="claude-code", event="New")
    with pytest.raises(Undecodable):
        decode_call(envelope, call, cap_bytes=9999)  # type: ignore[arg-type]


def a_commit(folder: Path, name: str = "again") -> Event:
    body = Commit(hash="c0ffee", subject="Begin", action="import")
    return Event(id=name, at_ms=1, client="git", body=body, cwd=str(folder), dedup="commit:c0ffee")


@pytest.fixture
def tombstones(home: Home) -> Tombstones:
    return Tombstones(home.tombstones)


def test_a_purged_event_or_project_comes_back_by_no_way(
    make_pipeline: Make, tombstones: Tombstones, store: Store, folder: Path
) -> None:
    tombstones.add([("a", "", ()), ("first", "commit:c0ffee", (str(folder),))])
    pipeline = make_pipeline(tombstones=tombstones)
    event = Event(id="a", at_ms=1, client="c", body=Command(command="make"))
    assert pipeline.ingest([event]) == [Receipt(is_purged=True)]
    assert pipeline.ingest([a_commit(folder)])[0].is_purged
    with store.read() as reader:
        assert reader.totals().events == 0
        assert [project.id for project in reader.projects()] == [UNASSIGNED]
    pipeline.ingest([msgspec.structs.replace(event, id="n", cwd=str(folder))])
    with store.read() as reader:
        project = reader.projects()[-1]
    tombstones.add([("first", "note:1", (str(folder),))])
    note = Event(id="z", at_ms=1, client="c", body=Remember(content="tabs"), dedup="note:1")
    assert pipeline.ingest([note], project.id)[0].is_purged


def test_a_spool_entry_that_is_purged_or_too_old_is_taken_off_and_counted(
    make_pipeline: Make,
    tombstones: Tombstones,
    post: Post,
    spool: Spool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    tombstones.add([(post("UserPromptSubmit", {"prompt": "hello"}), "", ())])
    report = {"kind": "prompt", "text": "hello there", "at": "2020-01-01T00:00:00Z"}
    spool.append({"client": "generic", "event": "prompt"}, json.dumps(report).encode())
    pipeline = make_pipeline(tombstones=tombstones, settings=Settings(retention_days=30))
    with caplog.at_level(logging.INFO):
        drained = pipeline.drain()
    assert (drained.entries, drained.projects) == (2, frozenset())
    assert "1 events were left out that had been purged" in caplog.text
    assert "1 events were left out that are older than is kept" in caplog.text


KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def probes(home: Home) -> Path:
    folder = home.probes / "1" / "quill"
    folder.mkdir(parents=True)
    return folder


def post(spool: Spool, cwd: Path, text: str) -> None:
    body = {"kind": "prompt", "text": text, "session": "s", "cwd": str(cwd), "client": "quill"}
    spool.append({"client": "generic", "event": "prompt"}, json.dumps(body).encode())


def answers(folder: Path) -> list[Probed]:
    found = sorted(folder.glob(f"{ANSWER}*"))
    return [msgspec.json.decode(path.read_bytes(), type=Probed) for path in found]


def test_a_probe_comes_back_redacted_and_with_its_item_and_is_in_no_log(
    make_pipeline: Make, spool: Spool, store: Store, probes: Path, home: Home
) -> None:
    (probes / "pyproject.toml").touch()
    post(spool, probes, f"the key is {KEY}")
    drained(make_pipeline(probes=home.probes))
    with store.read() as reader:
        assert reader.totals().events == reader.totals().items == reader.totals().sessions == 0
        assert [project.id for project in reader.projects()] == [UNASSIGNED]
    (found,) = answers(probes)
    said = found.recorded.event.body
    assert isinstance(said, Prompt)
    assert said.text.startswith("the key is ")
    assert KEY not in said.text
    assert found.item is not None
    assert found.item.type == "turn"


def test_events_beside_a_probe_are_stored_and_one_without_a_folder_dropped(
    make_pipeline: Make, spool: Spool, store: Store, probes: Path, home: Home, folder: Path
) -> None:
    beside = home.root / "probes-of-mine"
    beside.mkdir()
    for text, cwd in (("one", folder), ("probe", probes), ("gone", probes / "gone")):
        post(spool, cwd, text)
    post(spool, beside, "two")
    drained(make_pipeline(probes=home.probes))
    assert [event.body for event in log_of(store)] == [Prompt(text="one"), Prompt(text="two")]
    assert (len(answers(probes)), spool.depth()) == (1, 0)
