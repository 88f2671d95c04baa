"""Starting git, and reading its output with a time limit: the only module that starts it.

git is started by its absolute path, without a shell, in a process group that is killed as a whole.
"""

from __future__ import annotations

import io
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import IO, Any, Self, cast

from observer.core.errors import NotFound

WAIT_S = 30.0
"""Longest wait for an answer, or for the next part of one."""
PART_BYTES = 1 << 14
"""Read from a pipe at once."""
ANSWER_BYTES = 256 << 20
"""Longest answer taken as a whole."""


def launch(
    words: Sequence[str],
    *,
    environ: Mapping[str, str],
    settings: Mapping[str, str] = {},
    reads: int | None = None,
    errors: int | IO[bytes] = subprocess.DEVNULL,
    wait_s: float = WAIT_S,
) -> GitProcess:
    """Start git, found by the PATH in `environ`, with settings of our own. Raises: NotFound."""
    ours = [word for pair in settings.items() for word in ("-c", "=".join(pair))]
    try:
        process = subprocess.Popen(  # noqa: S603 - no shell; what is not ours stands behind options
            [executable(environ.get("PATH")), *ours, *words],
            cwd="/",
            env=environ,
            stdin=subprocess.DEVNULL if reads is None else reads,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    except OSError as error:
        raise NotFound(f"cannot run git: {error.strerror}", hint="install git") from error
    except ValueError as error:
        raise NotFound(f"no such repository or commit: {error}") from error
    return GitProcess(process, wait_s)


def ask(words: Sequence[str], **options: Any) -> subprocess.CompletedProcess[bytes]:  # noqa: ANN401
    """Run git to its end, with options of `launch`. Raises: NotFound, GitTimeout."""
    with tempfile.TemporaryFile() as errors, launch(words, errors=errors, **options) as git:
        answer, code = git.all(), git.code()
        errors.seek(0)
        return subprocess.CompletedProcess(words, code, answer, errors.read())


class GitProcess:
    """A git that was started; it ends with this, and so does what it started."""

    def __init__(self, process: subprocess.Popen[bytes], wait_s: float) -> None:
        self._process = process
        self._wait_s = wait_s
        self._pipe = TimedPipe(cast("IO[bytes]", process.stdout), wait_s)
        self.stdin = process.stdin
        self.stdout = io.BufferedReader(self._pipe, PART_BYTES)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.__del__()

    def __del__(self) -> None:
        """End the whole process group, unless git was waited for."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):  # the group is gone, or a zombie
                os.killpg(self._process.pid, signal.SIGKILL)
        for stream in filter(None, (self.stdin, self.stdout)):
            with suppress(OSError):
                stream.close()
        self._process.wait()

    def all(self) -> bytes:
        """Return all output. Raises: GitTimeout (it does not end in time, or is too long)."""
        self._pipe.until_s = time.monotonic() + self._wait_s
        answer = bytearray()
        while part := self.stdout.read(PART_BYTES):
            answer += part
            if len(answer) > ANSWER_BYTES:
                raise GitTimeout("the answer is too long")
        return bytes(answer)

    def code(self) -> int:
        """Wait until it ends by itself; return its exit code. Raises: GitTimeout."""
        try:
            return self._process.wait(self._wait_s)
        except subprocess.TimeoutExpired as error:
            raise GitTimeout(f"no end within {self._wait_s:g} seconds") from error


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
    """A pipe whose reads raise `GitTimeout` after `wait_s`, or at `until_s`."""

    def __init__(self, pipe: IO[bytes], wait_s: float) -> None:
        self._pipe = pipe
        self._wait_s = wait_s
        self.until_s: float | None = None
        self._poll = select.poll()
        self._poll.register(pipe, select.POLLIN)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # what io passes
        """Read what is there, as soon as something is; 0 at the end."""
        left_s = self._wait_s if self.until_s is None else self.until_s - time.monotonic()
        if left_s <= 0 or not self._poll.poll(left_s * 1000):
            raise GitTimeout(f"no answer within {self._wait_s:g} seconds")
        return os.readv(self._pipe.fileno(), [buffer])

    def close(self) -> None:
        """Close the pipe."""
        self._pipe.close()
        super().close()
