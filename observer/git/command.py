"""GitPython's `Git` in a closed environment and with time limits: the only use of GitPython.

Only `git.cmd` is imported: the package's `__init__` would run the first git of PATH, and bring
`Repo`, which reads a repository's own configuration.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from io import BufferedReader
from typing import IO, Self, cast

from observer.git.launch import PART_BYTES, GitTimeout, TimedPipe, kill

sys.modules.setdefault("git", module_from_spec(cast("ModuleSpec", find_spec("git"))))
from git.cmd import Git  # noqa: E402 - of a package that is there, and was not run

ANSWER_BYTES = 256 << 20
"""Longest answer taken as a whole."""


class GitProcess(Git.AutoInterrupt):
    """A git that was started, and ends with what it started; waits `wait_s`, maybe for all."""

    def __init__(self, process: subprocess.Popen[bytes], *, wait_s: float, in_all: bool) -> None:
        super().__init__(process, process.args)
        self._process = process
        self._wait_s = wait_s
        pipe = TimedPipe(cast("IO[bytes]", process.stdout), wait_s=wait_s, in_all=in_all)
        self.stdin = process.stdin
        self.stdout = process.stdout = cast("IO[bytes]", BufferedReader(pipe, PART_BYTES))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._terminate()

    def all(self) -> bytes:
        """Return all output. Raises: GitTimeout (it does not end, or is too long)."""
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

    def _terminate(self) -> None:
        """Kill its process group: GitPython would ask the one process to end, and wait for it."""
        if self.proc is not None and self.proc.returncode is None:
            kill(self.proc)
        super()._terminate()


class _Content(Git.CatFileContentStream):
    """An object that is being read."""

    def __del__(self) -> None:
        """Leave the rest: GitPython would wait for it, of a git too that does not answer."""


class SafeGit(Git):
    """git for one repository; GitPython would expand its folder and add to our environment."""

    CatFileContentStream = _Content

    def __init__(self, start: Callable[[Sequence[str], int | None], GitProcess]) -> None:
        super().__init__()
        self._start = start

    def execute(  # type: ignore[override]  # always as a process
        self, command: Sequence[str], istream: int | None = None, **_: object
    ) -> GitProcess:
        """Start git, for the caller to end; the first word is none. Raises: NotFound."""
        return self._start(command[1:], istream)

    def _parse_object_header(self, header_line: str | bytes) -> tuple[str, str, int]:
        """Return id, kind and size of an object; GitPython refuses the ids of SHA-256."""
        name, kind, size = map(os.fsdecode, header_line.split())
        return name, kind, int(size)
