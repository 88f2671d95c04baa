"""Checks of what is stored: database, index, copies, spool, and what the daemon says."""

from __future__ import annotations

from collections.abc import Iterator

from observer import __version__, client
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import ObserverError
from observer.core.paths import DAMAGED_COPY, Home
from observer.daemon.status import LlmStatus, Status, spent_text
from observer.doctor.diagnosis import Diagnosis, checked
from observer.index.index import Files
from observer.repair.losses import recent
from observer.store.sqlite.connection import DAMAGED
from observer.store.sqlite.database import SqliteStore
from observer.store.sqlite.salvage import damaged_pages, has_checksums
from observer.store.tombstones import Tombstones


def store_checks(here: Home, status: Status) -> Iterator[Diagnosis]:
    """Yield what is wrong with the daemon and what it stored, or that nothing is."""
    yield checked("settings", lambda: str(here.config if config.load(here) else ""))
    yield _daemon(status)
    yield checked("database", lambda: _integrity(here))
    yield checked("index", lambda: _index(here), fix="index")
    yield checked("backups", lambda: backups(here))
    yield checked("tombstones", lambda: tombstones(here))
    yield _losses(here)
    yield _spool(status)
    yield from _policies(status)
    if status.watched:
        yield Diagnosis("watched", is_well=True, found=" · ".join(map(str, status.watched)))
    if status.note_folders:
        found = " · ".join(map(str, status.note_folders))
        yield Diagnosis("note folders", is_well=True, found=found)
    if status.llm:
        yield _llm(status.llm)
    yield Diagnosis(
        "degraded",
        status.degraded is None,
        status.degraded or "nothing",
        "" if status.degraded is None else f"see {here.logs / 'daemon.log'}",
    )


def tombstones(here: Home) -> str:
    """Return the number of marks of purged events as text.

    Raises:
        StoreUnavailable: they cannot be read.
    """
    return f"{len(Tombstones(here.tombstones))} marks of purged events"


def backups(here: Home) -> str:
    """Return the number of copies of the database as text.

    Raises:
        ObserverError: one is damaged.
    """
    found = [path for path in sorted(here.backups.glob("*.db")) if DAMAGED_COPY not in path.name]
    damaged = [path.name for path in found if has_checksums(path) and damaged_pages(path)]
    if damaged:
        raise ObserverError(
            f"damaged: {' '.join(damaged)}",
            hint="delete them, and make another copy with: observer backup",
        )
    return f"{len(found)} copies of the database"


def _daemon(status: Status) -> Diagnosis:
    if status.pid is None:
        return Diagnosis("daemon", is_well=True, found="down; it starts when it is needed")
    if status.uptime_ms is None:
        found = f"pid {status.pid} holds the lock and does not answer"
        hint = f"wake it: kill -CONT {status.pid}, or end it: kill -KILL {status.pid}"
        return Diagnosis("daemon", is_well=False, found=found, hint=f"{hint}; no event is lost")
    found = f"pid {status.pid}, version {status.version}"
    if (status.version, status.protocol) != (__version__, client.PROTOCOL):
        return Diagnosis(
            "daemon", is_well=False, found=found, hint="replace it with: observer up", fix="daemon"
        )
    return Diagnosis("daemon", is_well=True, found=found)


def _integrity(here: Home) -> str:
    if not here.database.exists():
        return "none yet"
    store = SqliteStore(here.database, read_only=True)
    try:
        complaint = store.check()
        if complaint == "ok":
            with store.read() as reader:
                damaged = reader.damaged()
    finally:
        store.close()
    if complaint != "ok":
        raise ObserverError(complaint, hint=DAMAGED)
    if damaged:
        more = f", and {len(damaged) - 1} more" if len(damaged) > 1 else ""
        raise ObserverError(f"{damaged[0].message}{more}", hint=damaged[0].hint)
    return f"{here.database}, whole"


def _index(here: Home) -> str:
    """Return that the files of the index are whole; an index that is missing is made anew."""
    if damaged := Files(here.index).damaged():
        raise ObserverError(
            f"damaged: {' '.join(damaged)}",
            hint=f"have it made anew: observer down, delete {here.index}, observer up",
        )
    return "whole" if here.index.exists() else "none yet"


def _losses(here: Home) -> Diagnosis:
    found = recent(here, now_ms=now_ms())
    if found is None:
        return Diagnosis("losses", is_well=True, found="none")
    hint = f"where a copy of yours has more, put it into {here.backups}" if found.lost else ""
    aside = f"; the damaged files are in {here.backups}: {' '.join(found.aside)}"
    return Diagnosis("losses", not found.lost, f"{found}{aside if found.aside else ''}", hint)


def _spool(status: Status) -> Diagnosis:
    found = f"{status.spool_depth} waiting, {status.bad_events} not understood"
    if status.spool_depth and status.pid is None:
        return Diagnosis(
            "spool", is_well=False, found=found, hint="store them with: observer up", fix="daemon"
        )
    if status.unknown_clients:
        names = ", ".join(status.unknown_clients)
        return Diagnosis(
            "spool",
            is_well=False,
            found=f"{found}, of clients that are not known: {names}",
            hint="they are kept; an observer or a plug-in that knows these clients reads them when "
            "the daemon starts: upgrade, or install the plug-in, then observer down, observer up",
        )
    if status.bad_events:
        hint = f"see why in {status.home}/spool/bad; --fix has it read again; or delete it"
        return Diagnosis("spool", is_well=False, found=found, hint=hint, fix="retry")
    return Diagnosis("spool", is_well=True, found=found)


def _policies(status: Status) -> Iterator[Diagnosis]:
    for problem in status.policies:
        found = f"nothing is recorded: {problem}"
        yield Diagnosis("policy", is_well=False, found=found, hint=problem.hint)
    if not status.policies:
        yield Diagnosis("policy", is_well=True, found="none that cannot be used")


def _llm(llm: LlmStatus) -> Diagnosis:
    if llm.problem:
        hint = "see what is wrong with: observer config llm --try"
        return Diagnosis("llm", is_well=False, found=llm.problem, hint=hint)
    return Diagnosis("llm", is_well=True, found=f"{llm.model} at {llm.url}; {spent_text(llm)}")
