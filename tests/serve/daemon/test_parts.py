"""The parts of the daemon that need no process to be wrong in, and how its threads wait."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import logging
import lzma
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from observer.core.clock import now_ms
from observer.core.errors import BadInput, StoreUnavailable
from observer.core.model import Receipt
from observer.core.paths import Home
from observer.local import client
from observer.local.spool import Spool
from observer.serve.daemon import DaemonLog, SecretlessFormatter
from observer.serve.drain import (
    FEW,
    MOST_REST_S,
    Wakes,
    forget_code,
    give_memory_back,
    rest_s,
    watch,
)
from observer.serve.http import ImportReceipt
from observer.serve.mcp import server as listening
from observer.serve.mcp.server import McpFront
from observer.serve.note_folders import NoteFolderWorker
from observer.serve.requests import import_events, post_events
from observer.serve.watcher import WatchWorker
from observer.serve.worker import (
    NICE,
    WRITER_NICE,
    Health,
    LazyStore,
    RequestStore,
    WriterThread,
    background,
    heard,
)
from observer.store.database import SqliteStore
from observer.store.migrations import migrations
from observer.tools.status import REMEMBERED_MS, current, from_disk
from tests.serve.services import close, services_over


def test_health_names_every_part_that_is_ill_and_logs_it_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    health = Health()
    for _ in range(3):
        health.degrade("store", "full")
    assert [record.message for record in caplog.records] == ["store: full"]
    health.degrade("http", "taken")
    assert health.text() == "http: taken; store: full"
    for part in ("store", "http"):
        health.recover(part)
    assert health.text() is None


class _Denied:
    """A store whose file may not be read."""

    def read(self) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied", "/elsewhere")


@pytest.mark.parametrize("part", ["watching", "note folders"])
def test_what_a_watcher_may_not_read_is_one_line(
    part: str, home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    services = services_over(home)._replace(store=cast("Any", _Denied()))
    workers = {
        "watching": WatchWorker(services),
        "note folders": NoteFolderWorker(services, on_noted=lambda _: None),
    }
    workers[part]._over.set()  # it need not wait before the next round
    workers[part]._call.set()
    workers[part]._round()
    assert services.health.text() == f"{part}: [Errno 13] Permission denied: '/elsewhere'"
    assert [record.exc_info for record in caplog.records] == [None]


def test_a_late_store_is_tried_again_until_it_opens(tmp_path: Path) -> None:
    (tmp_path / "store").touch()
    store = LazyStore(lambda: SqliteStore(tmp_path / "store" / "observer.db"))
    with pytest.raises(StoreUnavailable), store.read():
        pass
    (tmp_path / "store").unlink()
    with store.read() as reader:
        assert reader.totals().events == 0
    store.close()


def test_who_needs_a_store_that_takes_long_to_open_is_told_how_far_it_is(tmp_path: Path) -> None:
    begun, asked = threading.Event(), threading.Event()

    def open_slowly() -> SqliteStore:
        with store.progress("making the memory anew", 2_000) as advance:
            advance(5)
            begun.set()
            assert asked.wait(10)
        return SqliteStore(tmp_path / "observer.db")

    store = LazyStore(open_slowly)
    opening = threading.Thread(target=store.check)
    opening.start()
    assert begun.wait(10)
    with pytest.raises(StoreUnavailable, match="making the memory anew: 5 of 2,000 events"):
        RequestStore(store).check()
    asked.set()
    opening.join(10)
    assert RequestStore(store).check() == "ok"
    store.close()


def test_the_status_counts_what_an_older_observer_stored(home: Home) -> None:
    packed = Path(__file__).parents[2] / "data/homes/v08-c73f2e50.db.xz"
    home.root.mkdir(parents=True)
    home.database.write_bytes(lzma.decompress(packed.read_bytes()))
    status = from_disk(home)
    assert (status.events, status.items, status.projects) == (5, 5, 0)
    assert status.last_stored_at
    assert "was written by an older observer" in str(status.degraded)


def test_a_watch_wakes_for_a_new_file_and_not_for_one_that_goes(tmp_path: Path) -> None:
    async def story() -> None:
        seen: list[str] = []
        async with _watching({tmp_path: seen.append}) as health:
            (tmp_path / "a").touch()
            await _until(lambda: seen)
            seen.clear()
            (tmp_path / "a").unlink()
            (tmp_path / "b").touch()
            await _until(lambda: seen)
        assert (seen, health.text()) == (["b"], None)

    asyncio.run(story())


def test_where_the_kernel_cannot_tell_the_daemon_looks_itself(tmp_path: Path) -> None:
    async def story() -> None:
        seen: list[str] = []
        async with _watching({tmp_path / "gone": seen.append}) as health:
            await _until(lambda: len(seen) > 1)
        assert "looking every 0.2 s instead" in (health.text() or "")

    asyncio.run(story())


@asynccontextmanager
async def _watching(wakes: Wakes) -> AsyncIterator[Health]:
    health = Health()
    task = asyncio.create_task(watch(wakes, health))
    await asyncio.sleep(0)
    yield health
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        pytest.param(b"{", "not JSON", id="not JSON"),
        pytest.param(b"[" * 100_000, "not JSON", id="too deep"),
        pytest.param(b'"\xff"', "not JSON", id="not UTF-8"),
        pytest.param(
            b'{"kind":"custom","name":"a","more":%s1%s}' % (b"[" * 1_010, b"]" * 1_010),
            "nested too deep",
            id="too deep to be kept",
        ),
        pytest.param(b"{}", "field 'kind': missing", id="no kind"),
        pytest.param(b'{"kind": null}', "field 'kind': 'None'", id="a kind that is none"),
        pytest.param(b'[{"kind":"prompt","text":"a"},{"kind":"x"}]', "event 1: ", id="the second"),
        pytest.param(b"[" + b"1," * 5_000 + b"1]", "5,001 events", id="too many"),
    ],
)
def test_what_is_no_event_is_refused_whole(body: bytes, complaint: str) -> None:
    stored: list[object] = []
    with pytest.raises(BadInput, match=complaint):
        post_events(body, lambda events, _project: [stored.append(event) for event in events] or [])
    assert not stored


def test_an_import_counts_what_became_of_its_events() -> None:
    fates = [Receipt(seq=1), Receipt(known="a"), Receipt(is_purged=True), Receipt(is_expired=True)]
    fates.append(Receipt())
    found = import_events(b"[]", lambda _events, _project: fates)
    assert found == ImportReceipt(stored=1, known=1, purged=1, expired=1, excluded=1)


@pytest.mark.parametrize("body", [b"", b"{}", b'[{"id": 1}]', b"[" * 9999])
def test_an_import_of_anything_else_is_refused(body: bytes) -> None:
    with pytest.raises(BadInput):
        import_events(body, lambda _events, _project: [])


def test_a_receipt_says_what_was_stored_and_names_the_fields_that_nothing_is_kept_of() -> None:
    body = b"""[{"kind":"command","command":"make","exitcode":2,"cwd":"/","id":"1"},
        {"kind":"custom","name":"a","colour":"red"}, {"kind":"file-read","path":"a.py"}]"""
    made = [Receipt(seq=1), Receipt(seq=2), Receipt(known="a")]
    receipts = post_events(body, lambda _events, _project: made)
    assert [receipt.ignored for receipt in receipts] == [("exitcode",), (), ()]
    assert [receipt.stored for receipt in receipts] == [True, True, False]
    assert receipts[2].id == "a"


def test_the_status_of_a_new_home_is_empty_and_well(home: Home) -> None:
    status = current(home)
    assert (status.pid, status.events, status.degraded) == (None, 0, None)
    assert not home.root.exists()


def _broken(home: Home) -> None:
    home.root.mkdir()
    home.database.write_bytes(b"this is not a database, and never was" * 99)


def _of_before_an_upgrade(home: Home) -> None:
    store = SqliteStore(home.database, steps=migrations()[:1])
    with store.write() as writer:
        writer._connection.execute(
            "INSERT INTO event VALUES (1, 'one', '', 'command', 'x', 1, NULL, '', '', '', 1, 1, '')"
        )
    store.close()
    SqliteStore(home.database).close()


def _no_folder(place: str, home: Home) -> None:
    Spool(home.spool).prepare()
    shutil.rmtree(home.root / place)
    (home.root / place).touch()


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        pytest.param(_broken, "store: ", id="a broken database"),
        pytest.param(
            _of_before_an_upgrade, "make them anew with: observer doctor --rebuild", id="upgraded"
        ),
        *(
            pytest.param(partial(_no_folder, place), f"spool: {{root}}/{place}", id=place)
            for place in ("spool", "spool/new", "spool/shell")
        ),
        pytest.param(lambda home: home.root.touch(), "home: {root} is not a folder", id="a file"),
    ],
)
def test_the_status_says_what_is_wrong(
    home: Home, prepare: Callable[[Home], None], said: str
) -> None:
    prepare(home)
    assert said.format(root=home.root) in (from_disk(home).degraded or "")


def test_the_status_says_that_a_home_cannot_be_used(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.root.mkdir()
    home.seen.touch()
    assert from_disk(Home(home.seen / "x")).degraded == f"home: {home.seen} is not a folder"
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)
        assert from_disk(home).degraded == f"home: {home.root} cannot be written"
    look = Path.exists

    def refuse(path: Path) -> bool:
        if path == home.database:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return look(path)

    monkeypatch.setattr(Path, "exists", refuse)
    assert from_disk(home).degraded == f"home: {home.database} cannot be read: Permission denied"


def test_the_status_says_what_hooks_refused(home: Home) -> None:
    home.logs.mkdir(parents=True)
    seconds = now_ms() // 1000
    home.refused.write_text(f"{f'40 {seconds - 60} {seconds}':63}\n")
    status = from_disk(home)
    assert status.refused_events == 40
    assert status.degraded is not None
    assert status.degraded.startswith("hooks: at least 40 events refused ")
    assert "the disk was full" in status.degraded
    week_s = REMEMBERED_MS // 1000
    home.refused.write_text(f"{f'40 {seconds - week_s - 60} {seconds - week_s - 9}':63}\n")
    assert (from_disk(home).refused_events, from_disk(home).degraded) == (0, None)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[DaemonLog]:
    handler = DaemonLog(tmp_path / "daemon.log", maxBytes=200, backupCount=2)
    yield handler
    handler.close()


def test_the_log_is_rotated(log: DaemonLog, tmp_path: Path, capfd: object) -> None:
    for number in range(30):
        line = f"a line of the log, number {number}"
        log.emit(logging.LogRecord("x", 20, "", 0, line, None, None))
    names = {path.name for path in tmp_path.glob("daemon.log*")}
    assert names == {"daemon.log", "daemon.log.1", "daemon.log.2"}


def test_the_log_holds_no_secrets() -> None:
    secret = "ghp_" + "k3JxQ9vTz1LmN8sWb5RcY2dFh7GpA0uEoViX"
    error = (ValueError, ValueError(f"what a payload held: {secret}"), None)
    record = logging.LogRecord("x", 40, "", 0, "cannot decode %s", (secret,), error)
    assert secret not in SecretlessFormatter().format(record)


async def _until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - what changes it runs in a thread
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("entries", "took_s", "rests_s"),
    [(1, 1.0, 0.0), (2, 0.01, 0.04), (FEW - 1, 1.0, MOST_REST_S), (FEW, 1.0, 0.0)],
    ids=["one alone", "few", "few, slowly", "a backlog"],
)
def test_after_few_entries_more_are_awaited(entries: int, took_s: float, rests_s: float) -> None:
    assert rest_s(entries, took_s) == pytest.approx(rests_s)


@pytest.mark.parametrize("turns", range(4))
def test_a_task_that_is_cancelled_as_news_come_ends(turns: int) -> None:
    async def listen(news: asyncio.Event) -> None:
        while True:
            news.clear()
            await heard(news, within_s=60.0)

    async def cancelled() -> bool:
        news = asyncio.Event()
        task = asyncio.create_task(listen(news))
        await asyncio.sleep(0.01)
        news.set()
        for _ in range(turns):  # of the loop, between the news and who reads them
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task}, timeout=1.0)
        ended = task.cancelled()
        task.cancel()  # else the loop waits for it
        return ended

    assert asyncio.run(cancelled())


@pytest.fixture
def writer(home: Home) -> Iterator[WriterThread]:
    services = services_over(home)
    yield services.writer
    close(services)


def test_it_is_awaited_while_a_thread_is_blocked_by_a_call(writer: WriterThread) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go_on.wait()

    caller = threading.Thread(target=writer.call, args=(work,))
    caller.start()
    begun.wait()
    assert writer.is_awaited()
    go_on.set()
    caller.join()
    assert not writer.is_awaited()


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own")
def test_the_threads_that_answer_go_before_the_writer_and_chores_last(writer: WriterThread) -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert writer.call(os.getpriority, os.PRIO_PROCESS, 0) == min(19, own + WRITER_NICE)
    with background(1, "chore") as chores:
        assert chores.submit(os.getpriority, os.PRIO_PROCESS, 0).result() == min(19, own + NICE)
    assert os.getpriority(os.PRIO_PROCESS, 0) == own


class Calls:
    """So many calls that are being answered, one fewer at each look."""

    def __init__(self, left: int) -> None:
        self.left, self.looks = left, 0

    @property
    def calls(self) -> int:
        self.looks += 1
        self.left -= 1
        return max(self.left, 0)


def _giving_way(calls: Calls, may_wait_s: float) -> McpFront:
    front = McpFront(cast("Any", None))
    front._threads, front._may_wait_s = cast("Any", calls), may_wait_s
    return front


@pytest.mark.parametrize(
    ("left", "is_awaited", "looks"),
    [
        pytest.param(4, False, 4, id="until no call is answered"),
        pytest.param(1_000_000, True, 1, id="not while somebody waits for itself"),
    ],
)
def test_it_waits_while_calls_are_answered(
    monkeypatch: pytest.MonkeyPatch, left: int, looks: int, *, is_awaited: bool
) -> None:
    monkeypatch.setattr(listening, "GIVE_WAY_S", 60.0)
    calls = Calls(left)
    _giving_way(calls, 60.0).give_way(lambda: is_awaited)
    assert calls.looks == looks


def test_it_waits_no_longer_than_its_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has waited as long as it may works on, and has to earn the next pause by work."""
    monkeypatch.setattr(listening, "GIVE_WAY_SHARE", 0.0)
    calls = Calls(1_000_000)
    front = _giving_way(calls, 0.003)
    front.give_way()
    looks = calls.looks
    assert looks > 1
    front.give_way()
    assert calls.looks == looks + 1


ASKING = """
import resource, threading
import numpy as np
def ask():
    for _ in range(20):
        np.ones(1_000_000, np.float32)
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def work():
    ask()
    before = faults()
    ask()
    print(faults() - before)
worker = threading.Thread(target=work)
worker.start()
worker.join()
"""
"""What a search does in a thread of the daemon: it needs 4 MB for a moment; prints page faults."""


def test_the_allocator_is_asked_where_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    for libc in (SimpleNamespace(malloc_trim=asked.append), SimpleNamespace()):
        monkeypatch.setattr(ctypes, "CDLL", lambda _, libc=libc: libc)
        give_memory_back()
    assert asked == [0]


def test_what_every_question_needs_for_a_moment_is_not_lent_anew() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", ASKING],
        env=os.environ | client.MEMORY,
        capture_output=True,
        check=True,
        text=True,
    )
    assert int(shown.stdout) < 1_000


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_code_that_does_not_run_is_not_in_memory(tmp_path: Path) -> None:
    before_kib = _resident_kib("RssFile")
    forget_code()
    assert _resident_kib("RssFile") < before_kib
    forget_code(tmp_path / "maps")  # nothing says what is mapped


def _resident_kib(field: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))
