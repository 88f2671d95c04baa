"""A process of our own that works for another one on another core; the two talk in messages.

A message is its length in eight bytes, and then so many bytes. Whoever started the process can do
without it, and it ends when its pipe does.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from subprocess import PIPE
from threading import Timer
from typing import IO, cast

NICE = 3
"""How much lower its priority is: half of a busy processor; with 10 a backlog hardly moved."""
WAIT_S = 120.0
"""An answer that takes longer will never come."""

_LENGTH_BYTES = 8
_log = logging.getLogger(__name__)


class ChildProcess:
    """The process that runs a module's `main`, while there is one; `what` names it in the log.

    One that failed is not started again.
    """

    def __init__(self, module: str, *, what: str) -> None:
        self._command = _command(module, "main")
        self._what = what
        self._process: subprocess.Popen[bytes] | None = None
        self._is_reliable = True

    @property
    def is_running(self) -> bool:
        """Whether there is a process, or was one whose end nobody has noticed."""
        return self._process is not None

    def start(self) -> bool:
        """Start the process; return False, and do nothing, if there is one or one has failed."""
        if self._process is not None or not self._is_reliable:
            return False
        try:
            self._process = subprocess.Popen(  # noqa: S603 - ourselves
                self._command, stdin=PIPE, stdout=PIPE
            )
        except OSError as error:
            self._give_up(f"cannot start: {error.strerror}")
            return False
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self._process.pid, os.nice(0) + NICE)
        return True

    def send(self, message: bytes, *, is_last: bool = False) -> None:
        """Send a message if there is a process; it ends once it has answered the last one."""
        if self._process is None:
            return
        pipe = cast("IO[bytes]", self._process.stdin)
        with suppress(BrokenPipeError):  # whoever waits for the answer notices
            write_message(pipe, message)
        if is_last:
            with suppress(BrokenPipeError):
                pipe.close()

    def receive(self) -> bytes:
        """Wait for the next message; empty if there is no process, or none any more."""
        if self._process is None:
            return b""
        patience = Timer(WAIT_S, self._process.kill)
        patience.start()
        try:
            message = read_message(cast("IO[bytes]", self._process.stdout))
        finally:
            patience.cancel()
        if not message:
            if code := self._process.wait():
                self._give_up(f"ended with code {code}")
            self.end()
        return message

    def end(self) -> None:
        """End the process, if there is one."""
        if self._process is None:
            return
        self._process.kill()
        for pipe in filter(None, (self._process.stdin, self._process.stdout)):
            with suppress(BrokenPipeError):
                pipe.close()
        self._process.wait()
        self._process = None

    def _give_up(self, reason: str) -> None:
        _log.warning("the process that %s %s; going on without one", self._what, reason)
        self._is_reliable = False


def read_message(stream: IO[bytes]) -> bytes:
    """Return the next message; empty at the end, also where it comes in the middle of one."""
    size = int.from_bytes(stream.read(_LENGTH_BYTES), "big")
    message = stream.read(size)
    return message if len(message) == size else b""


def write_message(stream: IO[bytes], message: bytes) -> None:
    """Write a message, and let it be read. Raises BrokenPipeError: nobody is there to read it."""
    stream.write(len(message).to_bytes(_LENGTH_BYTES, "big") + message)
    stream.flush()


def serve(answer: Callable[[bytes], Iterable[bytes]], *, into: IO[bytes] | None = None) -> None:
    """Answer each message of standard input on standard output, or `into` another process.

    Until there are no more; then that is closed. Cyclic garbage is not collected.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # meant for the daemon, whose end is ours
    gc.disable()
    with suppress(BrokenPipeError), into or sys.stdout.buffer as out:
        while message := read_message(sys.stdin.buffer):
            for each in answer(message):
                write_message(out, each)


def piped(module: str, main: str, answer: Callable[[bytes], Iterable[bytes]]) -> None:
    """Answer as `serve` does into a process that runs another `main`, and end as it does."""
    with subprocess.Popen(  # noqa: S603 - ourselves
        _command(module, main), stdin=PIPE, stdout=sys.stdout
    ) as process:
        serve(answer, into=process.stdin)
    if process.returncode:
        sys.exit(process.returncode)


def _command(module: str, main: str) -> tuple[str, ...]:
    return sys.executable, "-P", "-c", f"from {module} import {main}; {main}()"
