"""A daemon that lives through a fault: it says so, and stores all once it has passed."""

from __future__ import annotations

import json
import os
import resource
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

import pytest

from observer.core.paths import Home
from observer.local import client
from observer.local.spool import Spool
from observer.store.database import SqliteStore
from tests.support import Until

pytestmark = pytest.mark.slow
EVENTS = 40
YEAR_MS = 365 * 86_400_000


def report(home: Home, *, text: str = "harbour", shift_ms: int = 0) -> set[str]:
    """Spool prompts, as hooks do; those of a clock that is wrong have its time."""
    spool = Spool(home.spool)
    spool.prepare()
    names = set()
    for number in range(EVENTS):
        said = json.dumps({"session_id": text, "prompt": f"{text} {number} {'x' * 4000}?"})
        fields = {"client": "claude-code", "event": "UserPromptSubmit", "cwd": "/"}
        names.add(name := spool.append(fields, said.encode()))
        if shift_ms:
            path = home.spool / "new" / name
            at_ns = path.stat().st_mtime_ns + shift_ms * 1_000_000
            os.utime(path, ns=(at_ns, at_ns))
    return names


def stored(home: Home) -> Counter[str]:
    with closing(SqliteStore(home.database, read_only=True)) as store, store.read() as reader:
        assert reader.integrity() == "ok"
        return Counter(one.event.id for one in reader.log(limit=10_000))


@contextmanager
def limited(pid: int, limit: int, value: int) -> Iterator[None]:
    before = resource.prlimit(pid, limit)
    resource.prlimit(pid, limit, (value, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, limit, before)


@pytest.fixture
def pid(home: Home) -> int:
    client.ensure_daemon(home, wait_s=30)
    return client.daemon_pid(home) or 0


def first_free_descriptor(pid: int) -> int:
    used = {int(each.name) for each in Path(f"/proc/{pid}/fd").iterdir()}
    return next(number for number in count() if number not in used)


def said(home: Home) -> str:
    return (home.logs / "daemon.log").read_text()


def degraded(home: Home) -> str | None:
    found: str | None = client.call(home, "GET", "/status")["degraded"]
    return found


def test_a_full_disk_is_shown_and_all_is_stored_after_it(
    home: Home, pid: int, until: Until
) -> None:
    """No file may grow: SQLite and the log meet the same refusal as on a full disk."""
    first = report(home)
    until(lambda: Spool(home.spool).depth() == 0, wait_s=90)
    with limited(pid, resource.RLIMIT_FSIZE, 1):
        second = report(home, text="wharf")
        until(lambda: "store" in (degraded(home) or ""), wait_s=90)
        assert Spool(home.spool).depth() == EVENTS
    until(lambda: Spool(home.spool).depth() == 0, wait_s=90)
    until(lambda: degraded(home) is None, wait_s=90)
    assert stored(home) == Counter(first | second)
    assert client.daemon_pid(home) == pid


def test_descriptors_that_run_out_lose_nothing(home: Home, pid: int, until: Until) -> None:
    """The daemon may leave where a part of it cannot begin; the next one stores what is spooled."""
    first = report(home)
    until(lambda: Spool(home.spool).depth() == 0, wait_s=90)
    with limited(pid, resource.RLIMIT_NOFILE, first_free_descriptor(pid)):
        second = report(home, text="wharf")
        until(lambda: "Too many open files" in said(home), wait_s=90)
    client.ensure_daemon(home, wait_s=30)
    until(lambda: Spool(home.spool).depth() == 0, wait_s=90)
    assert stored(home) == Counter(first | second)


@pytest.mark.parametrize("shift_ms", [-YEAR_MS, YEAR_MS], ids=["a-year-back", "a-year-ahead"])
def test_a_clock_that_was_wrong_loses_nothing(
    home: Home, pid: int, until: Until, shift_ms: int
) -> None:
    """What was reported under it is stored under its time, and what comes after it as well."""
    os.kill(pid, signal.SIGSTOP)  # it would take an event before its time is set
    wrong = report(home, shift_ms=shift_ms)
    os.kill(pid, signal.SIGCONT)
    until(lambda: Spool(home.spool).depth() == 0, wait_s=90)
    right = report(home, text="wharf")
    until(lambda: Spool(home.spool).depth() == 0, wait_s=90)
    assert stored(home) == Counter(wrong | right)
    found = client.call(home, "GET", "/status")
    assert (found["degraded"], found["bad_events"]) == (None, 0)
