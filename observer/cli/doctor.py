"""`observer doctor`: checks everything that can be wrong, and says what to do about it."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import click
import msgspec

from observer import __version__, client
from observer.cli.output import emit, json_option, table
from observer.clients.git.missing_hooks import missing_hooks
from observer.clients.installers import installed
from observer.config_files.context import current_context as install_here
from observer.config_files.context import hook_files
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import ObserverError, remedy
from observer.core.paths import DAMAGED_COPY, Home, home, open_plain
from observer.daemon.status import LlmStatus, Status, current, spent_text
from observer.repair.losses import recent
from observer.search.trial import Trials
from observer.store.sqlite.connection import DAMAGED
from observer.store.sqlite.database import SqliteStore
from observer.store.sqlite.salvage import damaged_pages
from observer.store.tombstones import Tombstones
from observer.views.moment import minute


def folders(here: Home) -> str:
    """Return that every folder that is there can be used.

    Raises:
        ObserverError: one is not a folder, another user's, or cannot be written.
    """
    for path in (here.spool, here.spool / "new", here.spool / "tmp", here.logs, here.backups):
        _usable(path)
    return "spool, log and backups can be written"


def sockets(here: Home) -> str:
    """Return the folder of the daemon's sockets.

    Raises:
        ObserverError: as `folders`.
    """
    _usable(here.run)
    return str(here.run)


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
    damaged = [path.name for path in found if _has_checksums(path) and damaged_pages(path)]
    if damaged:
        raise ObserverError(
            f"damaged: {' '.join(damaged)}",
            hint="delete them, and make another copy with: observer backup",
        )
    return f"{len(found)} copies of the database"


def _has_checksums(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(21)[20:] == b"\x08"


def _usable(path: Path) -> None:
    if not os.path.lexists(path):
        return
    if not path.is_dir():
        raise ObserverError(f"{path} is not a folder", hint="move it away; it is made anew")
    if path.stat().st_uid != os.getuid():
        raise ObserverError(
            f"{path} belongs to another user", hint="make it yours, or move it away"
        )
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        raise ObserverError(f"{path} cannot be written", hint=f"run: chmod 700 {path}")


LOW_DISK_BYTES = 100 << 20


class Diagnosis(msgspec.Struct, frozen=True):
    """The result of one check, and what to do if it failed."""

    name: str
    is_well: bool
    found: str
    hint: str = ""


@click.command("doctor", epilog="Example: observer doctor")
@json_option
def doctor_command(*, as_json: bool) -> int:
    """Check the home, the daemon, the store and the spool; exit with 1 if anything is wrong."""
    checks = list(_checks(home()))
    is_well = all(check.is_well for check in checks)
    if as_json:
        emit({"is_well": is_well, "checks": checks})
    else:
        rows = [(_mark(check), check.name, check.found, check.hint) for check in checks]
        table(("", "check", "found", "what to do"), rows)
    return 0 if is_well else 1


def _mark(check: Diagnosis) -> str:
    return "ok" if check.is_well else "WRONG"


def _checks(here: Home) -> Iterator[Diagnosis]:
    status = current(here)
    yield _home(here)
    yield _checked("files", lambda: _files(here))
    yield _checked("folders", lambda: folders(here))
    yield _checked("sockets", lambda: sockets(here))
    yield _checked("settings", lambda: str(here.config if config.load(here) else ""))
    yield _daemon(status)
    yield _checked("hooks", lambda: _hooks(here))
    yield from _git_hooks(here)
    yield _checked("database", lambda: _integrity(here))
    yield _checked("backups", lambda: backups(here))
    yield _checked("tombstones", lambda: tombstones(here))
    yield _losses(here)
    yield _spool(status)
    yield _disk(here)
    yield _checked("trial", lambda: _trial(here))
    yield from _policies(status)
    if status.watched:
        yield Diagnosis("watched", is_well=True, found=" · ".join(map(str, status.watched)))
    if status.llm:
        yield _llm(status.llm)
    yield Diagnosis(
        "degraded",
        status.degraded is None,
        status.degraded or "nothing",
        "" if status.degraded is None else f"see {here.logs / 'daemon.log'}",
    )


def _checked(name: str, look: Callable[[], str]) -> Diagnosis:
    try:
        return Diagnosis(name, is_well=True, found=look())
    except ObserverError as error:
        return Diagnosis(name, is_well=False, found=error.message, hint=error.hint)
    except OSError as error:
        found = f"{error.filename}: {error.strerror}"
        return Diagnosis(name, is_well=False, found=found, hint=remedy(error, "make it yours"))


def _home(here: Home) -> Diagnosis:
    if not here.root.exists():
        return Diagnosis("home", is_well=True, found=f"{here.root} (not made yet)")
    found = here.root.stat()
    if found.st_uid != os.getuid() or not os.access(here.root, os.W_OK):
        hint = "make it yours and writable, or choose another OBSERVER_HOME"
        return Diagnosis("home", is_well=False, found=f"{here.root} cannot be written", hint=hint)
    if stat.S_IMODE(found.st_mode) & 0o077:
        hint = f"run: chmod 700 {here.root}"
        return Diagnosis("home", is_well=False, found=f"{here.root} is open to others", hint=hint)
    return Diagnosis("home", is_well=True, found=str(here.root))


def _files(here: Home) -> str:
    """Open the files that a daemon must open before it can report errors."""
    for path in (here.lock, here.logs / "daemon.log"):
        if os.path.lexists(path):
            os.close(open_plain(path, os.O_RDWR))
    return "lock and log can be written"


def _daemon(status: Status) -> Diagnosis:
    if status.pid is None:
        return Diagnosis("daemon", is_well=True, found="down; it starts when it is needed")
    if status.uptime_ms is None:
        found = f"pid {status.pid} holds the lock and does not answer"
        hint = f"wake it: kill -CONT {status.pid}, or end it: kill -KILL {status.pid}"
        return Diagnosis("daemon", is_well=False, found=found, hint=f"{hint}; no event is lost")
    found = f"pid {status.pid}, version {status.version}"
    if (status.version, status.protocol) != (__version__, client.PROTOCOL):
        return Diagnosis("daemon", is_well=False, found=found, hint="replace it with: observer up")
    return Diagnosis("daemon", is_well=True, found=found)


def _hooks(here: Home) -> str:
    if not here.hooks.is_dir():
        if clients := " ".join(installed(install_here(here))):
            raise ObserverError(
                f"{here.hooks} is gone, and nothing is recorded of {clients}",
                hint=f"get them back with: observer install {clients}",
            )
        return "none installed; see: observer install --help"
    stale = [edit.path.name for edit in hook_files(here) if edit.is_change]
    if stale:
        raise ObserverError(
            f"out of date: {' '.join(stale)}",
            hint="refresh them with: observer down && observer up",
        )
    return str(here.hooks)


def _trial(here: Home) -> str:
    plan = Trials(here.trials).running(now_ms())
    if plan is None:
        return "none runs"
    share = "all" if plan.is_same else f"{plan.share:.0%} of the"
    return f"runs until {minute(plan.until_ms)}; {share} sessions get reminders"


def _git_hooks(here: Home) -> Iterator[Diagnosis]:
    name = "git hooks"
    try:
        found = missing_hooks(install_here(here), _git_folders(here))
    except ObserverError as error:
        yield Diagnosis(name, is_well=False, found=error.message, hint=error.hint)
        return
    for each in found:
        yield Diagnosis(name, is_well=False, found=each.found, hint=each.hint)
    if not found:
        yield Diagnosis(name, is_well=True, found="all that were installed run")


def _git_folders(here: Home) -> list[str]:
    with suppress(ObserverError):  # the next check reports a damaged database
        store = SqliteStore(here.database, read_only=True)
        try:
            with store.read() as reader:
                return [path for project in reader.projects() for path in project.common_dirs]
        finally:
            store.close()
    return []


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
        return Diagnosis("spool", is_well=False, found=found, hint="store them with: observer up")
    if status.bad_events:
        hint = f"read why in {status.home}/spool/bad; read again with: observer retry; or delete it"
        return Diagnosis("spool", is_well=False, found=found, hint=hint)
    return Diagnosis("spool", is_well=True, found=found)


def _policies(status: Status) -> Iterator[Diagnosis]:
    for problem in status.policies:
        found = f"nothing is recorded: {problem}"
        yield Diagnosis("policy", is_well=False, found=found, hint=problem.hint)
    if not status.policies:
        yield Diagnosis("policy", is_well=True, found="none that cannot be used")


def _llm(llm: LlmStatus) -> Diagnosis:
    if llm.problem:
        hint = "see what is wrong with: observer llm try"
        return Diagnosis("llm", is_well=False, found=llm.problem, hint=hint)
    return Diagnosis("llm", is_well=True, found=f"{llm.model} at {llm.url}; {spent_text(llm)}")


def _disk(here: Home) -> Diagnosis:
    folder = next(path for path in (here.root, *here.root.parents) if path.exists())
    free_bytes = shutil.disk_usage(folder).free
    return Diagnosis(
        "disk",
        is_well=free_bytes >= LOW_DISK_BYTES,
        found=f"{free_bytes >> 20} MiB free",
        hint="" if free_bytes >= LOW_DISK_BYTES else "free some space; events are refused soon",
    )
