"""What the daemon notes of items: shown at a session's start, fetched, cited, edited since."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.events import AnyBody, Event, FileWrite, Prompt, SessionStart
from observer.core.model import UsageEvent
from observer.core.paths import Home
from observer.daemon.feedback import BATCH, MARK_EVERY, SHOWN_WITHIN_MS, FeedbackRecorder
from observer.daemon.health import Health
from observer.daemon.home_guard import HomeGuard
from observer.daemon.writer import WriterThread
from observer.ingest.pipeline import Pipeline
from observer.projects import PlaceCache
from observer.search.usage import KEPT_MS
from observer.spool.spool import Spool
from observer.store.sqlite.database import SqliteStore
from observer.views.hook_output import ANYONES, mirror


class Bench:
    """A store that is followed, and what happens in it."""

    def __init__(self, home: Home, root: Path) -> None:
        self.store = SqliteStore(home.database)
        pipeline = Pipeline(
            self.store, Spool(home.spool), settings=Settings(), places=PlaceCache(), now_ms=now_ms
        )
        self._home = home
        self._root = root
        self.writer = WriterThread(pipeline, HomeGuard(home), Health())
        self.shown = 0
        self._numbers = itertools.count()
        self._at_ms = 0
        self.feedback = self.begin()

    def begin(self) -> FeedbackRecorder:
        """Begin to follow, as a daemon that has just started."""
        return FeedbackRecorder(self.store, self.writer, self._home, on_fetch=self._tell)

    def _tell(self) -> None:
        self.shown += 1

    def happen(
        self, body: AnyBody, session: str = "s", client: str = "kiro", *, times: int = 1
    ) -> int:
        """Store an event, or many alike; return the id of the last item."""
        events = [
            Event(
                id=f"{session}-{next(self._numbers)}",
                at_ms=self._later_ms(),
                client=client,
                session=session,
                cwd=str(self._root),
                body=body,
            )
            for _ in range(times)
        ]
        return self.writer.record(events, None)[-1].item or 0

    def _later_ms(self) -> int:
        """Return the time, later than any before: uses are listed by their time."""
        self._at_ms = max(self._at_ms + 1, now_ms())
        return self._at_ms

    def show(self, *ids: int) -> None:
        """Write the file that a hook prints."""
        folder = mirror(self._home, str(self._root))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ANYONES).write_text("".join(f"#{item} decision · x\n" for item in ids))

    def seq(self) -> int:
        """Return the number of the newest event."""
        with self.store.read() as reader:
            return reader.newest_seq()

    def followed(self) -> int | None:
        """Return up to where it is kept that the log was followed."""
        with self.store.read() as reader:
            return reader.followed()

    def uses(self) -> list[tuple[int, str]]:
        """Follow, and return the uses that are known: item and sort."""
        self.feedback.follow()
        with self.store.read() as reader:
            return [(use.item, use.sort) for use in reader.uses()]


@pytest.fixture
def bench(home: Home, tmp_path: Path) -> Iterator[Bench]:
    root = tmp_path / "app"
    root.mkdir()
    (root / "package.json").touch()
    made = Bench(home, root)
    yield made
    made.writer.close()
    made.store.close()


@pytest.fixture
def noted(bench: Bench) -> int:
    """An item about a file, and the log followed so far."""
    item = bench.happen(FileWrite(path="cart.py", content="x"), session="before")
    bench.show(item)
    bench.feedback.follow()
    return item


def test_the_first_time_begins_at_the_end_of_the_log(bench: Bench) -> None:
    bench.show(4)
    bench.happen(SessionStart())
    assert bench.uses() == []
    assert bench.followed() == bench.seq()


def test_a_session_start_shows_what_its_file_holds_then(bench: Bench, noted: int) -> None:
    bench.happen(SessionStart())
    assert bench.uses() == [(noted, "shown")]
    bench.show(noted, 400)
    assert bench.uses() == [(noted, "shown")]
    bench.feedback = bench.begin()
    assert bench.uses() == [(noted, "shown")]


def test_what_a_session_does_afterwards_counts(bench: Bench, noted: int) -> None:
    bench.happen(Prompt(text=f"too early: #{noted}"))
    bench.feedback.follow()
    bench.happen(SessionStart())
    bench.happen(FileWrite(path="cart.py", content="y"))
    assert bench.uses() == [(noted, "shown"), (noted, "edited")]
    bench.happen(Prompt(text=f"as in #{noted}"))
    assert bench.uses()[2:] == [(noted, "cited")]


@pytest.mark.parametrize(("session", "client"), [("other", "kiro"), ("s", "codex"), ("", "kiro")])
def test_what_was_not_shown_it_does_not_count(
    bench: Bench, noted: int, session: str, client: str
) -> None:
    bench.happen(SessionStart())
    bench.happen(Prompt(text=f"as in #{noted}"), session=session, client=client)
    assert bench.uses() == [(noted, "shown")]


def test_many_events_are_followed_in_parts(bench: Bench, noted: int) -> None:
    bench.happen(SessionStart())
    bench.happen(Prompt(text="go on"), times=BATCH)
    bench.happen(Prompt(text=f"as in #{noted}"))
    assert bench.uses() == [(noted, "shown"), (noted, "cited")]


def test_a_fetch_is_shown_at_once_and_written_later(bench: Bench, noted: int) -> None:
    bench.feedback.fetched([noted])
    assert bench.shown == 1
    assert bench.uses() == [(noted, "fetched")]


@pytest.mark.parametrize(("ago_ms", "session"), [(1000, 9), (SHOWN_WITHIN_MS + 1000, 0)])
def test_a_fetch_counts_for_the_session_that_was_shown_it(
    bench: Bench, noted: int, ago_ms: int, session: int
) -> None:
    shown = UsageEvent(item=noted, session=9, sort="shown", at_ms=now_ms() - ago_ms)
    with bench.store.write() as writer:
        writer.put_uses([shown])
    bench.feedback.fetched([noted])
    bench.feedback.follow()
    with bench.store.read() as reader:
        assert {use.session for use in reader.uses() if use.sort == "fetched"} == {session}


def test_uses_of_long_ago_go_when_others_come(bench: Bench, noted: int) -> None:
    old = UsageEvent(item=noted, session=9, sort="cited", at_ms=now_ms() - KEPT_MS - 1000)
    with bench.store.write() as writer:
        writer.put_uses([old])
    bench.happen(SessionStart())
    assert bench.uses() == [(noted, "shown")]


def test_uses_are_forgotten_by_item_and_all(bench: Bench, noted: int) -> None:
    bench.happen(SessionStart())
    bench.feedback.fetched([400])
    assert bench.feedback.reset([noted]) == 1
    assert bench.uses() == [(400, "fetched")]
    assert bench.feedback.reset(None) == 1
    assert bench.uses() == []


def test_a_forgotten_item_is_of_no_use(bench: Bench, noted: int) -> None:
    bench.show(noted, 4000)
    bench.happen(SessionStart())
    bench.happen(Prompt(text="as in #4000"))
    assert bench.uses() == [(noted, "shown"), (4000, "shown")]


@pytest.mark.slow
def test_that_nothing_was_used_is_kept_now_and_then(bench: Bench, noted: int) -> None:
    before = bench.followed()
    bench.happen(Prompt(text=f"not shown: #{noted}"))
    assert (bench.uses(), bench.followed()) == ([], before)
    bench.happen(Prompt(text="go on"), times=MARK_EVERY)
    assert (bench.uses(), bench.followed()) == ([], bench.seq())


def test_a_log_that_was_put_back_is_followed_from_its_end(bench: Bench, noted: int) -> None:
    with bench.store.write() as writer:
        writer.put_uses((), followed=bench.seq() + 100)
    bench.feedback = bench.begin()
    assert bench.uses() == []
    bench.happen(SessionStart())
    assert bench.uses() == [(noted, "shown")]
