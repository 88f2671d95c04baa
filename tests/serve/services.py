"""The parts that the daemon's workers share, over a home of a test and without a daemon."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.paths import Home
from observer.local.spool import Spool
from observer.serve.lazy_store import LazyStore
from observer.serve.worker import Health, Services, WriterThread
from observer.store.database import SqliteStore
from observer.store.tombstones import Tombstones
from observer.upkeep.home_guard import HomeGuard
from tests.support import pipeline_over


def services_over(
    home: Home,
    store: SqliteStore | LazyStore | None = None,
    *,
    settings: Settings | None = None,
    at_ms: Callable[[], int] | int = now_ms,
    **given: Any,
) -> Services:
    """Return parts with nothing in the spool; `close` them.

    Args:
        home: where all of it is.
        store: the home's own by default.
        settings: the defaults by default.
        at_ms: the time.
        given: parts to use, and what the pipeline is made of beside them.
    """
    own = {name: given.pop(name) for name in Services._fields if name in given}
    settings = settings or Settings()
    if not isinstance(store, LazyStore):
        opened = store
        store = LazyStore(lambda: opened or SqliteStore(home.database, backups=home.backups))
    spool = Spool(home.spool)
    spool.prepare()
    pipeline = own.get("pipeline") or pipeline_over(
        store,  # type: ignore[arg-type] # it is one as well
        spool,
        at_ms,
        settings=settings,
        **given,
    )
    health = Health()
    return Services(
        home=home,
        settings=settings,
        store=store,
        spool=spool,
        pipeline=pipeline,
        writer=WriterThread(pipeline, HomeGuard(home), health),
        health=health,
        tombstones=Tombstones(home.tombstones),
        record=pipeline.ingest,
        on_change=lambda _: None,
    )._replace(**own)


def close(services: Services) -> None:
    """Finish what the writer has to do, and close the store."""
    services.writer.close()
    services.store.close()
