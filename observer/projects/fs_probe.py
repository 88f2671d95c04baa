"""Small file-system probes: inodes, change stamps, folders that are never a project."""

from __future__ import annotations

import fcntl
import os
import struct
import sys
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from observer.core.model import Place

TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp")  # noqa: S108 - never written to

_FS_IOC_GETVERSION = 0x80087601

Stamp = tuple[tuple[int, int, int] | None, ...]


class ProbedPlace(NamedTuple):
    """A place, the files whose change outdates it, and their state before they were read."""

    place: Place
    watched: tuple[str, ...] = ()
    stamp: Stamp = ()


NOWHERE = ProbedPlace(Place(root=""))


def non_project_dirs() -> frozenset[str]:
    """Return the folders that never are a project: `$HOME`, all above it, those for temp files."""
    return _ground(os.path.expanduser("~"), os.environ.get("TMPDIR", ""))


def stamp_of(paths: Iterable[str]) -> Stamp:
    """Return a value that changes when one of the files does."""
    return tuple([_stamp(path) for path in paths])


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
        return f"{status.st_dev}:{status.st_ino}{_generation(descriptor)}"
    finally:
        os.close(descriptor)


def _generation(descriptor: int) -> str:
    if sys.platform != "linux":  # pragma: no cover - the request has other numbers elsewhere
        return ""
    try:
        answer = fcntl.ioctl(descriptor, _FS_IOC_GETVERSION, bytes(8))
    except OSError:  # tmpfs and others have none
        return ""
    return f":{struct.unpack('=q', answer)[0] & 0xFFFFFFFF}"


@lru_cache(maxsize=8)
def _ground(home: str, temporary: str) -> frozenset[str]:
    folders = [*TEMPORARY, temporary]
    while home not in ("", "/", "//"):
        folders.append(home)
        home = os.path.dirname(home)
    named = [folder for folder in folders if folder]
    return frozenset(("/", *named, *map(os.path.realpath, named)))


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size
