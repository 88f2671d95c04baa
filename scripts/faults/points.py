"""Fault points: every step by which a process changes or opens files, and what happens at one.

A step is an operation of SQLite on its files, which a VFS of ours sees, or one of Python's, which
an audit hook and wrapped calls of `os` see. Only what lies in the home counts. The same work takes
the same steps, so the nth is the same one in each run. `watch` cannot be taken back: whoever calls
it does the work and ends.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import apsw

from observer.store import pages


class Kind(StrEnum):
    """What is about to be done."""

    OPEN = "open"
    CREATE = "create"
    WRITE = "write"
    TRUNCATE = "truncate"
    SYNC = "sync"
    RENAME = "rename"
    REMOVE = "remove"


class Step(NamedTuple):
    """One operation before it is done.

    `target` is the new name of what is renamed; `is_forced` says that a removal is on the medium
    when it returns.
    """

    kind: Kind
    path: str
    offset: int = 0
    data: bytes = b""
    target: str = ""
    is_sqlite: bool = False
    is_forced: bool = False


class Witness(Protocol):
    """Sees each step before it is done; what it raises is what the step ends with."""

    def __call__(self, step: Step) -> None:
        """Take note."""


Act = Callable[[Step], None]

ALL = frozenset(Kind)
CHANGES = ALL - {Kind.OPEN}
GROWING = frozenset({Kind.CREATE, Kind.WRITE})
OPENING = frozenset({Kind.OPEN, Kind.CREATE})
_OF_SQLITE = {
    errno.EIO: apsw.IOError,
    errno.ENOSPC: apsw.FullError,
    errno.EMFILE: apsw.CantOpenError,
}


class Trap:
    """Counts steps, and acts at the nth of them.

    Args:
        kinds: the steps that count.
        number: which one, from 1; 0 for none.
        act: what happens there.
        is_lasting: whether it happens at every later one too.
    """

    def __init__(
        self, kinds: frozenset[Kind], number: int, act: Act, *, is_lasting: bool = False
    ) -> None:
        self.count = 0
        self._kinds = kinds
        self._number = number
        self._act = act
        self._is_lasting = is_lasting

    def __call__(self, step: Step) -> None:
        """Count a step, and act where it is the one."""
        if step.kind not in self._kinds:
            return
        self.count += 1
        is_it = self.count == self._number or (self._is_lasting and self.count > self._number)
        if self._number and is_it:
            self._act(step)


def die(_step: Step) -> None:
    """End this process as the kernel would."""
    os.kill(os.getpid(), signal.SIGKILL)


def failing(number: int) -> Act:
    """Return what fails with an error number, in the manner of SQLite or of the system."""

    def fail(step: Step) -> None:
        if step.is_sqlite:
            raise _OF_SQLITE[number](os.strerror(number))
        raise OSError(number, os.strerror(number), step.path)

    return fail


def watch(folder: str, *witnesses: Witness) -> None:
    """Show every step below a folder to the witnesses, until this process ends."""

    def show(step: Step) -> None:
        if step.path.startswith(folder) and not step.path.endswith("-shm"):
            for witness in witnesses:
                witness(step)

    global _files  # noqa: PLW0603 - SQLite holds no reference to it
    _files = _Files(show)
    pages.register()  # else it goes on deleting files beside what watches
    _wrap_os(show)
    sys.addaudithook(lambda event, given: _audited(show, event, given))


_files: _Files | None = None


class _Files(apsw.VFS):
    """The file system as SQLite's connections of this process see it."""

    def __init__(self, show: Witness) -> None:
        super().__init__("watched", "unix", makedefault=True)
        self._show = show

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802, ANN401 - apsw's
        path = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        kind = Kind.OPEN if os.path.exists(path) else Kind.CREATE  # noqa: PTH110
        self._show(Step(kind, path, is_sqlite=True))
        return _File(name, flags, path, self._show)

    def xDelete(self, path: str, sync_folder: bool) -> None:  # noqa: N802, FBT001 - apsw's
        self._show(Step(Kind.REMOVE, path, is_sqlite=True, is_forced=bool(sync_folder)))
        super().xDelete(path, sync_folder)


class _File(apsw.VFSFile):
    def __init__(self, name: Any, flags: list[int], path: str, show: Witness) -> None:  # noqa: ANN401
        super().__init__("unix", name, flags)
        self._path = path
        self._show = show

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - apsw's
        self._show(Step(Kind.WRITE, self._path, offset, bytes(data), is_sqlite=True))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802 - apsw's
        self._show(Step(Kind.TRUNCATE, self._path, size, is_sqlite=True))
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802 - apsw's
        self._show(Step(Kind.SYNC, self._path, is_sqlite=True))
        super().xSync(flags)


def _wrap_os(show: Witness) -> None:
    """Show what no audit event tells of: forced writes, and writes at a place."""
    fsync, pwrite = os.fsync, os.pwrite

    def shown_fsync(descriptor: int) -> None:
        show(Step(Kind.SYNC, _path_of(descriptor)))
        fsync(descriptor)

    def shown_pwrite(descriptor: int, data: bytes, offset: int) -> int:
        show(Step(Kind.WRITE, _path_of(descriptor), offset, bytes(data)))
        return pwrite(descriptor, data, offset)

    os.fsync, os.pwrite = shown_fsync, shown_pwrite


def _path_of(descriptor: int) -> str:
    return str(Path(f"/proc/self/fd/{descriptor}").readlink())


def _audited(show: Witness, event: str, given: Sequence[Any]) -> None:
    if event == "open" and isinstance(given[0], str | os.PathLike):
        path = os.fspath(given[0])
        is_new = bool(given[2] & os.O_CREAT) and not os.path.lexists(path)
        emptied = given[2] & os.O_TRUNC
        show(Step(Kind.CREATE if is_new or emptied else Kind.OPEN, path))
    elif event == "os.rename":
        show(Step(Kind.RENAME, os.fspath(given[0]), target=os.fspath(given[1])))
    elif event == "os.remove":
        show(Step(Kind.REMOVE, os.fspath(given[0])))
