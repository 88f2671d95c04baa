from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from observer.core.paths import Home, make_private
from observer.serve.servers import make_run_folder

Reply = Callable[[bytes], bytes | None]
DEADLINE_S = 10.0


def echo(line: bytes) -> bytes:
    """Answer each request with its own method."""
    message = json.loads(line)
    if "id" not in message:
        return b""
    answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"method": message["method"]}}
    return json.dumps(answer).encode() + b"\n"


class FarEnd:
    """A daemon's MCP socket whose every word the test decides.

    `reply` returns the answer to a line, None to hang up; `greeting` is what a connection hears
    before it said anything; one that is clinging keeps connections that the other end closed.
    """

    def __init__(self, home: Home, reply: Reply, *, is_clinging: bool = False) -> None:
        self.reply = reply
        self._leaving = threading.Event()
        self._is_clinging = is_clinging
        self.greeting = b""
        self.heard: list[bytes] = []
        self._connections: list[socket.socket] = []
        make_private(home.root)
        make_run_folder(home)
        home.mcp_socket.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(home.mcp_socket))
        self._listener.listen()
        self._threads = [threading.Thread(target=self._serve)]
        self._threads[0].start()

    def requests(self) -> list[dict[str, Any]]:
        """Return what was heard behind the hello lines."""
        messages = [json.loads(line) for line in list(self.heard)]
        return [message for message in messages if "observer" not in message]

    def hang_up(self) -> None:
        """End every connection, as a daemon that was killed."""
        self._leaving.set()
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Hang up and listen no more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.hang_up()
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._connections.append(connection)
                thread = threading.Thread(target=self._talk, args=(connection,))
                self._threads.append(thread)
                thread.start()

    def _talk(self, connection: socket.socket) -> None:
        with suppress(OSError), connection, connection.makefile("rb") as lines:
            for line in lines:
                self.heard.append(line)
                answer = self.greeting if b'"observer"' in line else self.reply(line)
                if answer is None:
                    connection.shutdown(socket.SHUT_RDWR)
                    return
                connection.sendall(answer)
            if self._is_clinging:
                self._leaving.wait()


class Editor:
    """A pump, seen from the editor that started it."""

    def __init__(self, *arguments: str, **options: Any) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "observer", "mcp", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self._rest = b""

    def say(self, line: bytes) -> None:
        os.write(self.stdin.fileno(), line)

    def ask(self, identifier: object, method: str = "tools/list") -> None:
        request = {"jsonrpc": "2.0", "id": identifier, "method": method}
        self.say(json.dumps(request).encode() + b"\n")

    def hear(self) -> dict[str, Any]:
        """Return the next line, as JSON."""
        until = time.monotonic() + DEADLINE_S
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self.stdout], [], [], max(0, until - time.monotonic()))
            assert ready, "no answer in time"
            chunk = os.read(self.stdout.fileno(), 1 << 16)
            assert chunk, "the pump ended: " + self.complaint()
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def leave(self) -> int:
        """Close the pump's input and return its exit code."""
        self.stdin.close()
        return self.process.wait(DEADLINE_S)

    def complaint(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()

    def close(self) -> None:
        with suppress(BrokenPipeError):
            self.stdin.close()
        try:
            self.process.wait(DEADLINE_S)
        finally:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


@pytest.fixture
def far_end(home: Home) -> Iterator[Callable[..., FarEnd]]:
    opened = []

    def open_one(reply: Reply = echo, home: Home = home, *, is_clinging: bool = False) -> FarEnd:
        opened.append(FarEnd(home, reply, is_clinging=is_clinging))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def editor() -> Iterator[Callable[..., Editor]]:
    opened = []

    def open_one(*arguments: str, **options: Any) -> Editor:
        opened.append(Editor(*arguments, **options))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()
