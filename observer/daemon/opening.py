"""How the daemon gets at its database: mended where it is damaged, without what was purged."""

from __future__ import annotations

import logging

from observer.clock import now_ms
from observer.daemon.tenure import Tenure
from observer.paths import Home
from observer.purge.carrying import settle
from observer.repair.mending import mended
from observer.store.sqlite import SqliteStore

log = logging.getLogger(__name__)


def open_store(home: Home, tenure: Tenure) -> SqliteStore:
    """Mend the database, finish a purge that was begun, open it, and note which file it is.

    Raises:
        StoreUnavailable: it cannot be opened, or not be mended yet.
    """
    mended(home, now_ms=now_ms)
    # Only now: a backup may have brought back what was purged since.
    if finished := settle(home, SqliteStore.owned):
        log.info("%d purged events were taken out of the database", finished.events)
    store = SqliteStore(home.database, backups=home.backups)
    tenure.own(home.database)
    return store
