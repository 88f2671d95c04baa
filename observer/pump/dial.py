"""The way to the daemon: its socket, its start, and the first line that it hears.

Answers that the daemon keeps in files, for a client that asks while it starts.

A client waits for its servers' tools before its first request to a model, but not for long. The
file of a folder and a choice of toolsets is named and headed by the connection's first line, which
holds the version: what another version kept is never answered.
"""

from __future__ import annotations

import _socket
import os
import sys

from observer import __version__
from observer.pump.journal import parse

TYPE_CHECKING = False  # importing typing costs 6 ms
if TYPE_CHECKING:
    from _socket import socket

PROTOCOL = 1
"""Number in the hello line; a daemon that speaks another one refuses the connection."""
PASSED_ON = (
    *("BASIC_MEMORY_MCP_PROJECT", "BASIC_MEMORY_DEFAULT_PROJECT"),
    *("MEMEX_INJECT_RULES", "MEMEX_RULES_MAX_CHARS"),
    *("MEMEX_FLASHBACK_DAYS", "MEMEX_FLASHBACK_DIST", "MEMEX_FLASHBACK_LIMIT"),
)
"""Variables of the client's environment that toolsets of the daemon heed."""
VALUE_CHARS = 1_000
"""Longest value of one that is passed on."""
SOCKET_NAME_BYTES = 100
"""As in `observer.core.paths`, which would cost 10 ms to import."""

_PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))  # noqa: PTH120 - pathlib costs 8 ms here
_UP = "import sys; sys.path.append(sys.argv.pop(1)); from observer.__main__ import main; main()"


UNAVAILABLE = 4
"""Exit code of `observer.core.errors.DaemonUnavailable`."""


class Stopped(Exception):
    """No daemon talks to this pump; says why and what to do, and with which code to exit."""

    def __init__(self, reason: str, *, exit_code: int = UNAVAILABLE) -> None:
        super().__init__(reason)
        self.exit_code = exit_code


def dial(root: str) -> socket:
    """Return a connection to the daemon of a home.

    Raises:
        OSError: none answers.
    """
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(socket_path(root))
        if _peer_uid(connection) != os.getuid():
            raise ConnectionRefusedError("the socket is served by another user")
        connection.settimeout(0)
    except OSError:
        connection.close()
        raise
    return connection


def _peer_uid(connection: socket) -> int:
    # In /tmp, where long homes have their socket, anybody can be quicker than our daemon.
    # macOS and the BSDs: level SOL_LOCAL (0), option LOCAL_PEERCRED (1), struct xucred.
    linux = (_socket.SOL_SOCKET, getattr(_socket, "SO_PEERCRED", 1))
    credentials = connection.getsockopt(*(linux if sys.platform == "linux" else (0, 1)), 76)
    return int.from_bytes(credentials[4:8], sys.byteorder)


class DaemonStart:
    """`observer up` beside us: importing its modules would double what every client costs."""

    def __init__(self) -> None:
        self._pipe, writing = os.pipe()
        nothing = os.open(os.devnull, os.O_RDWR)
        self._printed = b""
        self._child = os.posix_spawn(
            sys.executable,
            # Not `-m`, which would prefer a folder named observer where the client happens to be.
            [sys.executable, "-P", "-c", _UP, _PACKAGE_PARENT, "up"],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, nothing, 0),
                (os.POSIX_SPAWN_DUP2, nothing, 1),
                (os.POSIX_SPAWN_DUP2, writing, 2),
            ],
        )
        os.close(nothing)
        os.close(writing)

    def fileno(self) -> int:
        """Return the descriptor that is readable when there is something to `advance`."""
        return self._pipe

    def advance(self) -> bool:
        """Return True once the daemon is up; call it when the descriptor is readable.

        Raises:
            Stopped: the daemon could not be started.
        """
        if chunk := os.read(self._pipe, 4096):
            self._printed += chunk
            return False
        os.close(self._pipe)
        if os.waitstatus_to_exitcode(os.waitpid(self._child, 0)[1]):
            reason = self._printed.decode(errors="replace").strip().removeprefix("error: ")
            raise Stopped(reason or "the daemon could not be started")
        return True


def socket_path(root: str) -> str:
    """Return the name of a home's MCP socket.

    Where it would be too long for the kernel, `<home>/run` is a link to a folder with a short name.
    """
    run = os.path.join(root, "run")  # noqa: PTH118 - pathlib costs 8 ms here
    path = os.path.join(run, "mcp.sock")  # noqa: PTH118 - as above
    if len(os.fsencode(path)) <= SOCKET_NAME_BYTES:
        return path
    return os.path.join(os.readlink(run), "mcp.sock")  # noqa: PTH115, PTH118 - as above


def working_folder() -> str:
    """Return the folder that the client works in, empty if it is gone or not known."""
    folder = os.environ.get("CLAUDE_PROJECT_DIR", "")
    if os.path.isabs(folder):  # noqa: PTH117 - pathlib costs 8 ms here
        return folder
    try:
        folder = os.getcwd()  # noqa: PTH109 - as above
    except OSError:  # it was deleted under us
        return ""
    # Some clients start a plugin's server in the plugin's folder, where nobody works.
    return "" if folder == os.environ.get("PLUGIN_ROOT") else folder


def client_variables() -> tuple[str, ...]:
    """Return the variables of our environment that are passed on, each `NAME=value`."""
    found = ((name, os.environ.get(name, "")) for name in PASSED_ON)
    return tuple(f"{name}={value}" for name, value in found if 0 < len(value) <= VALUE_CHARS)


def hello(tools: str, folder: str, variables: tuple[str, ...] = ()) -> bytes:
    """Return a connection's first line: our version, the client's folder, toolsets, variables."""
    fields = f'"version":{quote(__version__)},"cwd":{quote(folder)},"tools":{quote(tools)}'
    if variables:
        fields += f',"variables":[{",".join(map(quote, variables))}]'
    return f'{{"observer":{PROTOCOL},{fields}}}\n'.encode()


def quote(text: str) -> str:
    """Return text as a JSON string; bytes that are not UTF-8 become U+FFFD."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    import json  # noqa: PLC0415 - as in parse

    return json.dumps(os.fsencode(text).decode(errors="replace"))


OPENING = "initialize"
METHODS = ("tools/list", "prompts/list", "resources/templates/list")
"""Kept beside `initialize`: their answers depend on the version and the toolsets alone."""


class KeptAnswers:
    """The answers kept for one connection, in the protocol version that its client asked for."""

    def __init__(self, root: str, *, cwd: str, tools: str, variables: tuple[str, ...] = ()) -> None:
        greetings = (hello(tools, folder, variables) for folder in (cwd, ""))
        self._answers = next(filter(None, (_read(root, each) for each in greetings)), {})
        self._results: dict[str, object] = {}

    def answer(self, line: bytes) -> bytes:
        """Return the answer to a line of the client, empty if none is kept."""
        import json  # noqa: PLC0415 - 15 ms that a client whose daemon runs does not wait for

        message = parse(line)
        method, params = message.get("method"), message.get("params")
        if "id" not in message or not isinstance(method, str):
            return b""
        if method == OPENING and isinstance(params, dict):
            results = self._answers.get(str(params.get("protocolVersion")))
            self._results = results if isinstance(results, dict) else {}
        if method not in self._results:
            return b""
        result = {"jsonrpc": "2.0", "id": message["id"], "result": self._results[method]}
        return json.dumps(result).encode() + b"\n"


def path_of(root: str, hello: bytes) -> str:
    """Return the file that keeps the answers for a connection with this first line."""
    from binascii import crc32  # noqa: PLC0415 - as in answer

    return os.path.join(root, "context", "mcp", f"{crc32(hello):08x}.json")  # noqa: PTH118 - pathlib costs 8 ms


def _read(root: str, hello: bytes) -> dict[str, object]:
    try:
        with open(path_of(root, hello), "rb") as file:  # noqa: PTH123 - as in path_of
            return parse(file.read()) if file.readline() == hello else {}
    except OSError:
        return {}
