"""Small file-system probes: inodes, mounts, change stamps, folders that are never a project."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import sys
from collections.abc import Iterable, Sequence
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
    """Return (mount point, type) of all file systems; for equal points the last one counts.

    Args:
        listed: where Linux lists them.
        program: prints them on macOS and the BSDs; there are none where it is missing too.
    """
    try:
        lines = listed.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # not Linux
        printed = map(_PRINTED.match, _output_of(program).splitlines())
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


def _output_of(program: str) -> str:
    try:
        ran = subprocess.run([program], capture_output=True, check=False, timeout=MOUNT_S)  # noqa: S603 - the system's
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ran.stdout.decode(errors="replace")


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
        return f"{status.st_dev}:{status.st_ino}{_generation(descriptor)}"
    finally:
        os.close(descriptor)


def _generation(descriptor: int) -> str:
    if sys.platform != "linux":  # the request has other numbers elsewhere
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
