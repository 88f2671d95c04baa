"""Whether this daemon still owns its home: the files at the home's paths are those it opened.

Somebody may delete the home or the database, or put others in their place, while the daemon runs.
Its open database would then swallow events that nobody finds again, so every write asks here first.

How hooks learn that a daemon died, without asking it: a file that is valid for some minutes.

`daemon.alive` has a modification time in the future, renewed as long as a daemon lives; hooks
compare it with the file that they have just written. It names what starts a daemon. Whoever finds
that it has run out makes `daemon.waking`, which only one can, and starts one: so a thousand hooks
start one daemon, and one that cannot start is tried again after `RETRY_S`. `observer down` takes
the file away: who was stopped on purpose stays down until somebody asks for it.

The lock that makes a daemon the only one of its home.

The kernel holds it as long as the process lives, so no crash leaves it behind. The file's content,
the holder's process id, is for people and messages; only the lock decides.
"""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from observer.core.errors import DaemonUnavailable, StoreUnavailable, remedy
from observer.core.paths import Home, make_private, open_plain


class HomeLost(DaemonUnavailable):
    """The home is not this daemon's any more; it must leave without touching what is there."""


class HomeGuard:
    """Remembers each file of the home as it was first seen; made once the sockets listen.

    The database counts from when it was opened: before, it may be mended or written anew.
    """

    def __init__(self, home: Home) -> None:
        self._paths = [home.lock, home.socket, home.mcp_socket]
        self._known: dict[Path, tuple[int, int]] = {}
        self.check()

    def own(self, path: Path) -> None:
        """Remember one more file."""
        self._paths = [*self._paths, path]
        self.check()

    def check(self) -> None:
        """Return if all is as it was; costs four calls of `stat`.

        Raises:
            HomeLost: a file is gone or is another one.
        """
        for path in self._paths:
            known, found = self._known.get(path), _identity(path)
            if known is None and found is not None:
                self._known[path] = found
            elif found != known:
                raise HomeLost(f"{path} was {'replaced' if found else 'removed'}", hint="try again")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


BEAT_S, LEASE_S = 60.0, 180.0
RETRY_S = 600.0


def renew(home: Home) -> None:
    """Say that a daemon lives; errors cost no more than that nobody knows."""
    parent = Path(__file__).parents[2]
    # Else it is a checkout that nobody installed.
    is_installed = parent.name in {"site-packages", "dist-packages"}
    told = f"{sys.executable}\n{'' if is_installed else parent}\n"
    with suppress(OSError):
        _write(home.alive, told.encode(), valid_s=LEASE_S)
        home.waking.unlink(missing_ok=True)


def end(home: Home) -> None:
    """Have no hook start a daemon any more, until one was started otherwise."""
    for path in (home.alive, home.waking):
        path.unlink(missing_ok=True)


def postpone(home: Home) -> None:
    """Have hooks wait before they try again, if one of them asked for this start."""
    if home.waking.exists():
        with suppress(OSError):
            _write(home.waking, b"failed\n", valid_s=RETRY_S)


def _write(path: Path, content: bytes, *, valid_s: float) -> None:
    with os.fdopen(open_plain(path, os.O_WRONLY | os.O_CREAT), "wb") as file:
        file.write(content)
        file.truncate()
    until = time.time() + valid_s
    os.utime(path, (until, until))


PATIENCE_S = 0.3
"""Those who ask whether a daemon runs hold the lock for microseconds; outlast them."""


def take(home: Home) -> int | None:
    """Take the home's lock and return its descriptor; None says that another process has it.

    A daemon never closes it, so that the kernel gives the lock back when the process is gone, and
    not a moment earlier.

    Raises:
        StoreUnavailable: the home cannot be created, written or locked.
    """
    try:
        make_private(home.root)
        descriptor = open_plain(home.lock, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise StoreUnavailable(
            f"{error.filename} cannot be written: {error.strerror}",
            hint=remedy(error, "make it writable, or choose another OBSERVER_HOME"),
        ) from error
    try:
        is_ours = _lock(descriptor)
    except OSError as error:
        os.close(descriptor)
        raise StoreUnavailable(
            f"{home.lock} cannot be locked: {error.strerror}",
            hint="choose an OBSERVER_HOME on a local file system",
        ) from error
    if not is_ours:
        os.close(descriptor)
        return None
    with suppress(OSError):  # a full disk
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
    return descriptor


@contextmanager
def hold(home: Home) -> Iterator[bool]:
    """Hold the home's lock inside the block; False says that another process has it.

    Raises:
        StoreUnavailable: the home cannot be created or written.
    """
    descriptor = take(home)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _lock(descriptor: int) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        else:
            return True
