"""How reading commands get at the memory: straight from the database, daemon or not.

The write-ahead log lets any number of processes read what is committed, so a read needs neither a
running daemon nor its time. What still waits in the spool is not seen, and that is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from observer import client
from observer.cli.output import note
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import StoreUnavailable
from observer.core.model import Project
from observer.core.paths import Home, home, working_folder
from observer.core.text import counted
from observer.embed.lazy_model import LazyModel
from observer.embed.registry import chosen
from observer.memory.api import Memory
from observer.memory.opening import index_for
from observer.spool.spool import Spool
from observer.store.sqlite.database import SqliteStore


@contextmanager
def open_memory() -> Iterator[Memory]:
    """Lend the memory of this process's home, for reading.

    Raises:
        StoreUnavailable: there is none yet, or it cannot be read.
        ConfigInvalid: the settings cannot be read.
    """
    here = home()
    settings = config.load(here)
    refuse_unsettled(here)
    store = SqliteStore(here.database, read_only=True)
    if store.lost_events:
        lost = counted(store.lost_events, "event")
        note(f"note: the newest {lost} cannot be read here; repair it with: observer up")
    _mention_waiting(here)
    try:
        model = LazyModel(chosen(settings.model, here.models))
        memory = Memory(
            store,
            owner=config.owner(settings),
            now_ms=now_ms,
            index=index_for(here.index, model, is_owner=False),
            encode=model.encode_patiently,
        )
        yield memory.at(str(working_folder()))
    finally:
        store.close()


def refuse_unsettled(here: Home) -> None:
    """Return unless a purge is not finished here; copies that are older are cleaned by a daemon.

    Raises:
        StoreUnavailable: it is not.
    """
    if here.purging.exists():
        raise StoreUnavailable("a purge was interrupted", hint="finish it with: observer up")


def project_here(memory: Memory) -> Project | None:
    """Return the known project around the current folder."""
    return memory.project_at(str(working_folder()))


def _mention_waiting(here: Home) -> None:
    try:
        waiting = Spool(here.spool).depth()
    except OSError as error:
        note(f"note: whether events wait cannot be seen: {error}")
        return
    if waiting and not client.is_running(here):
        waits = "waits" if waiting == 1 else "wait"
        told = f"{counted(waiting, 'event')} {waits} to be stored"
        note(f"note: {told}; start the daemon with: observer up")
