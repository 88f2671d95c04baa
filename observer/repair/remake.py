"""Opening a database as its owner; one of another schema is first made anew from its log.

Homes of commits that were never released may have the number of a schema, but the tables of an
earlier state of its migrations. The log is the same in all of them. The new database is complete
before it takes the old one's place, which is kept in `backups`; a process that is killed over it
begins anew.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TypeAlias

from observer.core.errors import SchemaDiffers
from observer.core.paths import make_private
from observer.ingest.projection import rebuild
from observer.spool.files import settle
from observer.store.connection import explained, outline, settled_copy
from observer.store.database import SqliteStore, WriteAheadLog
from observer.store.purging import facts, stored_rows

log = logging.getLogger(__name__)

Progress: TypeAlias = Callable[[str, int], AbstractContextManager[Callable[[int], object]]]
"""Shows inside a block how far something has come: its name and how much there is to do. What it
yields is called with the count done since."""

_OF_TABLES = frozenset({"epoch", "behind"})
"""Facts that are about what was derived."""


@contextmanager
def unshown(_name: str, _total: int) -> Iterator[Callable[[int], object]]:
    """Show nothing: see `Progress`."""
    yield lambda _: None


def open_owned(path: Path, backups: Path, *, progress: Progress = unshown) -> SqliteStore:
    """Open a database as its owner, and make it anew first if its schema is another one.

    Raises:
        StoreUnavailable: it cannot be opened, or is read by another process meanwhile.
    """
    try:
        return SqliteStore(path, backups=backups)
    except SchemaDiffers as error:
        log.warning("%s; it is made anew from its log", error.message)
        _remake(path, backups, progress)
        return SqliteStore(path, backups=backups)


def _remake(path: Path, backups: Path, progress: Progress) -> None:
    anew = path.with_name(f"{path.name}.remaking")
    discard(anew)
    was_copy = WriteAheadLog(path).is_copy()
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    kept = make_private(backups) / f"{path.stem}-before-{stamp}.db"
    held, is_done = outline(path), False
    try:
        with explained(path), progress("making the memory anew", held.events) as advance:
            settled_copy(path, kept)
            _derive(path, anew, held.last_seq, advance)
            if was_copy:  # what was committed to the database before it no longer counts
                path.with_name(f"{path.name}-newest").unlink(missing_ok=True)
            anew.replace(path)
            is_done = True
    except BaseException:
        if not is_done:  # a daemon tries again and again: each copy kept would fill the disk
            kept.unlink(missing_ok=True)
        raise
    finally:
        discard(anew)
    settle(path.parent)
    log.warning("%s was made anew of %d events; it is kept as %s", path, held.events, kept)


def _derive(path: Path, anew: Path, last_seq: int, advance: Callable[[int], object]) -> None:
    """Store the log of a database in a new one, with all that no event says; derive the rest."""
    with closing(SqliteStore(anew)) as store, store.write() as writer:
        writer.restore_rows(stored_rows(path), newer=True)
        writer.restore_underived(path)
        known = facts(path)
        for name in known.keys() - _OF_TABLES:
            writer.put_meta(name, known[name])
        writer.name_unknown_projects()
        writer.continue_after(last_seq)
        rebuild(writer, advance=advance)


def discard(path: Path) -> None:
    """Remove a database and the files beside it."""
    for ending in ("", "-wal", "-shm", "-newest"):
        path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)
