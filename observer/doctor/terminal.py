"""Types lines at the prompt of a real interactive shell, as a person would."""

from __future__ import annotations

import os
import pty
import select
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

SETTLED_S = 0.4
"""A shell that has printed nothing for so long waits for input."""
START_S = 10.0


def type_lines(
    shell: str,
    lines: Sequence[str],
    *,
    folder: Path,
    environ: Mapping[str, str],
    is_done: Callable[[], bool],
) -> None:
    """Start a shell in a terminal of its own, type lines, wait until `is_done`, and hang up.

    It waits for each prompt, and `START_S` seconds for the end; what the shell prints is dropped.
    """
    child, terminal = pty.fork()
    if not child:
        _become(shell, folder, environ)
    try:
        deadline = time.monotonic() + START_S
        for line in lines:
            _settle(terminal, deadline)
            os.write(terminal, f"{line}\r".encode())
        while not is_done() and time.monotonic() < deadline:
            _read(terminal, wait_s=0.05)
    except OSError:  # the shell has ended: its start-up file may run another program
        pass
    finally:
        _end(child)
        os.close(terminal)


def _become(shell: str, folder: Path, environ: Mapping[str, str]) -> None:
    try:
        os.chdir(folder)
        os.execve(shell, [shell, "-i"], dict(environ))  # noqa: S606 - the user's own shell
    finally:
        os._exit(127)


def _settle(terminal: int, deadline: float) -> None:
    """Read until nothing more is printed."""
    while time.monotonic() < deadline and not _read(terminal, wait_s=SETTLED_S):
        pass  # it has not begun
    while time.monotonic() < deadline and _read(terminal, wait_s=SETTLED_S):
        pass


def _read(terminal: int, *, wait_s: float) -> bytes:
    ready, _, _ = select.select([terminal], [], [], wait_s)
    return os.read(terminal, 65536) if ready else b""


def _end(child: int) -> None:
    for number in (signal.SIGHUP, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.kill(child, number)
        deadline = time.monotonic() + 1.0
        while time.monotonic() < deadline:
            if os.waitpid(child, os.WNOHANG)[0]:
                return
            time.sleep(0.01)
    os.waitpid(child, 0)
