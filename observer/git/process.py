"""Asking git about a repository: the same answer whatever is configured, and no code run for it.

git gets a stand-in for the repository's configuration (`mirror`), no transport, none of git's
variables from our environment and a time limit. A repository of another user is left alone, as git
does. Needs git 2.32 or newer.
"""

from __future__ import annotations

import logging
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cache
from io import BufferedReader
from pathlib import Path
from typing import IO, cast

from observer.core.errors import NotFound, ObserverError
from observer.git.configuration import is_safe_directory
from observer.git.launch import WAIT_S, GitTimeout, TimedPipe, environment, kill, launch
from observer.git.repository import (
    ForeignRepository,
    NoRepository,
    Repository,
    find_repository,
    mirror,
    refusal,
)

LINE_BYTES = 8192
"""Longest part of a line of a patch that is looked at."""
RECORD_BYTES = 4 << 20
"""Longest part of a commit's header and message that is kept."""
REST_S = 600.0
"""A repository in which git did not answer in time is left alone for so long."""
ANSWER_BYTES = 256 << 20
"""Longest answer taken as a whole."""
PART_BYTES = 1 << 14
"""Read from a pipe at once."""

_SCRIPT_CONTEXT = (
    r"!^[ \t]*(if|for|while|switch|catch|return|else|do|with|await|throw|new)[^A-Za-z0-9_$]"
    "\n"
    r"^[ \t]*((export[ \t]+)?(default[ \t]+|declare[ \t]+|abstract[ \t]+|async[ \t]+)*"
    r"(function|class|interface|type|enum|namespace)[ \t*].*)$"
    "\n"
    r"^((export[ \t]+)?(const|let|var)[ \t].*(=>|function).*)$"
    "\n"
    r"^([ \t]+((static|async|get|set|public|private|protected|override)[ \t]+)*"
    r"[#A-Za-z_$][A-Za-z0-9_$]*[ \t]*\(.*\{[ \t]*)$"
)
"""Where a function begins in JavaScript and TypeScript, which git has no pattern for."""

_SETTINGS = {
    "core.attributesFile": str(Path(__file__).with_name("attributes")),
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.quotePath": "false",
    "diff.observer-script.xfuncname": _SCRIPT_CONTEXT,
    "diff.observer-section.xfuncname": r"^[ \t]*(\[.*\].*)$",
    "protocol.allow": "never",
}
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",  # or a partial clone would fetch what it lacks
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}

_log = logging.getLogger(__name__)
_stalled: dict[str, float] = {}


class GitProcess(AbstractContextManager["GitProcess"]):
    """A git that was started; as a context manager, one that ends.

    Args:
        process: leads a process group of its own.
        wait_s: longest wait for output.
        in_all: whether that is for all of it together.
    """

    def __init__(self, process: subprocess.Popen[bytes], *, wait_s: float, in_all: bool) -> None:
        self._process = process
        self._wait_s = wait_s
        pipe = cast("IO[bytes]", process.stdout)
        raw = TimedPipe(pipe, wait_s=wait_s, in_all=in_all)
        self.output = cast("IO[bytes]", BufferedReader(raw, PART_BYTES))

    @property
    def input(self) -> IO[bytes]:
        """Where to ask, of a git that was started to be asked."""
        return cast("IO[bytes]", self._process.stdin)

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.end()

    def all(self) -> bytes:
        """Return all output.

        Raises:
            TooSlow: it does not come to an end, or is longer than `ANSWER_BYTES`.
        """
        answer = bytearray()
        while part := self.output.read(PART_BYTES):
            answer += part
            if len(answer) > ANSWER_BYTES:
                raise GitTimeout("the answer is too long")
        return bytes(answer)

    def code(self) -> int:
        """Wait until it ends by itself, and return its exit code.

        Raises:
            TooSlow: it does not.
        """
        try:
            return self._process.wait(self._wait_s)
        except subprocess.TimeoutExpired as error:
            raise GitTimeout(f"no end within {self._wait_s:g} seconds") from error

    def end(self) -> None:
        """End it and whatever it started."""
        if self._process.returncode is None:
            kill(self._process)
        for pipe in (self._process.stdin, self.output):
            if pipe:
                with suppress(OSError):
                    pipe.close()
        self._process.wait()


def git_output(root: str, *words: str, wait_s: float = WAIT_S) -> str | None:
    """Return what git printed, without the last newline; None if it failed.

    Raises:
        NotFound: git is not installed or does not answer in time, or `root` cannot be a path.
    """
    try:
        with start_git(root, words, wait_s=wait_s, in_all=True) as running:
            answer = running.all()
            code = running.code()
    except NoRepository:
        return None
    except GitTimeout as error:
        raise _stall(root, error, is_patient=wait_s >= WAIT_S) from error
    return answer.decode("utf-8", "replace").rstrip("\n") if code == 0 else None


def stream_lines(root: str, words: Sequence[str], *, record: bytes, fields: int) -> Iterator[bytes]:
    """Yield the lines git prints, each cut at `LINE_BYTES`, without holding more than one.

    A record is yielded with all its lines, as far as `RECORD_BYTES` reach, and the ends of all its
    fields: it begins with `record` at the start of
    a line and ends with the line of the last of its `fields`, each ended by `record`.

    Raises:
        NotFound: git is not installed or does not answer in time, or `root` cannot be a path.
        ObserverError: git failed; what was yielded before is right but not all.
    """
    with tempfile.TemporaryFile() as stderr:
        with start_git(root, words, errors=stderr) as running:
            try:
                yield from _lines(running.output, record, fields)
                code = running.code()
            except GitTimeout as error:
                raise _stall(root, error) from error
        if code:
            raise _failure(root, stderr)


def _lines(stream: IO[bytes], record: bytes, fields: int) -> Iterator[bytes]:
    while line := stream.readline(LINE_BYTES):
        if line.startswith(record):
            parts = [line]
            size = len(line)
            missing = fields + 1 - line.count(record)
            while missing > 0 and (line := stream.readline(LINE_BYTES)):
                size += len(line)
                ends = line.count(record)
                parts.append(line if size <= RECORD_BYTES else record * ends)
                missing -= ends
            yield b"".join(parts)
            continue
        yield line
        while not line.endswith(b"\n") and (line := stream.readline(LINE_BYTES)):
            pass


def start_git(
    root: str,
    words: Sequence[str],
    *,
    errors: int | IO[bytes] = subprocess.DEVNULL,
    reads: int = subprocess.DEVNULL,
    wait_s: float = WAIT_S,
    in_all: bool = False,
) -> GitProcess:
    """Start git in a folder of a repository; whoever starts it ends it.

    Raises:
        NoRepository: there is none, or none in which git is run.
        NotFound: git is not installed, did not answer here lately, or `root` cannot be a path.
    """
    if _stalled.get(root, 0.0) > time.monotonic():
        raise NotFound(f"git did not answer in {root} lately", hint="try: git status")
    repository = repository_at(root)
    settings = [word for pair in _SETTINGS.items() for word in ("-c", "=".join(pair))]
    try:
        process = launch(
            ("--no-pager", *settings, "-C", root, *words),
            environ=environment(os.environ) | _ENVIRONMENT | _located(repository),
            reads=reads,
            errors=errors,
        )
    except OSError as error:
        raise NotFound(f"cannot run git: {error.strerror}", hint="install git") from error
    except ValueError as error:
        raise NotFound(f"no such repository or commit: {error}") from error
    return GitProcess(process, wait_s=wait_s, in_all=in_all)


def repository_at(root: str) -> Repository:
    """Return the repository around a folder.

    Raises:
        NoRepository: there is none.
        ForeignRepository: it belongs to another user.
    """
    try:
        found = (
            find_repository(root) if root else None
        )  # git would take nothing for the current folder
        refused = refusal(found) if found else ""
    except (OSError, ValueError) as error:
        raise NoRepository(f"no such repository: {error}") from error
    if found is None:
        raise NoRepository(f"no git repository at {root}", hint="name a folder of one")
    if refused and not is_safe_directory(found.root):
        _note_refusal(found.root, refused)
        raise ForeignRepository(
            f"git is not run in {found.root}: {refused}",
            hint=f"if you trust it: git config --global --add safe.directory {found.root}",
        )
    return found


@cache
def _note_refusal(root: str, reason: str) -> None:
    _log.warning("git is not run in %s: %s; events there are kept without it", root, reason)


def _located(repository: Repository) -> dict[str, str]:
    """Return the variables that say where the repository is; it is not looked for again."""
    found = {"GIT_DIR": repository.git_dir, "GIT_COMMON_DIR": mirror(repository)}
    return found if repository.is_bare else found | {"GIT_WORK_TREE": repository.root}


def _stall(root: str, error: GitTimeout, *, is_patient: bool = True) -> NotFound:
    if is_patient:
        _stalled[root] = time.monotonic() + REST_S
    return NotFound(f"git does not answer in {root}: {error}", hint="try: git status")


def _failure(root: str, stderr: IO[bytes]) -> ObserverError:
    stderr.seek(0)
    said = stderr.read(LINE_BYTES).decode("utf-8", "replace").strip().splitlines()
    return ObserverError(
        f"git cannot read {root}: {said[-1] if said else 'no reason given'}", hint="try: git fsck"
    )
