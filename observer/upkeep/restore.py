"""Opens a database as its owner; a damaged one, or one of another schema, is first made anew.

One of another schema is made of its log, a damaged one of what is whole and of the newest copies.
It is complete before anything moves: a kill leaves the old one or the new one.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from observer.core.disk import settle
from observer.core.errors import SchemaDiffers, StoreDamaged, StoreUnavailable
from observer.core.paths import DAMAGED_COPY, Home, make_private, read_plain
from observer.ingest.projection import rebuild
from observer.store.connection import explained, outline, settled_copy
from observer.store.database import SqliteStore, WriteAheadLog
from observer.store.migrations import migrations
from observer.store.pages import PAGE_BYTES, damaged_pages, has_checksums, is_whole, salvaged
from observer.store.purging import facts, stored_rows
from observer.store.writer import Writer
from observer.upkeep import losses
from observer.upkeep.losses import Loss

log = logging.getLogger(__name__)

Progress: TypeAlias = Callable[[str, int], AbstractContextManager[Callable[[int], object]]]
"""Shows how far something has come, by name and total; yields what takes the count done since."""

_OF_TABLES = frozenset({"epoch", "behind"})  # facts that are about what was derived


@contextmanager
def unshown(_name: str, _total: int) -> Iterator[Callable[[int], object]]:
    """Show nothing: see `Progress`."""
    yield lambda _: None


def open_owned(path: Path, backups: Path, *, progress: Progress = unshown) -> SqliteStore:
    """Open a database as its owner, made anew if of another schema. Raises StoreUnavailable."""
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
            with closing(SqliteStore(anew)) as store, store.write() as writer:
                writer.restore_rows(stored_rows(path), newer=True)
                writer.restore_underived(path)
                known = facts(path)
                for name in known.keys() - _OF_TABLES:
                    writer.put_meta(name, known[name])
                writer.name_unknown_projects()
                writer.continue_after(held.last_seq)
                rebuild(writer, advance=advance)
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


def discard(path: Path) -> None:
    """Remove a database and the files beside it."""
    for ending in ("", "-wal", "-shm", "-newest"):
        path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)


SETTLED_S = 0.2  # after so long a page that a daemon was writing is whole


def repair_if_damaged(
    home: Home, *, now_ms: Callable[[], int], progress: Progress = unshown
) -> Loss | None:
    """Repair the database if it is damaged or has lost events; the caller holds the home's lock.

    Raises StoreUnavailable or OSError: it cannot be opened, or repaired now.
    """
    reason = _wrong(home, progress)
    if not reason:
        return None
    log.error("mending the database: %s", reason)
    loss = _mend(home, reason, now_ms())
    log.error("%s", loss)
    return loss


def has_damage(home: Home) -> bool:
    """Return True if any page of the database is not what was written. Raises OSError."""
    if home.damage.exists():
        return True
    if not home.database.exists() or not has_checksums(home.database):
        return False
    found = damaged_pages(home.database)
    if found:
        time.sleep(SETTLED_S)  # what was being written
    return any(damaged_pages(home.database, first=page - 1, count=1) for page in found)


def _wrong(home: Home, progress: Progress) -> str:
    if _is_newer(home.database):
        return ""  # not one of ours to repair; opening it raises
    if home.database.exists() and not has_checksums(home.database):
        # Whole rows are known by their checksums: it gets them first, if it can be read at all.
        with suppress(StoreUnavailable):
            open_owned(home.database, home.backups, progress=progress).close()
    with suppress(FileNotFoundError):
        return read_plain(home.damage).decode(errors="replace") or "it was found damaged"
    has_mark = WriteAheadLog(home.database).marked() is not None
    if not home.database.exists() and not has_mark:
        return ""
    is_there = home.database.exists()
    try:
        with closing(open_owned(home.database, home.backups, progress=progress)) as store:
            if not store.lost_events:
                return ""
            what = "its write-ahead log was removed or damaged" if is_there else "it was removed"
            return f"{store.lost_events} events that had been stored were missing: {what}"
    except StoreDamaged as error:
        return error.message


def _is_newer(database: Path) -> bool:
    """Return True if a newer observer wrote the database, as far as its first page is whole."""
    try:
        with database.open("rb") as file:
            page = file.read(PAGE_BYTES)
    except OSError:
        return False
    version = int.from_bytes(page[60:64])
    return len(page) == PAGE_BYTES and is_whole(page) and version > migrations()[-1].number


def _mend(home: Home, reason: str, at_ms: int) -> Loss:
    beside, name = home.database.with_name, home.database.name
    partial = beside(f"{name}.mending")
    discard(partial)
    make_private(home.backups)
    mark = WriteAheadLog(home.database).marked()
    aside = home.backups.glob(f"{home.database.stem}{DAMAGED_COPY}*.db")
    with closing(SqliteStore(partial, backups=home.backups)) as store, store.write() as writer:
        kept = sum(
            writer.restore_rows(salvaged(path), newer=path == home.database)
            for path in (home.database, *sorted(aside, reverse=True))
        )
        restored = _from_backups(home, writer)
        writer.name_unknown_projects()
        newest = mark.newest_seq if mark else 0
        gaps = writer.gaps(newest)
        writer.continue_after(newest)
        rebuild(writer)
    missing = sum(gap.last - gap.first + 1 for gap in gaps)
    lost = max(0, mark.events - kept - restored) if mark else missing
    moved = _aside(home, at_ms)
    loss = Loss(
        at_ms=at_ms,
        reason=reason,
        kept=kept,
        restored=restored,
        lost=lost,
        from_ms=gaps[0].from_ms if lost and gaps else None,
        until_ms=gaps[-1].until_ms if lost and gaps else None,
        aside=tuple(to.name for to in moved.values()),
    )
    losses.note(home, loss)
    # The log first: beside the new database SQLite would take it for its own.
    for path, to in sorted(moved.items(), reverse=True):
        path.replace(to)
    for ending in ("wal", "shm", "newest"):
        beside(f"{name}-{ending}").unlink(missing_ok=True)
    partial.replace(home.database)
    beside(f"{partial.name}-newest").replace(beside(f"{name}-newest"))
    home.damage.unlink(missing_ok=True)
    return loss


def _from_backups(home: Home, writer: Writer) -> int:
    """Add what only copies hold, the newest first; return how many events that were."""
    copies = [path for path in home.backups.glob("*.db") if DAMAGED_COPY not in path.name]
    copies.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    restored = 0
    has_underived = writer.restore_underived(home.database)
    for copy in copies:
        with _migrated(home, copy) as path:
            restored += writer.restore_rows(salvaged(path), newer=False)
            has_underived = has_underived or writer.restore_underived(path)
    return restored


@contextmanager
def _migrated(home: Home, copy: Path) -> Iterator[Path]:
    """Lend a copy as this observer would have it, or as it is where it cannot be opened."""
    beside = home.database.with_name(f"{home.database.name}.reading")
    discard(beside)
    try:
        shutil.copyfile(copy, beside)
        beside.chmod(0o600)
        try:
            open_owned(beside, home.backups / ".none").close()
        except StoreUnavailable as error:
            log.error("%s is read as it is: %s", copy.name, error.message)  # noqa: TRY400 - no fault of ours
        yield beside
    finally:
        discard(beside)
        shutil.rmtree(home.backups / ".none", ignore_errors=True)


def _aside(home: Home, at_ms: int) -> dict[Path, Path]:
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(at_ms / 1000))
    target = home.backups / f"{home.database.stem}{DAMAGED_COPY}{stamp}.db"
    log_file = home.database.with_name(f"{home.database.name}-wal")
    moved = {home.database: target, log_file: target.with_name(f"{target.name}-wal")}
    return {path: to for path, to in moved.items() if path.exists() and path.stat().st_size}
