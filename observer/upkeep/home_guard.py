"""Ownership of a home: the daemon's lock, its lease for hooks, and the identity of its files.

The lock makes a daemon the only one of its home. The lease shows hooks that one lives: the time of
`daemon.alive` is in the future, renewed meanwhile, and it names the command that starts a daemon. A
hook that finds it expired creates `daemon.waking`, which only one can, and starts a daemon; one
that cannot start is retried after `RETRY_S`. `observer down` removes the lease.

Somebody may delete or replace the home or the database while the daemon runs: every write first
checks the identity of the files, as an open database would swallow events for good.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from observer.core.errors import DaemonUnavailable, StoreUnavailable, remedy
from observer.core.paths import FileIdentity, Home, identity, make_private, open_plain
from observer.local import client

if TYPE_CHECKING:
    from observer.upkeep.restore import Progress

ANEW = 75  # a daemon's exit code where another is to follow; as EX_TEMPFAIL of sysexits.h


class HomeLost(DaemonUnavailable):
    """The home is no longer this daemon's; it must exit without touching its files."""


class HomeGuard:
    """Remembers the identity of the home's files; the database is added when it is opened."""

    def __init__(self, home: Home) -> None:
        self._paths = [home.lock, home.socket, home.mcp_socket]
        self._known: dict[Path, FileIdentity] = {}
        self.check()

    def own(self, path: Path) -> None:
        """Add a file."""
        self._paths = [*self._paths, path]
        self.check()

    def check(self) -> None:
        """Check all files by `stat`. Raises HomeLost: one is gone or was replaced."""
        for path in self._paths:
            known, found = self._known.get(path), identity(path)
            if known is None and found is not None:
                self._known[path] = found
            elif found != known:
                raise HomeLost(f"{path} was {'replaced' if found else 'removed'}", hint="try again")


BEAT_S, LEASE_S = 60.0, 180.0
RETRY_S = 600.0


def renew(home: Home) -> None:
    """Renew the lease; errors are ignored, since it only speeds up the next start."""
    parent = Path(__file__).parents[2]  # a checkout, where it is not installed
    is_installed = parent.name in {"site-packages", "dist-packages"}
    starter = f"{sys.executable}\n{'' if is_installed else parent}\n"
    with suppress(OSError):
        _write(home.alive, starter.encode(), valid_s=LEASE_S)
        home.waking.unlink(missing_ok=True)


def end(home: Home) -> None:
    """Drop the lease: hooks start no daemon until somebody else has started one."""
    for path in (home.alive, home.waking):
        path.unlink(missing_ok=True)


def postpone(home: Home) -> None:
    """Delay the next start by hooks by `RETRY_S`, if a hook asked for this one."""
    if home.waking.exists():
        with suppress(OSError):
            _write(home.waking, b"failed\n", valid_s=RETRY_S)


UP_S = 30.0


def bring_up(home: Home) -> None:
    """Return when the daemon answers, started if there was none. Raises DaemonUnavailable."""
    postpone(home)  # if this is killed, hooks try again some day
    client.ensure_daemon(home, wait_s=UP_S)
    home.waking.unlink(missing_ok=True)


def _write(path: Path, content: bytes, *, valid_s: float) -> None:
    with os.fdopen(open_plain(path, os.O_WRONLY | os.O_CREAT), "wb") as file:
        file.write(content)
        file.truncate()
    until = time.time() + valid_s
    os.utime(path, (until, until))


PATIENCE_S = 0.3  # processes that check for a daemon hold the lock for microseconds; wait for them


def take(home: Home) -> int | None:
    """Take the home's lock, for as long as the process lives; None if another process has it.

    Returns its descriptor. Raises StoreUnavailable: the home cannot be created, written or locked.
    """
    try:
        make_private(home.root)
        descriptor = open_plain(home.lock, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        hint = remedy(error, "make it writable, or choose another OBSERVER_HOME")
        message = f"{error.filename} cannot be written: {error.strerror}"
        raise StoreUnavailable(message, hint=hint) from error
    try:
        is_ours = _lock(descriptor)
    except OSError as error:
        os.close(descriptor)
        hint = "choose an OBSERVER_HOME on a local file system"
        message = f"{home.lock} cannot be locked: {error.strerror}"
        raise StoreUnavailable(message, hint=hint) from error
    if not is_ours:
        os.close(descriptor)
        return None
    with suppress(OSError):  # a full disk
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
    return descriptor


@contextmanager
def hold(home: Home) -> Iterator[bool]:
    """Hold the home's lock inside; yield False if another has it. Raises StoreUnavailable."""
    descriptor = take(home)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            os.close(descriptor)


PROGRAM = "venv"  # where `scripts/start` installs observer in its home


def delete(home: Home, *, progress: Progress) -> list[Path]:
    """Delete all that is observer's in a home, and the home; return what somebody else put there.

    The program goes last: whoever broke it off can repeat it. Raises DaemonUnavailable: a daemon
    has started meanwhile; OSError: something in it cannot be deleted.
    """
    places = [getattr(home, name) for name, one in vars(Home).items() if isinstance(one, property)]
    names = {one.relative_to(home.root).parts[0] for one in places if home.root in one.parents}
    # What a file is called until it is whole, or while it is copied.
    forms = ({f"{one}.new", f"{Path(one).stem}.new", f".{one}", f"{one}.copy"} for one in names)
    names = names.union({PROGRAM}, *forms)
    with hold(home) as is_ours:
        if not is_ours:
            hint = "close your editors and agents, then repeat"
            raise DaemonUnavailable("a daemon started meanwhile", hint=hint)
        shutil.rmtree(home.run, ignore_errors=True)
        ours = [i for i in home.root.iterdir() if i.name in names or _OF_DATABASE.fullmatch(i.name)]
        ours.sort(key=lambda path: path.name == PROGRAM)
        gone = [each for path in ours for each in _with_contents(path)]
        with progress("deleting", len(gone)) as advance:
            for each in gone:
                each.rmdir() if _is_folder(each) else each.unlink(missing_ok=True)
                advance(1)
        left = list(home.root.iterdir())
    if not left:
        home.root.resolve().rmdir()
        if home.root.is_symlink():
            home.root.unlink()
    return left


def _with_contents(path: Path) -> Iterator[Path]:
    """Yield what is in a folder, deepest first, and then itself."""
    for inside in path.iterdir() if _is_folder(path) else ():
        yield from _with_contents(inside)
    yield path


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


_OF_DATABASE = re.compile(
    r"(?:observer\.db(?:\.(?:remaking|mending|reading|sealing|partial))?|\.purging-observer(?:\.db)?)"
    r"(?:-(?:wal|shm|journal|newest))?"
)  # the database, what repairs and purges make of it beside it, and what SQLite writes for each


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
