"""Checks of the home's files and of the machine that it lies on."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from observer.core.clock import iso_ms, now_ms
from observer.core.errors import ObserverError
from observer.core.paths import Home, open_plain
from observer.core.text import size_text
from observer.daemon.status import Status
from observer.doctor.diagnosis import Diagnosis, checked
from observer.projects.fs_probe import MOUNT, MOUNTS, file_system_of, mounts

LOW_DISK_BYTES = 100 << 20
FEW_FILES = 1000
REMOTE = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "lustre", "glusterfs"}
    | {"afpfs", "webdav"}
    | {"fuse.sshfs", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs"}
)
"""File systems on which neither locks nor SQLite's shared memory can be relied on."""
AHEAD_MS = 300_000
MOST_WATCHES = 0.8
"""Share of the inotify watches of a user above which others may get none."""
_WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")


def home_checks(here: Home, status: Status) -> Iterator[Diagnosis]:
    """Yield what is wrong with the home's folders and files, or that nothing is."""
    yield _home(here)
    yield checked("files", lambda: files(here))
    yield checked("private", lambda: private(here), fix="private")
    yield checked("folders", lambda: folders(here))
    yield checked("sockets", lambda: sockets(here))
    yield _disk(here)
    yield checked("file system", lambda: file_system(here.root))
    yield checked("watches", lambda: watches(status))
    yield checked("clock", lambda: clock(status, at_ms=now_ms()))


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


def files(here: Home) -> str:
    """Open the files that a daemon must open before it can report errors; return that it can."""
    for path in (here.lock, here.logs / "daemon.log"):
        if os.path.lexists(path):
            os.close(open_plain(path, os.O_RDWR))
    return "lock and log can be written"


def open_to_others(here: Home) -> list[Path]:
    """Return the folders and files with private text that other users could read."""
    kept = (here.root, here.spool, here.logs, here.backups, here.database, here.token, here.llm_key)
    return [path for path in kept if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077]


def private(here: Home) -> str:
    """Return that what is in the home is the user's alone.

    Raises:
        ObserverError: others could read something.
    """
    if found := open_to_others(here):
        names = " ".join(map(str, found))
        raise ObserverError(f"open to others: {names}", hint=f"run: chmod go-rwx {names}")
    return "readable by you alone"


def file_system(folder: Path, listed: Path = MOUNTS, program: str = MOUNT) -> str:
    """Return the type of the file system that a folder lies on; "not known" if nobody says.

    Raises:
        ObserverError: it is one of another machine.
    """
    found = file_system_of(os.path.realpath(folder), mounts(listed, program)) or "not known"
    if found in REMOTE:
        raise ObserverError(
            f"{folder} is on {found}, where SQLite can lose data",
            hint="move the home to a local disk, and set OBSERVER_HOME",
        )
    return found


def watches(status: Status, limit: Path = _WATCHES) -> str:
    """Return how many folders are watched, of how many the kernel allows.

    Raises:
        ObserverError: there is hardly one left.
    """
    used = sum(one.folders for one in status.watched)
    try:
        most = int(limit.read_text())
    except (OSError, ValueError):
        return f"{used:,} folders"
    if used >= most * MOST_WATCHES:
        raise ObserverError(
            f"{used:,} of {most:,} inotify watches are taken; others get none",
            hint=f"run: sudo sysctl fs.inotify.max_user_watches={max(2 * most, 524_288)}",
        )
    return f"{used:,} folders of {most:,} that inotify allows"


def clock(status: Status, *, at_ms: int) -> str:
    """Return that nothing was stored in the future.

    Raises:
        ObserverError: the clock was set back, or had been ahead.
    """
    last = iso_ms(status.last_stored_at or "") or 0
    if last > at_ms + AHEAD_MS:
        hours = (last - at_ms) / 3_600_000
        raise ObserverError(
            f"the last event was stored {hours:,.1f} h in the future: the clock was changed",
            hint="set the clock; times recorded meanwhile stay as they are",
        )
    return "no event is from the future"


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


def _home(here: Home) -> Diagnosis:
    if not here.root.exists():
        return Diagnosis("home", is_well=True, found=f"{here.root} (not made yet)")
    found = here.root.stat()
    if found.st_uid != os.getuid() or not os.access(here.root, os.W_OK):
        hint = "make it yours and writable, or choose another OBSERVER_HOME"
        return Diagnosis("home", is_well=False, found=f"{here.root} cannot be written", hint=hint)
    return Diagnosis("home", is_well=True, found=str(here.root))


def _disk(here: Home) -> Diagnosis:
    folder = next(path for path in (here.root, *here.root.parents) if path.exists())
    free_bytes, inodes = shutil.disk_usage(folder).free, os.statvfs(folder)
    found = f"{size_text(free_bytes)} free"
    is_well = free_bytes >= LOW_DISK_BYTES
    if inodes.f_files and inodes.f_favail < FEW_FILES:  # some file systems count none
        is_well, found = False, f"{found}, room for {inodes.f_favail} files"
    hint = "" if is_well else "free some space; events are refused soon"
    return Diagnosis("disk", is_well=is_well, found=found, hint=hint)
