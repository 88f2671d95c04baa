"""What is imported changes nothing of what is known, and says nothing of what is so now."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from observer.clients.envelope import Envelope
from observer.core.errors import Undecodable
from observer.core.events import AnyBody, Command, Edit, Event, FileWrite, Prompt, SessionEnd
from observer.core.model import Receipt, Session
from observer.core.routes import import_route
from observer.ingest.decode import decode_call
from observer.ingest.pipeline import Pipeline
from observer.local.pauses import EVERYWHERE
from observer.local.spool import Spool
from observer.observations import project_state
from observer.store.interface import Store

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


def types(store: Store) -> list[str]:
    with store.read() as reader:
        return [item.type for item in reader.all_items()]


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
    assert types(store).count("fix") == 1
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
