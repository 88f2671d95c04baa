"""Exclusive access of a command to the home, with the spool drained and the database repaired."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial

from observer.cli.output import note, progress
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import DaemonUnavailable, SchemaDiffers
from observer.core.paths import Home
from observer.ingest.pipeline import Pipeline
from observer.local import client
from observer.local.spool import Spool
from observer.projects import PlaceCache
from observer.store.database import SqliteStore
from observer.store.tombstones import Tombstones
from observer.upkeep.carry_out import complete
from observer.upkeep.home_guard import hold
from observer.upkeep.losses import request_repair
from observer.upkeep.restore import has_damage, open_owned, repair_if_damaged

open_here = partial(open_owned, progress=progress)
"""Opens a database as its owner, and shows it where that takes long."""
RESTART_S = 20
TRIES = 5
"""An open editor starts a daemon as soon as the last one has stopped."""


@contextmanager
def alone(here: Home, *, tries: int = 1) -> Iterator[None]:
    """Hold the home without a daemon; one that ran before is started again, whatever ends this.

    So it is where something waits in the spool of one that was not stopped on purpose. A daemon is
    asked to stop `tries` times. Raises DaemonUnavailable: it does not, or another starts each time.
    """
    substitute = client.stand_by(here) if client.is_running(here) else None
    client.stop(here)
    is_interrupted = False
    try:
        with _held(here, tries):
            yield
    except KeyboardInterrupt:
        is_interrupted = True
        raise
    finally:  # what failed is the greater trouble than a daemon that is down
        if _brought_back(here, substitute) and substitute and is_interrupted:
            note("interrupted; the daemon runs as before")


@contextmanager
def _held(here: Home, tries: int) -> Iterator[None]:
    for attempt in range(tries):
        if attempt:
            client.stop(here)
        with hold(here) as is_ours:
            if is_ours:
                yield
                return
    raise DaemonUnavailable("a daemon started meanwhile", hint="close your editors, or try again")


def _brought_back(here: Home, substitute: subprocess.Popen[bytes] | None) -> bool:
    """Start the daemon if one ran before, or if events wait; False, with a note, if it does not."""
    is_up = True
    try:
        if substitute or (here.alive.exists() and not Spool(here.spool).is_empty()):
            client.ensure_daemon(here, wait_s=RESTART_S)
    except client.StartFailed as error:
        note(f"the daemon is down: {error.message}; start it with: observer up")
        is_up = False
    except DaemonUnavailable as error:
        note(f"the daemon does not answer yet: {error.message}; see: observer status")
        return False
    if substitute:
        with suppress(BrokenPipeError):
            substitute.communicate(b"\n")
    return is_up


@contextmanager
def alone_and_drained(here: Home) -> Iterator[None]:
    """Hold the home as `alone`, after finishing an interrupted purge and draining the spool."""
    with alone(here, tries=TRIES):
        complete(here, open_here)
        with closing(open_here(here.database, here.backups)) as store:
            spool = Spool(here.spool)
            spool.prepare()
            pipeline = Pipeline(
                store, spool, settings=config.load(here), places=PlaceCache(), now_ms=now_ms,
                tombstones=Tombstones(here.tombstones), probes=here.probes,
            )  # fmt: skip
            while pipeline.drain().entries:
                pass
        yield


def repair_first(here: Home) -> None:
    """Repair a damaged database, and say so. Raises StoreUnavailable, DaemonUnavailable."""
    if has_damage(here):
        request_repair(here, "a command found pages that were changed on the disk")
    else:
        with suppress(SchemaDiffers):
            if here.database.exists():
                SqliteStore(here.database, read_only=True).close()
            return
    with alone(here, tries=2):
        # A daemon may have been quicker.
        if loss := repair_if_damaged(here, now_ms=now_ms, progress=progress):
            note(f"note: {loss}")
