"""The stdio face of MCP: copies lines between an editor and the daemon's MCP socket.

Little of the standard library: an editor waits for this process at its start, and `import socket`
alone costs as much as the bare interpreter. No line is torn, a daemon that restarts is found again
without the editor noticing, and the process ends with its editor.

A client does not wait long for its servers' tools: while the daemon starts, they come from a file
that the daemon keeps, or, where there is no memory yet, from one that the package carries. The file
is named and headed by the connection's first line, which holds the version, folder and toolsets.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` takes 8 ms longer
import _socket
import os
import select
import sys
import time

from observer import __version__
from observer.local.journal import (
    HEAD_BYTES,
    LINE_BYTES,
    Journal,
    Lines,
    answer_key,
    parse,
    refusal,
)

TYPE_CHECKING = False  # importing typing costs 6 ms
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Callable
    from typing import Any

PROTOCOL = 1  # number in the hello line; a daemon that speaks another one refuses the connection
PASSED_ON = (
    *("BASIC_MEMORY_MCP_PROJECT", "BASIC_MEMORY_DEFAULT_PROJECT"),
    *("MEMEX_INJECT_RULES", "MEMEX_RULES_MAX_CHARS"),
    *("MEMEX_FLASHBACK_DAYS", "MEMEX_FLASHBACK_DIST", "MEMEX_FLASHBACK_LIMIT"),
)  # variables of the client's environment that toolsets of the daemon heed
VALUE_CHARS = 1_000  # longest value of one that is passed on
SOCKET_NAME_BYTES = 100  # as in `observer.core.paths`, which would cost 10 ms to import

_PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))  # noqa: PTH120 - pathlib costs 8 ms here
_UP = "import sys; sys.path.append(sys.argv.pop(1)); from observer.__main__ import main; main()"


UNAVAILABLE = 4  # exit code of `observer.core.errors.DaemonUnavailable`


class Stopped(Exception):
    """No daemon talks to this pump; says why and what to do, and with which code to exit."""

    def __init__(self, reason: str, *, exit_code: int = UNAVAILABLE) -> None:
        super().__init__(reason)
        self.exit_code = exit_code


def dial(root: str) -> socket:
    """Return a connection to the daemon of a home. Raises OSError: none answers."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(socket_path(root))
        # In /tmp, where long homes have their socket, anybody can be quicker than our daemon.
        # macOS and the BSDs: level SOL_LOCAL (0), option LOCAL_PEERCRED (1), struct xucred.
        linux = (_socket.SOL_SOCKET, getattr(_socket, "SO_PEERCRED", 1))
        peer = connection.getsockopt(*(linux if sys.platform == "linux" else (0, 1)), 76)
        if int.from_bytes(peer[4:8], sys.byteorder) != os.getuid():
            raise ConnectionRefusedError("the socket is served by another user")
        connection.settimeout(0)
    except OSError:
        connection.close()
        raise
    return connection


class DaemonStart:
    """`observer wake` beside us: its modules would double what every client costs."""

    def __init__(self) -> None:
        self._pipe, writing = os.pipe()
        nothing = os.open(os.devnull, os.O_RDWR)
        self._printed = b""
        self._child = os.posix_spawn(
            sys.executable,
            # Not `-m`, which would prefer a folder named observer where the client happens to be.
            [sys.executable, "-P", "-c", _UP, _PACKAGE_PARENT, "wake"],
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
        """Return the descriptor that is readable when `advance` may be called."""
        return self._pipe

    def advance(self) -> bool:
        """Return True once the daemon is up. Raises Stopped: it could not be started."""
        if chunk := os.read(self._pipe, 4096):
            self._printed += chunk
            return False
        os.close(self._pipe)
        if os.waitstatus_to_exitcode(os.waitpid(self._child, 0)[1]):
            reason = self._printed.decode(errors="replace").strip().removeprefix("error: ")
            raise Stopped(reason or "the daemon could not be started")
        return True


def socket_path(root: str) -> str:
    """Return the name of a home's MCP socket, through a link if it is too long for the kernel."""
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


OPENING, DISCOVERY = "initialize", "server/discover"
"""What a connection begins with; which of them depends on the version of the protocol."""
METHODS = ("tools/list", "prompts/list", "resources/templates/list")
"""Kept beside these: their answers depend on the version and the toolsets alone."""
VERSION = "io.modelcontextprotocol/protocolVersion"
"""Where each request says the version, since the one without `initialize`."""
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
"""Where each request says what its client can do, since the same version."""
VIEWS, VIEW_TYPE = "io.modelcontextprotocol/ui", "text/html;profile=mcp-app"
"""What a client declares that shows views, and what it renders; source: MCP Apps, 2026-01-26."""
CARRIED = "openings.json"  # file beside this one; `scripts/make_plugins.py` writes it


class KeptAnswers:
    """The answers kept for one connection, in the protocol version that its client asked for."""

    def __init__(self, root: str, *, cwd: str, tools: str, variables: tuple[str, ...] = ()) -> None:
        self._answers: dict[str, object] = {}
        for greeting in (hello(tools, folder, variables) for folder in ("", cwd)):
            try:
                with open(path_of(root, greeting), "rb") as file:  # noqa: PTH123 - as in path_of
                    kept = parse(file.read()) if file.readline() == greeting else {}
            except OSError:
                continue
            self._answers = kept or self._answers
        self._answers = self._answers or carried(root, tools)
        self._results: dict[str, object] = {}

    def answer(self, line: bytes) -> bytes:
        """Return the answer to a line of the client, empty if none is kept."""
        import json  # noqa: PLC0415 - 15 ms that a client whose daemon runs does not wait for

        message = parse(line)
        method, params = message.get("method"), message.get("params")
        if "id" not in message or not isinstance(method, str):
            return b""
        if isinstance(params, dict):
            given = params.get("_meta")
            meta = given if isinstance(given, dict) else {}
            version = meta.get(VERSION)
            if method == OPENING or version:
                able = params.get("capabilities") if method == OPENING else meta.get(CAPABILITIES)
                asked = str(version or params.get("protocolVersion"))
                # What a client that shows views is answered is not kept: it waits for the daemon.
                results = None if shows_views(able) else self._answers.get(asked)
                self._results = results if isinstance(results, dict) else {}
        if method not in self._results:
            return b""
        result = {"jsonrpc": "2.0", "id": message["id"], "result": self._results[method]}
        return json.dumps(result).encode() + b"\n"


def shows_views(capabilities: object) -> bool:
    """Return whether a client says that it renders the views of tools (MCP Apps)."""
    match capabilities:
        case {"extensions": {**declared}}:
            match declared.get(VIEWS):
                case {"mimeTypes": [*types]}:
                    return VIEW_TYPE in types
    return False


def carried(root: str, tools: str) -> dict[str, object]:
    """Return what is answered where nothing was ever remembered, by version and method.

    None where there is a memory, whose rules would be missing, for toolsets of other packages, and
    for those of which two have a tool of the same name, which the daemon refuses.
    """
    if os.path.exists(os.path.join(root, "observer.db")):  # noqa: PTH110, PTH118 - pathlib costs 8 ms
        return {}
    with open(os.path.join(os.path.dirname(__file__), CARRIED), "rb") as file:  # noqa: PTH118, PTH120, PTH123 - as above
        held: Any = parse(file.read())
    names = dict.fromkeys(name.strip() for name in tools.split(","))
    parts = [held["toolsets"].get(name, {"guide": "", "tools": []}) for name in names]
    listed = [tool for part in parts for tool in part["tools"]]
    if not all(part["tools"] for part in parts) or len(listed) > len({t["name"] for t in listed}):
        return {}
    own = {"instructions": "\n\n".join(part["guide"] for part in parts), "tools": listed}
    return {
        version: {
            method: {name: own.get(name, value) for name, value in result.items()}
            for method, result in results.items()
        }
        for version, results in held["versions"].items()
    }


def path_of(root: str, hello: bytes) -> str:
    """Return the file that keeps the answers for a connection with this first line."""
    from binascii import crc32  # noqa: PLC0415 - as in answer

    return os.path.join(root, "context", "mcp", f"{crc32(hello):08x}.json")  # noqa: PTH118 - pathlib costs 8 ms


USAGE = "hint: usage: observer mcp [--tools NAME[,NAME...]]\n"
TILDE = "error: OBSERVER_HOME begins with ~\nhint: write the whole path, from / on\n"
READ_BYTES = 1 << 16
WINDOW_BYTES = 1 << 20  # a side is not read while this much waits to be written to the other one
PIPE_BYTES = 4096  # what a pipe that polls as writable takes without blocking (PIPE_BUF)
SENDS = 6  # how often one request is sent to successive daemons before it counts as what kills them
PAUSE_S = 0.05
"""First pause before a daemon that accepted and said nothing is tried again; doubles each time."""
FAREWELL_S = 2.0  # how long answers may still come after the editor closed its end


class Pump:
    """One editor's connection: two buffers and the poll between them.

    `dial` connects or raises OSError; `read_kept` returns what is answered while a daemon starts.
    """

    def __init__(
        self, dial: Callable[[], socket], hello: bytes, read_kept: Callable[[], KeptAnswers]
    ) -> None:
        self._dial = dial
        self._hello = hello
        self._read_kept = read_kept
        self._kept: KeptAnswers | None = None
        self._daemon: socket | None = None
        self._starting: DaemonStart | None = None
        self._journal = Journal()
        self._asked, self._answers = Lines(), Lines(limit=sys.maxsize)
        self._to_daemon, self._to_editor = bytearray(), bytearray()
        self._swallow = ""
        self._is_accepted = False
        self._pause_s = PAUSE_S
        self._until: float | None = None

    def run(self) -> int:
        """Copy until the editor is gone; return the exit code. Raises Stopped: no daemon talks."""
        self._open()
        while not self._is_over():
            for descriptor, events in self._ready():
                if descriptor == 0:
                    self._read_editor()
                elif descriptor == 1:
                    if events & ~select.POLLOUT:
                        return 0
                    self._write_editor()
                elif self._starting is not None:
                    self._await_start(self._starting)
                elif self._daemon is not None:  # pragma: no branch - only its own events close it
                    self._talk(self._daemon, events)
        return 0

    def _is_over(self) -> bool:
        if self._until is None:
            return False
        if self._starting is not None and not self._journal.is_settled():
            return False
        return time.monotonic() > self._until or (self._daemon is None and not self._to_editor)

    def _ready(self) -> list[tuple[int, int]]:
        poll = select.poll()
        if self._until is None and len(self._to_daemon) < WINDOW_BYTES:
            poll.register(0, select.POLLIN)
        poll.register(1, select.POLLOUT if self._to_editor else 0)
        if self._starting is not None:
            poll.register(self._starting, select.POLLIN)
        if self._daemon is not None:
            events = select.POLLIN if len(self._to_editor) < WINDOW_BYTES else 0
            poll.register(self._daemon, events | (select.POLLOUT if self._to_daemon else 0))
        return poll.poll(None if self._until is None else 200)

    # --- the editor ------------------------------------------------------------------------------

    def _read_editor(self) -> None:
        try:
            chunk = os.read(0, READ_BYTES)
        except BlockingIOError:  # somebody else set the shared pipe non-blocking
            return
        except OSError:  # closed, or the terminal hung up
            chunk = b""
        dropped = self._asked.dropped
        for line in self._asked.feed(chunk or b"\n"):
            self._ask(line)
        if self._asked.dropped > dropped:
            self._to_editor += refusal("null", f"line longer than {LINE_BYTES} bytes dropped")
        if not chunk:
            self._until = time.monotonic() + FAREWELL_S
            self._close_when_sent()

    def _ask(self, line: bytes) -> None:
        self._journal.sent(line)
        if self._daemon is not None:
            self._to_daemon += line
            return
        if self._starting is None and not self._journal.is_settled():
            self._open()
        if self._starting is not None:
            self._kept = self._kept or self._read_kept()
            if answer := self._kept.answer(line):
                self._journal.answered(answer)
                self._to_editor += answer

    def _write_editor(self) -> None:
        try:
            written = os.write(1, self._to_editor[:PIPE_BYTES])
        except BlockingIOError:
            return
        except OSError:  # the editor died
            self._until, written = 0.0, len(self._to_editor)
        del self._to_editor[:written]

    # --- the daemon ------------------------------------------------------------------------------

    def _open(self) -> None:
        """Connect, or start the daemon if none answers."""
        try:
            self._connect()
        except OSError:
            self._starting = DaemonStart()

    def _await_start(self, starting: DaemonStart) -> None:
        if not starting.advance():
            return
        self._starting = None
        try:
            self._connect()
        except OSError as error:
            raise Stopped(f"the daemon started but does not answer: {error}") from error
        if self._until is not None:
            self._until = time.monotonic() + FAREWELL_S

    def _connect(self) -> None:
        self._daemon = self._dial()
        self._is_accepted = False
        self._answers = Lines(limit=sys.maxsize)
        replay, self._swallow = self._journal.replay()
        self._to_daemon = bytearray(self._hello + b"".join(replay))

    def _talk(self, daemon: socket, events: int) -> None:
        try:
            if events & select.POLLOUT:
                del self._to_daemon[: daemon.send(self._to_daemon[:READ_BYTES])]
                self._close_when_sent()
            if events & ~select.POLLOUT:
                chunk = daemon.recv(READ_BYTES)
                if not chunk:
                    raise ConnectionResetError
                for line in self._answers.feed(chunk):
                    self._tell(line)
        except BlockingIOError:
            return
        except OSError:
            daemon.close()
            self._daemon = None
            self._look_again()

    def _close_when_sent(self) -> None:
        if self._until is not None and self._daemon is not None and not self._to_daemon:
            self._daemon.shutdown(1)  # SHUT_WR: answers may still come

    def _tell(self, line: bytes) -> None:
        if not self._is_accepted and line.startswith(b'{"error"'):
            answer: Any = parse(line)
            raise Stopped(str(answer.get("error")), exit_code=answer.get("exit_code", UNAVAILABLE))
        self._is_accepted = True
        if self._swallow and answer_key(line[:HEAD_BYTES]) == self._swallow:
            self._swallow = ""
            return
        self._journal.answered(line)
        self._to_editor += line

    def _look_again(self) -> None:
        """Find the next daemon if somebody waits: else each editor would undo `observer down`."""
        if self._until is not None or self._journal.is_settled():
            return
        self._to_editor += b"".join(self._journal.give_up(sends=SENDS))
        if self._is_accepted:
            self._pause_s = PAUSE_S
        else:  # it may be on its way out, its socket still there
            time.sleep(self._pause_s)
            self._pause_s *= 2
        if not self._journal.is_settled():
            self._open()

    def apologise(self, reason: str) -> None:
        """Answer every open request with the reason why this process ends."""
        self._to_editor += b"".join(self._journal.give_up(sends=0, reason=reason))
        poll = select.poll()
        poll.register(1, select.POLLOUT)
        while self._to_editor and poll.poll(1000):
            self._write_editor()


def toolsets(arguments: list[str]) -> str:
    """Return the toolsets that the command line asks for. Raises ValueError: it has others."""
    match arguments:
        case []:
            return "core"
        case ["--tools", names] if names:
            return names
        case [option] if option.startswith("--tools=") and option != "--tools=":
            return option.removeprefix("--tools=")
    raise ValueError(f"cannot be understood: observer mcp {' '.join(arguments)}")


def main(arguments: list[str]) -> int:
    """Be the MCP server that an editor started; return the exit code."""
    try:
        tools = toolsets(arguments)
    except ValueError as error:
        sys.stderr.write(f"error: {error}\n{USAGE}")
        return 2
    home = os.environ.get("OBSERVER_HOME") or os.path.expanduser("~/.observer")  # noqa: PTH111 - as in socket_path
    if home.startswith("~"):
        sys.stderr.write(TILDE)
        return 2
    root = os.path.abspath(home)  # noqa: PTH100 - as in socket_path
    # Python's own handler misses a signal that comes just before a wait, and waits on.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    folder, variables = working_folder(), client_variables()

    def read_kept() -> KeptAnswers:
        return KeptAnswers(root, cwd=folder, tools=tools, variables=variables)

    pump = Pump(lambda: dial(root), hello(tools, folder, variables), read_kept)
    try:
        return pump.run()
    except Stopped as reason:
        pump.apologise(str(reason))
        sys.stderr.write(f"error: {reason}\n")
        return reason.exit_code
