from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator

import pytest

from observer.core.clock import now_ms
from observer.core.paths import Home
from observer.serve.worker import NICE, WRITER_NICE, Health, WriterThread, background
from observer.store.database import SqliteStore
from observer.upkeep.home_guard import HomeGuard
from tests.support import pipeline_over


@pytest.fixture
def writer(home: Home) -> Iterator[WriterThread]:
    pipeline = pipeline_over(SqliteStore(home.database), home, now_ms)
    made = WriterThread(pipeline, HomeGuard(home), Health())
    yield made
    made.close()


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
def test_the_threads_that_answer_go_before_it(writer: WriterThread) -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert writer.call(os.getpriority, os.PRIO_PROCESS, 0) == min(19, own + WRITER_NICE)
    assert os.getpriority(os.PRIO_PROCESS, 0) == own


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own")
def test_what_nobody_waits_for_goes_last() -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    with background(1, "chore") as chores:
        assert chores.submit(os.getpriority, os.PRIO_PROCESS, 0).result() == min(19, own + NICE)
