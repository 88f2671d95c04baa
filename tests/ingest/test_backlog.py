from __future__ import annotations

import gc
import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from observer.core.child_process import NICE, piped, read_message, write_message
from observer.core.config import Settings
from observer.core.disk import envelope
from observer.core.errors import StoreUnavailable
from observer.core.paths import Home
from observer.ingest.pipeline import Pipeline
from observer.ingest.prefetch import (
    PAGE,
    PAGE_BYTES,
    Page,
    Prefetcher,
    PrefetchRequest,
    analysed,
    analysing,
    main,
    pages,
)
from observer.ingest.prepare import EventPreparer
from observer.local.spool import Spool
from observer.observations.analysis import EventAnalysis
from observer.projects import PlaceCache
from observer.store.interface import Store
from tests.ingest.conftest import Faulty, Make, Post, bash, drained, log_of
from tests.support import Until


def test_a_folder_is_looked_at_once_a_batch(
    pipeline: Pipeline, post: Post, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    look = PlaceCache.at
    monkeypatch.setattr(PlaceCache, "at", lambda *at: asked.append(at[1]) or look(*at))
    for _ in range(2):
        for number in range(3):
            post("PostToolUse", bash(f"make {number}"))
        assert pipeline.drain().entries == 3
    assert asked == [str(folder)] * 2


NOW_MS = 1_790_000_000_000
BATCH, BACKLOG = 128, 64
"""A quarter and an eighth of what they are, so that less has to be stored."""
LONG = 2 * BATCH + BACKLOG
"""So many entries that enough are left after the batches that grow."""

Fill = Callable[..., list[str]]


@pytest.fixture(autouse=True)
def sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("observer.ingest.pipeline.BATCH", BATCH)
    monkeypatch.setattr("observer.ingest.pipeline.BACKLOG", BACKLOG)


@pytest.fixture
def fill(spool: Spool, home: Home, folder: Path) -> Fill:
    """Spool prompts as hooks do, a second apart, without waiting for the disk."""

    def put(count: int, *, payload: bytes | None = None) -> list[str]:
        names = []
        for number in range(count):
            said = msgspec.json.encode({"session_id": "s1", "prompt": f"say {number}"})
            fields = {"client": "claude-code", "event": "UserPromptSubmit", "cwd": str(folder)}
            name = f"e{number:05}"
            (home.spool / "tmp" / name).write_bytes(envelope(fields, payload or said))
            (home.spool / "new" / name).touch()
            at_s = NOW_MS // 1000 - count + number
            os.utime(home.spool / "new" / name, (at_s, at_s))
            names.append(name)
        return names

    return put


@pytest.fixture
def ahead(home: Home) -> Iterator[Prefetcher]:
    made = Prefetcher(home.spool, Settings())
    yield made
    made.end()


@pytest.fixture
def order(home: Home) -> PrefetchRequest:
    return PrefetchRequest(str(home.spool), Settings(), frozenset())


def process_of(ahead: Prefetcher) -> subprocess.Popen[bytes]:
    process = ahead._process._process
    assert process
    return process


def test_the_process_leaves_a_busy_processor_to_others_and_ends_with_the_pipeline(
    make_pipeline: Make, ahead: Prefetcher, fill: Fill
) -> None:
    fill(2)
    ahead.begin(())
    process = process_of(ahead)
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == min(19, os.nice(0) + NICE)
    make_pipeline(ahead=ahead).close()
    assert (ahead._process.is_running, process.returncode) == (False, -signal.SIGKILL)


@pytest.mark.measured
def test_the_process_starts_for_a_long_backlog_and_ends_with_it(
    make_pipeline: Make, ahead: Prefetcher, fill: Fill
) -> None:
    pipeline = make_pipeline(ahead=ahead)
    fill(BATCH)
    while pipeline.drain().entries:
        assert not ahead._process.is_running
    fill(LONG)
    while not ahead._process.is_running:
        assert pipeline.drain().entries
    process = process_of(ahead)
    drained(pipeline)
    assert (ahead._process.is_running, process.returncode) == (False, 0)


@pytest.mark.slow
def test_what_cannot_be_read_is_set_aside_at_the_end(
    make_pipeline: Make, ahead: Prefetcher, fill: Fill, store: Store, spool: Spool
) -> None:
    names = fill(LONG)
    (broken,) = fill(1, payload=b"{")
    names.remove(broken)
    drained(make_pipeline(ahead=ahead))
    assert [event.id for event in log_of(store)] == names
    assert (spool.depth(), spool.bad()) == (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_the_death_of_the_process_costs_nothing_but_time(
    make_pipeline: Make, ahead: Prefetcher, fill: Fill, store: Store, number: signal.Signals
) -> None:
    names = fill(LONG)
    pipeline = make_pipeline(ahead=ahead)
    while not ahead._process.is_running:
        pipeline.drain()
    process_of(ahead).send_signal(number)
    drained(pipeline)
    assert sorted([event.id for event in log_of(store)]) == names
    assert not ahead._process.is_running


def test_one_that_died_is_not_started_again(
    ahead: Prefetcher, fill: Fill, caplog: pytest.LogCaptureFixture
) -> None:
    fill(3)
    ahead.begin(in_hand=())
    process_of(ahead).kill()
    assert ahead.next() == ()
    assert "going on without one" in caplog.text
    ahead.begin(in_hand=())
    assert not ahead._process.is_running


def test_the_process_does_not_outlive_its_reader(
    ahead: Prefetcher, fill: Fill, until: Until
) -> None:
    """However the daemon dies, the kernel closes its end of the pipe."""
    fill(2 * PAGE)
    ahead.begin(in_hand=())
    process = process_of(ahead)
    assert len(ahead.next()) == PAGE
    assert process.stdout
    process.stdout.close()
    until(lambda: process.poll() is not None)
    assert process.returncode == 0


def test_what_is_in_hand_or_cannot_be_read_is_in_no_page(
    fill: Fill, order: PrefetchRequest
) -> None:
    names = fill(4)
    in_hand = msgspec.structs.replace(order, in_hand=frozenset(names[:2]))
    assert [line.id for page in pages(in_hand) for line in page.lines] == names[2:]
    fill(4, payload=b"{")
    assert list(pages(order)) == []


def test_a_page_says_what_reading_says(
    ahead: Prefetcher, fill: Fill, spool: Spool, order: PrefetchRequest
) -> None:
    fill(2)
    entries = spool.claim(at_most=9)
    reading = EventPreparer(Settings(), spool, places=PlaceCache(), now_ms=lambda: NOW_MS)
    ahead.begin(in_hand=())
    batch = ahead.next()
    shown = [
        [msgspec.structs.replace(one, analysis=None) for one in located] for _, located in batch
    ]
    assert shown == [reading.read(entry) for entry in entries]
    assert [entry for entry, _ in batch] == [entry._replace(data=b"") for entry in entries]


@pytest.mark.measured
def test_one_that_cannot_start_is_not_tried_again(
    make_pipeline: Make,
    home: Home,
    fill: Fill,
    spool: Spool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    ahead = Prefetcher(home.spool, Settings())
    fill(LONG)
    drained(make_pipeline(ahead=ahead))
    assert (spool.depth(), ahead._process.is_running) == (0, False)
    assert [one.getMessage() for one in caplog.records] == [
        "the process that reads ahead cannot start: No such file or directory; going on without one"
    ]


Answered = Callable[[Callable[[], None], object], list[Page]]


@pytest.fixture
def answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Answered:
    """Return what the main function of a process writes for a message."""

    def answered(run: Callable[[], None], message: object) -> list[Page]:
        asked = io.BytesIO()
        write_message(asked, msgspec.msgpack.encode(message))
        asked.seek(0)
        interrupted = signal.getsignal(signal.SIGINT)
        with (tmp_path / "out").open("w") as out, monkeypatch.context() as patched:
            patched.setattr("sys.stdin", io.TextIOWrapper(asked))
            patched.setattr("sys.stdout", out)
            try:
                run()
            finally:
                signal.signal(signal.SIGINT, interrupted)
                gc.enable()
        shown, found = io.BytesIO((tmp_path / "out").read_bytes()), []
        while data := read_message(shown):
            found.append(msgspec.msgpack.decode(data, type=Page))
        return found

    return answered


def test_the_processes_write_pages_and_analyses_behind_their_lengths(
    fill: Fill, order: PrefetchRequest, answered: Answered
) -> None:
    names = fill(3)
    (page,) = answered(main, order)
    assert [line.id for line in page.lines] == names
    data = '{"id":"e","at_ms":1,"client":"x","body":{"kind":"custom","name":"n","text":"said"}}'
    line = msgspec.structs.replace(page.lines[0], events=[(data, 0, False, EventAnalysis())])
    ((made,),) = [each.lines for each in answered(analysing, Page([line], page.places))]
    ((kept, _, _, analysis),) = made.events
    assert kept == data
    assert analysis.draft is not None


def test_what_cannot_be_analysed_is_left_to_the_one_who_stores(
    fill: Fill, order: PrefetchRequest
) -> None:
    fill(2)
    (page,) = pages(order)
    broken = msgspec.structs.replace(page.lines[0], events=[("{", 0, False, EventAnalysis())])
    assert analysed(Page([broken, page.lines[1]], page.places)).lines == analysed(page).lines[1:]


def test_a_process_ends_as_the_one_behind_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(SystemExit) as ended:
        piped("os", "abort", lambda _: ())
    assert ended.value.code == -signal.SIGABRT


@pytest.mark.measured
def test_settings_reach_the_process(home: Home, spool: Spool, fill: Fill, folder: Path) -> None:
    report = b'{"kind": "prompt", "text": "hello", "at": "2020-01-01T00:00:00Z"}'
    fill(2)
    spool.append({"client": "generic", "event": "prompt"}, report)
    ahead = Prefetcher(home.spool, Settings(exclude=(str(folder),), retention_days=30))
    ahead.begin(in_hand=())
    found = [[one.is_expired for one in located] for _, located in ahead.next()]
    assert sorted(found) == [[], [], [True]]
    ahead.end()


@pytest.mark.measured
def test_an_event_that_breaks_the_interpreter_is_found_and_set_aside(
    make_pipeline: Make, ahead: Prefetcher, fill: Fill, store: Store, spool: Spool
) -> None:
    names = fill(LONG)
    poison = names.pop(-9)
    drained(make_pipeline(store=Faulty(store, poison, ZeroDivisionError()), ahead=ahead))
    assert [event.id for event in log_of(store)] == names
    assert (spool.depth(), spool.bad()) == (0, 1)


@pytest.mark.measured
def test_a_store_that_cannot_write_ends_the_reading(
    make_pipeline: Make, ahead: Prefetcher, fill: Fill, store: Store
) -> None:
    """What follows must not be stored before what failed."""
    names = fill(LONG)
    full = Faulty(store, names[-9], StoreUnavailable("full"))
    with pytest.raises(StoreUnavailable):
        drained(make_pipeline(store=full, ahead=ahead))
    assert not ahead._process.is_running
    drained(make_pipeline(ahead=ahead))
    assert [event.id for event in log_of(store)] == names


@pytest.mark.measured
def test_a_page_of_many_bytes_is_short(fill: Fill, order: PrefetchRequest) -> None:
    said = msgspec.json.encode({"session_id": "s1", "prompt": "x" * (PAGE_BYTES // 3)})
    fill(3, payload=said)
    assert [len(page.lines) for page in pages(order)] == [2, 1]
