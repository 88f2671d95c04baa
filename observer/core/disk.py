"""How the spool touches the disk: durable writes, bounded reads, deletion in the background.

Where freed blocks are discarded at once, deleting a small file takes longer than storing its event.
What the end of a process leaves undeleted has no name in `new/`, and is swept away later.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import stat
import threading
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from observer.core.paths import flush

LARGEST_BYTES = 64 << 20
"""What is larger is not an event; only its head is ever read."""
HEAD_BYTES = 64 << 10

_NOT_OURS = frozenset({errno.EACCES, errno.EPERM, errno.ELOOP, errno.EMLINK, errno.ENXIO})


class UnexpectedFile(Exception):
    """Something in the spool that no hook made; the message says what it is."""


def is_unreadable(error: OSError) -> bool:
    """Return True if the medium does not give a file's bytes, so that others need not wait."""
    return error.errno == errno.EIO


def open_plain(path: str | Path) -> tuple[int, os.stat_result]:
    """Open a plain file for reading, for the caller to close; follow no link, wait for no writer.

    Raises FileNotFoundError; UnexpectedFile: it is not a plain file, or not ours to read.
    """
    try:
        # Without O_NONBLOCK, opening a FIFO waits for a writer that never comes.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in _NOT_OURS:
            raise UnexpectedFile(f"it cannot be opened: {error.strerror}") from error
        raise
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise UnexpectedFile("it is not a plain file")
    return handle, status


def read(path: str | Path) -> tuple[bytes, str]:
    """Return a file's bytes, or its head and why the rest is missing; raise as `open_plain`."""
    handle, status = open_plain(path)
    try:
        if status.st_size > LARGEST_BYTES:
            fault = f"{status.st_size:,} bytes, more than any event has"
            return os.read(handle, HEAD_BYTES), fault
        return os.read(handle, status.st_size), ""
    finally:
        os.close(handle)


def create(path: Path, data: bytes) -> None:
    """Write a new file of mode 0600 and see it on the disk; never touch one that exists.

    Raises FileExistsError; OSError: the disk is full or read-only, and nothing is left.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with io.FileIO(handle, "wb") as file:
            rest = memoryview(data)
            while rest:  # the kernel writes at most 2 GiB at once, and less on a full disk
                rest = rest[file.write(rest) :]
            flush(handle)
    except OSError:
        path.unlink(missing_ok=True)
        raise


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep others out that lock the same file or folder; a file is made. Raises OSError."""
    flags = os.O_RDONLY | os.O_DIRECTORY if path.is_dir() else os.O_RDWR | os.O_CREAT
    handle = os.open(path, flags | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def replace(path: Path, data: bytes) -> None:
    """Put a file of mode 0600 in place of whatever has the name, whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)
    create(beside, data)
    beside.replace(path)


def settle(folder: Path) -> None:
    """See the names in a folder on the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        flush(handle)
    finally:
        os.close(handle)


AT_ONCE = 16
"""So many files are deleted before `delete` returns; more are not worth waiting for."""


class Deleter:
    """Deletes in the order given; the end of the process waits for nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paths: deque[str] = deque()
        self._is_working = False

    def delete(self, paths: Collection[str]) -> None:
        """Delete files, or see to it; those already gone are not an error."""
        if len(paths) <= AT_ONCE:
            for path in paths:
                remove(path)
            return
        with self._lock:
            self._paths.extend(paths)
            if self._is_working:
                return
            self._is_working = True
        threading.Thread(target=self._work, name="spool-disposal", daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._paths:
                    self._is_working = False
                    return
                path = self._paths.popleft()
            with suppress(OSError):  # nobody is left to report it to; it will be swept
                remove(path)


def remove(path: str | Path) -> None:
    """Delete one file; one already gone is not an error."""
    with suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108 - a Path for each of 20,000 names costs more than the call


class SpoolEntry(NamedTuple):
    """One envelope that waits to be stored; its `id` is unique for ever, and its event's.

    `end` is the offset behind the record in a shell's log, None for a file of its own. `fault` is
    empty, or says why `data` is only the head of something that cannot be decoded.
    """

    id: str
    data: bytes
    at_ms: int
    path: str
    end: int | None = None
    fault: str = ""


def envelope(fields: Mapping[str, str], payload: bytes) -> bytes:
    """Return an envelope around a payload.

    Bytes of file names survive as `os.fsdecode` gave them; another lone surrogate turns all strays
    of the header into `?`. Raises ValueError: `=` in a name or none, a NUL in a name or a value.
    """
    lines = ["OBS1"]
    for name, value in fields.items():
        if not name or "=" in name or "\0" in name or "\0" in value:
            raise ValueError(f"the field {name!r} cannot stand in an envelope")
        lines.append(f"{name}={value}")
    header = "\0".join([*lines, "", ""])
    try:
        return header.encode("utf-8", "surrogateescape") + payload
    except UnicodeEncodeError:
        return header.encode("utf-8", "replace") + payload
