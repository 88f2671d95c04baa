"""The parts that the daemon's workers share, over a home of a test and without a daemon."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.paths import Home
from observer.local import client
from observer.local.spool import Spool
from observer.serve.worker import Health, LazyStore, Services, WriterThread
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


def status(home: Home) -> dict[str, Any]:
    """Return what the daemon of a home says of itself."""
    found: dict[str, Any] = client.call(home, "GET", "/status")
    return found


def report(home: Home, app: Path, kind: str, session: str = "s", **fields: object) -> None:
    """Report what an agent's hook would, through the spool."""
    said = {"kind": kind, "client": "cursor", "session": session, "cwd": str(app), **fields}
    given = {"client": "generic", "event": kind}
    Spool(home.spool).append(given, json.dumps(said, default=str).encode())


def bodies(home: Home, *, of: str | None = None) -> list[dict[str, Any]]:
    """Return what the events in the log say, of one client or of all."""
    with closing(SqliteStore(home.database, read_only=True)) as store, store.read() as reader:
        events = [one.event for one in reader.log() if of in {None, one.event.client}]
    return [msgspec.to_builtins(event.body) for event in events]
