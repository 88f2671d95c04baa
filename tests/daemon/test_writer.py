from __future__ import annotations

import threading

from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.paths import Home
from observer.daemon.health import Health
from observer.daemon.home_guard import HomeGuard
from observer.daemon.writer import WriterThread
from observer.ingest.pipeline import Pipeline
from observer.projects import PlaceCache
from observer.spool.spool import Spool
from observer.store.sqlite.database import SqliteStore


def test_it_is_awaited_while_a_thread_is_blocked_by_a_call(
    home: Home,
) -> None:
    pipeline = Pipeline(
        SqliteStore(home.database),
        Spool(home.spool),
        settings=Settings(),
        places=PlaceCache(),
        now_ms=now_ms,
    )
    writer = WriterThread(pipeline, HomeGuard(home), Health())
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
    writer.close()
