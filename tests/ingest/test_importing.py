"""What is imported, purged or a probe: it changes nothing of what is known, or never comes in."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path

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
from observer.core.model import UNASSIGNED, Receipt, Session
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
from tests.support import pipeline_over

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


def sessions(store: Store) -> list[Session]:
    with store.read() as reader:
        return list(reader.sessions())


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


def test_what_the_newest_import_left_red_is_red(
    pipeline: Pipeline, store: Store, event: Callable[..., Event]
) -> None:
    pipeline.ingest([event(RED, "new", DAY_MS)])
    pipeline.ingest([event(GREEN, "old", 9 * DAY_MS)])
    assert failing(store) == ["pytest"]


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


def test_what_comes_late_by_a_hook_is_of_its_own_time(
    pipeline: Pipeline, store: Store, event: Callable[..., Event]
) -> None:
    pipeline.ingest([event(GREEN, "now", 0, imported=False)])
    pipeline.ingest([event(RED, "now", DAY_MS, imported=False)])
    assert failing(store) == []


def test_no_session_is_closed_between_two_parts_of_an_import(
    pipeline: Pipeline, store: Store, event: Callable[..., Event]
) -> None:
    pipeline.ingest([event(Prompt(text="go"), "old", DAY_MS)])
    assert pipeline.close_idle() == frozenset()
    assert sessions(store)[0].status == "active"
    pipeline.end_import()
    assert pipeline.close_idle()
    assert sessions(store)[0].status == "idle"


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


@pytest.mark.parametrize(
    ("ends_ms", "is_stored"),
    [pytest.param(HOUR_MS, False, id="closed later"), pytest.param(DAY_MS, True, id="resumed")],
)
def test_an_end_is_imported_if_no_later_one_is_known(
    pipeline: Pipeline, event: Callable[..., Event], ends_ms: int, is_stored: bool
) -> None:
    pipeline.ingest([event(Prompt(text="go"), "s", 2 * DAY_MS, imported=False)])
    pipeline.ingest([event(SessionEnd(reason="other"), "s", ends_ms, imported=False)])
    (receipt,) = pipeline.ingest([event(SessionEnd(reason="other"), "s", 2 * HOUR_MS)])
    assert (receipt.seq is not None) == is_stored


@pytest.mark.parametrize(
    ("ago_ms", "is_kept"), [pytest.param(DAY_MS, False, id="then"), pytest.param(0, True, id="now")]
)
def test_what_was_paused_is_not_imported(
    pipeline: Pipeline, spool: Spool, event: Callable[..., Event], ago_ms: int, is_kept: bool
) -> None:
    """A pause of now does not matter."""
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
    pipeline = pipeline_over(store, spool, 1_790_000_000_000, settings=Settings(retention_days=30))
    with caplog.at_level(logging.INFO):
        drained = pipeline.drain()
    assert (drained.entries, drained.projects) == (1, frozenset())
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
    assert spool.depth() == 0
    with store.read() as reader:
        assert reader.totals().events == reader.totals().items == reader.totals().sessions == 0
        assert [project.id for project in reader.projects()] == [1]
    (found,) = answers(probes)
    assert isinstance(found.recorded.event.body, Prompt)
    assert found.recorded.event.body.text.startswith("the key is ")
    assert KEY not in found.recorded.event.body.text
    assert found.item is not None
    assert found.item.type == "turn"


def test_events_beside_a_probe_are_stored(
    make_pipeline: Make, spool: Spool, store: Store, probes: Path, home: Home, folder: Path
) -> None:
    for text, cwd in (("one", folder), ("probe", probes), ("two", folder)):
        post(spool, cwd, text)
    drained(make_pipeline(probes=home.probes))
    with store.read() as reader:
        found = [(one.seq, one.event.body) for one in reader.log()]
    assert found == [(1, Prompt(text="one")), (2, Prompt(text="two"))]
    assert len(answers(probes)) == 1


def test_a_probe_whose_folder_is_gone_is_dropped(
    make_pipeline: Make, spool: Spool, store: Store, probes: Path, home: Home
) -> None:
    post(spool, probes / "gone", "look")
    drained(make_pipeline(probes=home.probes))
    assert spool.depth() == 0
    assert log_of(store) == []


def test_a_folder_that_only_begins_like_the_probes_is_recorded(
    make_pipeline: Make, spool: Spool, store: Store, home: Home
) -> None:
    beside = home.root / "probes-of-mine"
    beside.mkdir()
    post(spool, beside, "look")
    drained(make_pipeline(probes=home.probes))
    assert len(log_of(store)) == 1
