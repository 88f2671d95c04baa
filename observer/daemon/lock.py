"""The lock that makes a daemon the only one of its home.

The kernel holds it as long as the process lives, so no crash leaves it behind. The file's content,
the holder's process id, is for people and messages; only the lock decides.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from observer.errors import StoreUnavailable, remedy
from observer.paths import Home, make_private, open_plain

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
