"""Exclusive access of a command to the home, with the spool drained and the database repaired.

The daemon stops for as long as that takes, and is started again afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from observer import client
from observer.cli.output import note
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import DaemonUnavailable
from observer.core.paths import Home
from observer.daemon.home_guard import hold
from observer.ingest.pipeline import Pipeline
from observer.projects import PlaceCache
from observer.purge.carry_out import complete
from observer.repair.request import request_repair
from observer.repair.restore import has_damage, repair_if_damaged
from observer.spool.spool import Spool
from observer.store.sqlite.database import SqliteStore
from observer.store.tombstones import Tombstones

RESTART_S = 20
TRIES = 5
"""An open editor starts a daemon as soon as the last one has stopped."""


@contextmanager
def alone(here: Home, *, tries: int = 1) -> Iterator[None]:
    """Hold the home without a daemon; one that ran before is started again afterwards.

    Args:
        here: the home.
        tries: how often a daemon is asked to stop; an open editor may start another at once.

    Raises:
        DaemonUnavailable: a daemon does not stop, or another started each time.
    """
    was_running = client.stop(here)
    try:
        for attempt in range(tries):
            if attempt:
                client.stop(here)
            with hold(here) as is_ours:
                if is_ours:
                    yield
                    return
        raise DaemonUnavailable(
            "a daemon started meanwhile", hint="close your editors, or try again"
        )
    finally:
        if was_running:
            client.ensure_daemon(here, wait_s=RESTART_S)


@contextmanager
def alone_and_drained(here: Home) -> Iterator[None]:
    """Hold the home as `alone`, after finishing an interrupted purge and draining the spool."""
    with alone(here, tries=TRIES):
        complete(here, SqliteStore.owned)
        _drain(here)
        yield


def repair_first(here: Home) -> None:
    """Repair the database if it is damaged; print what was repaired and lost to stderr.

    Raises:
        StoreUnavailable: it cannot be repaired.
        DaemonUnavailable: a daemon does not stop.
    """
    if not has_damage(here):
        return
    request_repair(here, "a command found pages that were changed on the disk")
    with alone(here, tries=2):
        # A daemon may have been quicker.
        if loss := repair_if_damaged(here, now_ms=now_ms):
            note(f"note: {loss}")


def _drain(here: Home) -> None:
    """Store what waits in the spool, so that it can be chosen like the rest."""
    with closing(SqliteStore.owned(here.database, here.backups)) as store:
        spool = Spool(here.spool)
        spool.prepare()
        pipeline = Pipeline(
            store,
            spool,
            settings=config.load(here),
            places=PlaceCache(),
            now_ms=now_ms,
            tombstones=Tombstones(here.tombstones),
            probes=here.probes,
        )
        while pipeline.drain().entries:
            pass
