"""Small file-system probes: inodes, mounts, change stamps, folders that are never a project.

A folder that is gone, or of another system, is known by its spelling: that of WSL, for all.
"""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from observer.core.model import Place
from observer.core.paths import FileStamp, file_stamp, is_inside

TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp")  # noqa: S108 - never written to

_FS_IOC_GETVERSION = 0x80087601
MOUNTS = Path("/proc/self/mountinfo")
MOUNT, MOUNT_S = "/sbin/mount", 5.0
_PRINTED = re.compile(r".+? on (/.*?)(?: type (\S+))? \(([^,)]+)")
"""What `mount` prints: `/dev/disk3s5 on /Volumes/my disk (apfs, local)`; Linux names a type."""

Stamp = tuple[FileStamp, ...]


class ProbedPlace(NamedTuple):
    """A place, the files whose change outdates it, and their state before they were read."""

    place: Place
    watched: tuple[str, ...] = ()
    stamp: Stamp = ()


NOWHERE = ProbedPlace(Place(root=""))


def non_project_dirs() -> frozenset[str]:
    """Return the folders that never are a project: `$HOME`, all above it, those for temp files."""
    return _ground(os.path.expanduser("~"), os.environ.get("TMPDIR", ""))


def mounts(listed: Path = MOUNTS, program: str = MOUNT) -> list[tuple[str, str]]:
    """Return (mount point, type) of all file systems; for equal points the last one counts."""
    try:
        lines = listed.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # not Linux
        try:
            ran = subprocess.run([program], capture_output=True, check=False, timeout=MOUNT_S)  # noqa: S603 - the system's
        except (OSError, subprocess.TimeoutExpired):
            return []
        printed = map(_PRINTED.match, ran.stdout.decode(errors="replace").splitlines())
        return [(one[1], one[2] or one[3]) for one in printed if one]
    # Source: proc_pid_mountinfo(5). Spaces in a path are written \040.
    parts = [line.partition(" - ") for line in lines]
    return [
        (left.split(" ")[4].replace("\\040", " "), right.split(" ")[0])
        for left, _, right in parts
        if right
    ]


def file_system_of(path: str, mounted: Sequence[tuple[str, str]]) -> str:
    """Return the type of the file system that a path is on, "" if it is not known."""
    around = [
        (len(where), number) for number, (where, _) in enumerate(mounted) if is_inside(path, where)
    ]
    return mounted[max(around)[1]][1] if around else ""


def stamp_of(paths: Iterable[str]) -> Stamp:
    """Return a value that changes when one of the files does."""
    return tuple([file_stamp(path) for path in paths])


def inode_of(folder: str) -> str:
    """Return `device:inode[:generation]` of a folder, or "" if it cannot be opened.

    File systems hand out an inode number again as soon as it is free; the generation, where the
    kernel reports it, keeps a new folder from passing for a deleted one.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        status = os.fstat(descriptor)
        known = f"{status.st_dev}:{status.st_ino}"
        if sys.platform == "linux":  # the request has other numbers elsewhere
            with suppress(OSError):  # tmpfs and others have none
                answer = fcntl.ioctl(descriptor, _FS_IOC_GETVERSION, bytes(8))
                known = f"{known}:{struct.unpack('=q', answer)[0] & 0xFFFFFFFF}"
        return known
    finally:
        os.close(descriptor)


@lru_cache(maxsize=8)
def _ground(home: str, temporary: str) -> frozenset[str]:
    folders = [*TEMPORARY, temporary]
    while home not in ("", "/", "//"):
        folders.append(home)
        home = os.path.dirname(home)
    named = [folder for folder in folders if folder]
    return frozenset(("/", *named, *map(os.path.realpath, named)))


_DRIVE = re.compile(r"(?:([A-Za-z]):|/(?:mnt/|cygdrive/)?([A-Za-z]))(?=/|$)")
_SHARE = re.compile(r"//wsl(?:\$|\.localhost)/[^/]+(?=/|$)", re.IGNORECASE)
_OF_WINDOWS = re.compile(r"/?[A-Za-z]:[\\/]|[\\/]{2}wsl(?:\$|\.localhost)[\\/]", re.IGNORECASE)
"""How paths begin that only Windows spells so; with a slash in front in a `file:` address."""
_HOMES = re.compile(
    r"(?:/mnt/[a-z])?/(?:home|users)(?:/[^/]*)?|/mnt(?:/[a-z])?|/root|/", re.IGNORECASE
)
"""Folders of people, and what lies above them: never a project."""


def local_spelling(folder: str) -> str:
    r"""Return a folder as WSL spells it: `C:\src` as `/mnt/c/src`; others as they are."""
    if "\\" in folder and not folder.startswith("/"):
        folder = folder.replace("\\", "/")
    folder = _SHARE.sub("", folder, count=1)
    if found := _DRIVE.match(folder):
        folder = f"/mnt/{(found[1] or found[2]).lower()}{folder[found.end() :]}"
    return folder.rstrip("/") or folder


def from_windows(path: str) -> str:
    r"""Return a path that only Windows spells so as WSL does (`C:\src\a.py`, `\\wsl$\Ubuntu\src`).

    All other paths stay as they are, `/c/src` of Git Bash too: here it may be a folder.
    """
    if not _OF_WINDOWS.match(path):
        return path
    return local_spelling(path[1:] if path[2:3] == ":" else path)


def is_same_or_inside(folder: str, root: str) -> bool:
    """Return True if a folder is a root or below it; Windows knows no case."""
    if root.startswith("/mnt/"):
        return is_inside(folder.casefold(), root.casefold())
    return is_inside(folder, root)


def gone_root(folder: str, roots: Iterable[str]) -> str:
    """Return the folder of the project that a missing folder was in; "" if it was in none.

    A work tree in a hidden folder belongs to what is around that.
    """
    root = next((one for one in roots if is_same_or_inside(folder, one)), folder)
    root = root.partition("/.")[0]
    is_home = _HOMES.fullmatch(root) or root in non_project_dirs()
    return "" if is_home or not root.startswith("/") else root
