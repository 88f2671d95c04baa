"""Real hooks, real shells on a pseudo-terminal, and what they leave in the spool."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from observer.clients.envelope import Envelope, parse
from observer.core.paths import Home
from observer.local.spool import Spool

HOOKS = Path(__file__).parents[2] / "hooks"
DEADLINE_S = 20
SHELLS = [["dash"], ["bash"], ["busybox", "ash"]]
PLAIN = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"], "fish": ["-i"]}

Post = Callable[..., None]
Records = list[dict[str, str]]
Person = Callable[..., Records]


def found(program: str) -> str:
    """Return where a program is; skip the test where it is not."""
    return shutil.which(program) or pytest.skip(f"{program} is not installed")


def ran(argv: list[Any], **options: Any) -> str:
    """Run a hook, which succeeds and complains of nothing; return what it prints."""
    options |= {"capture_output": True, "text": True, "timeout": DEADLINE_S}
    done = subprocess.run(argv, check=True, **options)
    assert done.stderr == ""
    return str(done.stdout)


@pytest.fixture
def spool(home: Home) -> Spool:
    return Spool(home.spool)


@pytest.fixture(params=SHELLS, ids=lambda argv: argv[-1])
def sh(request: pytest.FixtureRequest) -> list[str]:
    """Each shell that may be /bin/sh."""
    return [found(request.param[0]), *request.param[1:]]


@pytest.fixture
def shells() -> dict[str, list[str]]:
    """All of them that are installed, for tests that share a daemon."""
    found = {argv[-1]: [shutil.which(argv[0]), *argv[1:]] for argv in SHELLS}
    return {name: [program, *rest] for name, (program, *rest) in found.items() if program}


@pytest.fixture
def post(sh: list[str]) -> Post:
    """Run `hooks/post`; whatever happens, it succeeds and says nothing."""

    def run(*arguments: str, payload: bytes = b"", **options: Any) -> None:
        argv = [*sh, str(options.pop("script", HOOKS / "post")), *arguments]
        if "stdin" not in options:
            options["input"] = payload
        done = subprocess.run(argv, check=False, capture_output=True, timeout=DEADLINE_S, **options)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    return run


@pytest.fixture
def posted(spool: Spool) -> Callable[[], list[Envelope]]:
    """Read what waits, as the decoders do."""
    return lambda: [
        parse(entry.id, entry.data, entry.at_ms) for entry in spool.claim(at_most=10_000)
    ]


@pytest.fixture
def person(spool: Spool) -> Person:
    """Type lines into a fresh interactive shell with a recorder; return what its log says."""

    def type_into(shell: str, *lines: str, **environment: str) -> Records:
        lines = (f" source {HOOKS}/shell/observer.{shell}", *lines, " exit")
        drive([found(shell), *PLAIN[shell]], *lines, **environment)
        return [_fields(parse(*entry[:3])) for entry in spool.claim(at_most=10_000)]

    return type_into


def drive(argv: list[str], *lines: str, **environment: str) -> str:
    """Run a program on a terminal, type ahead, and return all it showed until it ended."""
    pid, terminal = pty.fork()
    if not pid:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # fish never ends without, as under nohup
        os.execve(argv[0], argv, {**os.environ, "TERM": "dumb", **environment})
    try:
        os.write(terminal, "".join(f"{line}\n" for line in lines).encode())
        return b"".join(_shown(terminal)).decode(errors="replace")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def _shown(terminal: int) -> Iterator[bytes]:
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                yield os.read(terminal, 1 << 16)
            except OSError:  # the other side is closed
                return
    raise AssertionError("the shell did not end")


def _fields(record: Envelope) -> dict[str, str]:
    *lines, last = record.payload.split(b"\0")
    assert last == b".", record
    return dict(os.fsdecode(line).split("=", 1) for line in lines)
