"""Starting git, and reading its output with a time limit: the only module that starts it.

git is started by its absolute path, without a shell, in a process group that is killed as a whole.
"""

from __future__ import annotations

import io
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import IO

from observer.core.errors import NotFound

WAIT_S = 30.0
"""Longest wait for an answer, or for the next part of one."""
PART_BYTES = 1 << 14
"""Read from a pipe at once."""


def launch(
    words: Sequence[str],
    *,
    environ: Mapping[str, str],
    folder: str = "/",
    reads: int | None = None,
    errors: int | IO[bytes] = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Start git, found by the PATH in `environ`, for the caller to `kill`. Raises: NotFound."""
    try:
        return subprocess.Popen(  # noqa: S603 - no shell; what is not ours stands behind options
            [executable(environ.get("PATH")), *words],
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL if reads is None else reads,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    except OSError as error:
        if error.filename == folder:
            raise NotFound(f"{folder} cannot be entered: {error.strerror}") from error
        raise NotFound(f"cannot run git: {error.strerror}", hint="install git") from error
    except ValueError as error:
        raise NotFound(f"no such repository or commit: {error}") from error


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process that was not waited for yet, and whatever it started."""
    with suppress(ProcessLookupError, PermissionError):  # the group is gone, or a zombie
        os.killpg(process.pid, signal.SIGKILL)


def executable(path: str | None = None) -> str:
    """Return git's absolute path, out of the absolute entries of a PATH. Raises: NotFound."""
    return _executable(os.environ.get("PATH", os.defpath) if path is None else path)


def absolute_entries(path: str) -> str:
    """Return the absolute entries of a PATH: the others lead into whatever folder one is in."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if entry.startswith("/"))


@lru_cache(maxsize=8)
def _executable(path: str) -> str:
    for entry in filter(None, absolute_entries(path).split(os.pathsep)):
        if os.path.isfile(found := f"{entry}/git") and os.access(found, os.X_OK):
            return found
    # Raised rather than returned: it is not remembered, and git may be installed later.
    raise NotFound("cannot run git: it is in no absolute folder of PATH", hint="install git")


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without git's variables, and with the absolute part of PATH."""
    kept = {name: text for name, text in environ.items() if not name.startswith("GIT_")}
    return kept | {"PATH": absolute_entries(environ.get("PATH", os.defpath))}


class GitTimeout(NotFound):
    """A program did not answer in time, or answered too much."""


class TimedPipe(io.RawIOBase):
    """A pipe whose reads raise `GitTimeout` after `wait_s`, each or `in_all`; not seekable."""

    def __init__(self, pipe: IO[bytes], *, wait_s: float, in_all: bool) -> None:
        self._pipe = pipe
        self._wait_s = wait_s
        self._until_s = time.monotonic() + wait_s if in_all else None
        self._poll = select.poll()
        self._poll.register(pipe, select.POLLIN)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # what io passes
        """Read what is there, as soon as something is; 0 at the end."""
        left_s = self._wait_s if self._until_s is None else self._until_s - time.monotonic()
        if left_s <= 0 or not self._poll.poll(left_s * 1000):
            raise GitTimeout(f"no answer within {self._wait_s:g} seconds")
        return os.readv(self.fileno(), [buffer])

    def fileno(self) -> int:
        """Return its descriptor, for another program to read from."""
        return self._pipe.fileno()

    def close(self) -> None:
        """Close the pipe."""
        self._pipe.close()
        super().close()
