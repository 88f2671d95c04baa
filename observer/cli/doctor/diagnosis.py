"""Checks of a home, its machine and its clients, each with its remedy, and what `--fix` does."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path

from observer import __version__
from observer.cli.session import reading
from observer.clients.client import Client
from observer.clients.config_files.context import InstallContext, apply, hook_files
from observer.clients.installers import evidence, install, installed, installed_parts, perform
from observer.clients.quiet import find_quiet, last_report, last_reports
from observer.clients.registry import clients
from observer.clients.shelf.git import missing_hooks
from observer.core import config
from observer.core.clock import iso_ms, now_ms
from observer.core.errors import ObserverError, StoreUnavailable, remedy
from observer.core.paths import DAMAGED_COPY, Home, open_plain
from observer.core.text import age_text, counted, size_text
from observer.index.index import Files
from observer.local import client as daemon
from observer.local.spool import Spool
from observer.memory.values import Diagnosis
from observer.projects.fs_probe import MOUNT, MOUNTS, file_system_of, mounts
from observer.store.connection import DAMAGED
from observer.store.database import SqliteStore
from observer.store.pages import damaged_pages, has_checksums
from observer.store.tombstones import Tombstones
from observer.tools.status import Status, waiting_text
from observer.upkeep.losses import recent


def well(name: str, found: str, hint: str = "") -> Diagnosis:
    """Return that a check found nothing wrong."""
    return Diagnosis(name, is_well=True, found=found, hint=hint)


def wrong(name: str, found: str, hint: str = "", *, fix: str = "") -> Diagnosis:
    """Return what a check found wrong."""
    return Diagnosis(name, is_well=False, found=found, hint=hint, fix=fix)


def refused(name: str, error: ObserverError, *, fix: str = "") -> Diagnosis:
    """Return what an error says is wrong."""
    return wrong(name, error.message, error.hint, fix=fix)


def checked(name: str, look: Callable[[], str], *, fix: str = "") -> Diagnosis:
    """Return what a check finds; the error that it raises says what is wrong."""
    try:
        return well(name, look())
    except ObserverError as error:
        return refused(name, error, fix=fix)
    except OSError as error:
        return wrong(name, f"{error.filename}: {error.strerror}", remedy(error, "make it yours"))


Reports = Mapping[str, int]
LOW_DISK_BYTES = 100 << 20
REMOTE = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "lustre", "glusterfs", "afpfs"}
    | {"webdav", "fuse.sshfs", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs"}
)
"""File systems on which neither locks nor SQLite's shared memory can be relied on."""
WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")


def home_checks(here: Home, status: Status) -> Iterator[Diagnosis]:
    """Yield what is wrong with the home's folders and files, or that nothing is."""
    yield checked("home", lambda: usable(here))
    yield checked("private", lambda: private(here), fix="private")
    yield checked("disk", lambda: disk(here))
    yield checked("file system", lambda: file_system(here.root))
    yield checked("watches", lambda: watches(status))
    yield checked("clock", lambda: clock(status, at_ms=now_ms()))


def usable(here: Home) -> str:
    """Return the home, as far as a daemon can use it. Raises ObserverError, OSError: it cannot."""
    inside = (here.spool, here.spool / "new", here.spool / "tmp", here.logs, here.backups)
    for path in filter(os.path.lexists, (here.root, here.run, *inside)):
        if not path.is_dir():
            raise ObserverError(f"{path} is not a folder", hint="move it away; it is made anew")
        if path.stat().st_uid != os.getuid():
            hint = "make it yours, or move it away"
            raise ObserverError(f"{path} belongs to another user", hint=hint)
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            raise ObserverError(f"{path} cannot be written", hint=f"run: chmod 700 {path}")
    for path in filter(os.path.lexists, (here.lock, here.logs / "daemon.log")):
        os.close(open_plain(path, os.O_RDWR))
    return f"{here.root}{'' if here.root.exists() else ' (not made yet)'}"


def open_to_others(here: Home) -> list[Path]:
    """Return the folders and files with private text that other users could read."""
    secrets = (here.token, here.llm_key, here.web_secret)
    kept = (here.root, here.spool, here.logs, here.backups, here.database, *secrets)
    return [path for path in kept if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077]


def private(here: Home) -> str:
    """Return that what is in the home is the user's alone. Raises ObserverError: it is not."""
    if names := " ".join(map(str, open_to_others(here))):
        raise ObserverError(f"open to others: {names}", hint=f"run: chmod go-rwx {names}")
    return "readable by you alone"


def file_system(folder: Path, listed: Path = MOUNTS, program: str = MOUNT) -> str:
    """Return the type of a folder's file system, if known. Raises ObserverError: it is remote."""
    found = file_system_of(os.path.realpath(folder), mounts(listed, program)) or "not known"
    if found in REMOTE:
        hint = "move the home to a local disk, and set OBSERVER_HOME"
        raise ObserverError(f"{folder} is on {found}, where SQLite can lose data", hint=hint)
    return found


def watches(status: Status, limit: Path = WATCHES) -> str:
    """Return how many folders are watched, of how many. Raises ObserverError: few are left."""
    used = sum(one.folders for one in status.watched)
    try:
        most = int(limit.read_text())
    except (OSError, ValueError):
        return f"{used:,} folders"
    if used >= most * 0.8:
        message = f"{used:,} of {most:,} inotify watches are taken; others get none"
        hint = f"run: sudo sysctl fs.inotify.max_user_watches={max(2 * most, 524_288)}"
        raise ObserverError(message, hint=hint)
    return f"{used:,} folders of {most:,} that inotify allows"


def clock(status: Status, *, at_ms: int) -> str:
    """Return that nothing was stored in the future. Raises ObserverError: the clock was changed."""
    last = iso_ms(status.last_stored_at or "") or 0
    if last > at_ms + 300_000:
        hours = f"{(last - at_ms) / 3_600_000:,.1f} h"
        message = f"the last event was stored {hours} in the future: the clock was changed"
        hint = "set the clock; times recorded meanwhile stay as they are"
        raise ObserverError(message, hint=hint)
    return "no event is from the future"


def disk(here: Home) -> str:
    """Return how much is free on the disk of the home. Raises ObserverError: it is nearly full."""
    folder = next(path for path in (here.root, *here.root.parents) if path.exists())
    free_bytes, inodes = shutil.disk_usage(folder).free, os.statvfs(folder)
    found = f"{size_text(free_bytes)} free"
    has_few = inodes.f_files and inodes.f_favail < 1000  # some file systems count none
    if has_few:
        found += f", room for {inodes.f_favail} files"
    if has_few or free_bytes < LOW_DISK_BYTES:
        raise ObserverError(found, hint="free some space; events are refused soon")
    return found


def store_checks(here: Home, status: Status) -> Iterator[Diagnosis]:
    """Yield what is wrong with the daemon and what it stored, or that nothing is."""
    yield checked("settings", lambda: str(here.config if config.load(here) else ""))
    yield _daemon(status)
    yield checked("database", lambda: _integrity(here))
    yield checked("index", lambda: _index(here), fix="index")
    yield checked("backups", lambda: backups(here))
    marked = "marked never to come back"
    yield checked(
        "purged", lambda: f"{counted(len(Tombstones(here.tombstones)), 'event')} {marked}"
    )
    if (lost := recent(here, now_ms=now_ms())) is None:
        yield well("losses", "none")
    else:
        hint = f"where a copy of yours has more, put it into {here.backups}" if lost.lost else ""
        aside = f"; the damaged files are in {here.backups}: {' '.join(lost.aside)}"
        yield Diagnosis("losses", not lost.lost, f"{lost}{aside if lost.aside else ''}", hint)
    yield _spool(status)
    # What is wrong with the database is said above.
    with suppress(StoreUnavailable), reading(here) as reader:
        for one in (share for share in reader.shares() if share.fault):
            yield wrong("share", f"{one.name}: {one.fault}", "try again: observer sync now")
    for problem in status.policies:
        yield wrong("policy", f"nothing is recorded: {problem}", problem.hint)
    if status.llm and status.llm.problem:
        yield wrong("llm", status.llm.problem, "see what is wrong with: observer config llm --try")
    hint = f"see {here.logs / 'daemon.log'}" if status.degraded else ""
    yield Diagnosis("degraded", not status.degraded, status.degraded or "nothing", hint)


def backups(here: Home) -> str:
    """Return the number of copies of the database as text. Raises ObserverError: one is damaged."""
    found = [path for path in sorted(here.backups.glob("*.db")) if DAMAGED_COPY not in path.name]
    damaged = [path.name for path in found if has_checksums(path) and damaged_pages(path)]
    if damaged:
        hint = "delete them, and make another copy with: observer backup"
        raise ObserverError(f"damaged: {' '.join(damaged)}", hint=hint)
    return f"{len(found)} {'copy' if len(found) == 1 else 'copies'} of the database"


def _daemon(status: Status) -> Diagnosis:
    if status.pid is None:
        return well("daemon", "down; it starts when it is needed")
    if status.uptime_ms is None:
        found = f"pid {status.pid} holds the lock and does not answer"
        hint = f"wake it: kill -CONT {status.pid}, or end it: kill -KILL {status.pid}"
        return wrong("daemon", found, f"{hint}; no event is lost")
    found = f"pid {status.pid}, version {status.version}"
    if (status.version, status.protocol) != (__version__, daemon.PROTOCOL):
        return wrong("daemon", found, "replace it with: observer up", fix="daemon")
    return well("daemon", found)


def _integrity(here: Home) -> str:
    if not here.database.exists():
        return "none yet"
    with closing(SqliteStore(here.database, read_only=True)) as store:
        if (complaint := store.check()) != "ok":
            raise ObserverError(complaint, hint=DAMAGED)
        with store.read() as reader:
            damaged = reader.damaged()
    if damaged:
        more = f", and {len(damaged) - 1} more" if len(damaged) > 1 else ""
        raise ObserverError(f"{damaged[0].message}{more}", hint=damaged[0].hint)
    return f"{here.database}, whole"


def _index(here: Home) -> str:
    if damaged := Files(here.index).damaged():
        hint = f"have it made anew: observer down, delete {here.index}, observer up"
        raise ObserverError(f"damaged: {' '.join(damaged)}", hint=hint)
    return "whole" if here.index.exists() else "none yet"


def _spool(status: Status) -> Diagnosis:
    found = waiting_text(status)
    if status.spool_depth and status.pid is None:
        return wrong("spool", found, "store them with: observer up", fix="daemon")
    if names := ", ".join(status.unknown_clients):
        hint = (
            "they are kept; an observer or a plug-in that knows these clients reads them when "
            "the daemon starts: upgrade, or install the plug-in, then observer down, observer up"
        )
        return wrong("spool", f"{found}, of clients that are not known: {names}", hint)
    if status.bad_events:
        hint = f"see why in {status.home}/spool/bad; --fix has it read again; or delete it"
        return wrong("spool", found, hint, fix="retry")
    return well("spool", found)


def client_checks(context: InstallContext) -> Iterator[Diagnosis]:
    """Yield what is wrong with the hooks and each client that has them, or that nothing is."""
    yield checked("hooks", lambda: _hooks(context), fix="hooks")
    yield from _git_hooks(context)
    last: Reports = {}
    with suppress(ObserverError):  # another check reports a damaged database
        last = last_reports(context.home)
    absent = []
    for client in clients().values():
        if client.installer and (parts := installed_parts(client.name, context)):
            yield _client(client, context, " + ".join(parts), last)
        elif client.installer and evidence(client, context):
            absent.append(client.name)
    if absent:
        found = f"{', '.join(absent)}: on this machine, and not installed"
        yield well("clients", found, "connect them with: observer install")


def _client(client: Client, context: InstallContext, parts: str, last: Reports) -> Diagnosis:
    name = client.name
    again = f"bring it up to date with: observer install {name}"
    try:
        edits = install(name, context).edits
        if any(edit.is_change and not edit.is_ours for edit in edits):
            return wrong(name, f"{parts}, not all of it", again, fix=f"install {name}")
        client.check_hooks(context)
    except ObserverError as error:
        return refused(name, error)
    if quiet := find_quiet(client, context, last, at_ms=now_ms()):
        return wrong(name, str(quiet), quiet.hint)
    at_ms = last_report(client, last)
    heard = f"last report {age_text(now_ms() - at_ms)} ago" if at_ms else "no report yet"
    return well(name, f"{parts}; {heard}")


def _hooks(context: InstallContext) -> str:
    here = context.home
    if not here.hooks.is_dir():
        if names := " ".join(installed(context)):
            message = f"{here.hooks} is gone, and nothing is recorded of {names}"
            hint = f"get them back with: observer install {names}"
            raise ObserverError(message, hint=hint)
        return "none installed; see: observer install --help"
    if stale := " ".join(edit.path.name for edit in hook_files(here) if edit.is_change):
        hint = "refresh them with: observer doctor --fix"
        raise ObserverError(f"out of date: {stale}", hint=hint)
    return str(here.hooks)


def _git_hooks(context: InstallContext) -> Iterator[Diagnosis]:
    name, folders = "git hooks", list[str]()
    with suppress(ObserverError), reading(context.home) as reader:  # the database has its own check
        folders = [path for project in reader.projects() for path in project.common_dirs]
    try:
        found = [refused(name, each) for each in missing_hooks(context, folders)]
    except ObserverError as error:
        found = [refused(name, error)]
    yield from found or [well(name, "all that were installed run")]


RESTARTING = ("index", "daemon")
"""Fixes that stop the daemon."""


def apply_fix(fix: str, context: InstallContext) -> str:
    """Apply a fix that a `Diagnosis` names, and return what was done, or why it was not."""
    try:
        return _applied(fix, context)
    except (ObserverError, OSError) as error:
        return f"not done: {fix}: {error}"


def _applied(fix: str, context: InstallContext) -> str:
    here = context.home
    match fix.split():
        case ["install", name]:
            copies = perform(install(name, context), here, at_ms=now_ms())
            kept = f"; the former text is in {', '.join(map(str, copies))}" if copies else ""
            return f"installed {name} again{kept}"
        case ["private"]:
            for path in (found := open_to_others(here)):
                path.chmod(path.stat().st_mode & 0o700)
            return f"took the rights of others from {', '.join(map(str, found))}"
        case ["hooks"]:
            edits = hook_files(here)
            apply(edits, here.backups, at_ms=now_ms())
            return f"refreshed {counted(len(edits), 'hook script')}"
        case ["retry"]:
            events = counted(Spool(here.spool).retry(), "event")
            return f"put {events} back into the queue, to be read again"
    if fix == "index":
        daemon.stop(here)
        shutil.rmtree(here.index)
    daemon.ensure_daemon(here, wait_s=20.0)
    done = {"index": "had the index made anew", "daemon": "started the daemon of this version"}
    return done[fix]
