"""How a short-lived process reaches the daemon: find it, start it, ask it, stop it.

Whoever asks gets an answer or a `DaemonUnavailable` that says what to do, never a hang. Any number
of processes may start the daemon at once: the lock on `home.lock` decides, the losers leave.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from observer import __version__
from observer.core.errors import DaemonUnavailable, ObserverError, remedy
from observer.core.paths import Home, make_private, open_plain, read_plain

PROTOCOL = 1
"""Number of the language spoken on the sockets; raised when an old client would misunderstand."""

POLL_S = 0.02
STARTS_EVERY_S = 1.0
"""A starter that lost the race waits this long for the winner's socket before it tries again."""

MEMORY = {
    # glibc moves this up to 32 MB by itself; then what the index frees leaves holes in the heap.
    "MALLOC_MMAP_THRESHOLD_": str(8 << 20),
    # Moved up with it else. What every question needs for a moment, the system would otherwise take
    # back and lend anew each time, page by page: half of a search among a million items.
    "MALLOC_TRIM_THRESHOLD_": str(32 << 20),
    # Threads that take turns at the interpreter hardly need their own. A second one keeps what it
    # has been given back, up to that threshold: of a model that was let go 13 MB.
    "MALLOC_ARENA_MAX": "1",
}  # settings of the libraries that lend the daemon its memory
KEPT_VARIABLES = frozenset(
    ("HOME", "PATH", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "LD_LIBRARY_PATH")
)
"""What a daemon inherits, beside `LC_*` and our settings: it must not believe to be inside the
agent session, git hook or virtual environment of whoever happened to start it."""


class StartFailed(DaemonUnavailable):
    """A daemon was started and ended, or has nowhere to live: it is down, and not only slow."""


def call(home: Home, method: str, path: str, body: object = None, *, wait_s: float = 30.0) -> Any:  # noqa: ANN401 - JSON as the daemon sent it; callers convert it to a value
    """Send one request, with a body of JSON text or values, and return the JSON it answered.

    Raises DaemonUnavailable: nobody listens, or no answer came within `wait_s`; ObserverError: the
    daemon's own refusal; UnicodeError: the body holds text that is not valid Unicode.
    """
    connection = _Connection(home, wait_s)
    try:
        if not isinstance(body, bytes | None):
            body = json.dumps(body, ensure_ascii=False).encode()
        with suppress(BrokenPipeError):  # refused before it was read: the answer says why
            connection.request(method, path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        status, answer = response.status, response.read()
    except TimeoutError as error:
        raise _silent(home, wait_s) from error
    except (OSError, HTTPException) as error:
        raise DaemonUnavailable(
            f"the daemon does not answer: {error}", hint="start it with: observer up"
        ) from error
    finally:
        connection.close()
    try:
        value = json.loads(answer)
    except ValueError as error:
        raise DaemonUnavailable(f"the daemon answered no JSON (HTTP {status})") from error
    if status < 400:
        return value
    found = value.get("error") if isinstance(value, dict) else None
    raise error_of(found if isinstance(found, dict) else {})


def ensure_daemon(home: Home, *, wait_s: float = 10.0) -> None:
    """Return once a daemon of this version answers; start or replace one where needed.

    Raises StartFailed: it could not be started; DaemonUnavailable: it is too new, or stays silent.
    """
    deadline = time.monotonic() + wait_s
    starter = _Starter(home)
    while True:
        found = _request(home, "GET", "/status", max(deadline - time.monotonic(), POLL_S))
        if found is not None and _fits(found, home):
            return
        if found is not None:
            stop(home, wait_s=max(deadline - time.monotonic(), POLL_S))
        starter.start_or_wait()
        if time.monotonic() > deadline:
            raise _silent(home, wait_s)
        time.sleep(POLL_S)


def stop(home: Home, *, wait_s: float = 20.0) -> bool:
    """Ask the daemon to drain and leave, and return when it is gone; False if there was none.

    Raises DaemonUnavailable: it does not answer, or does not end within `wait_s`.
    """
    if not is_running(home):
        return False
    deadline = time.monotonic() + wait_s
    asked = False
    while is_running(home):
        if time.monotonic() > deadline:
            if not asked:
                raise _silent(home, wait_s)
            raise DaemonUnavailable(
                f"the daemon (pid {daemon_pid(home)}) is leaving, but was still there after"
                f" {wait_s:.3g} s",
                hint="it stores what is spooled first; see how much waits: observer status",
            )
        asked = asked or _request(home, "POST", "/shutdown", min(wait_s, 5.0)) is not None
        time.sleep(POLL_S)
    return True


def stand_by(home: Home) -> subprocess.Popen[bytes]:
    """Start a process that brings the daemon up when this one ends; a line to it lets it go."""
    up = [sys.executable, "-P", "-m", "observer", "up"]
    return subprocess.Popen(  # noqa: S603 - ourselves
        ["/bin/sh", "-c", 'read -r done || exec "$@"', "sh", *up],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=_environment(home),
        start_new_session=True,  # an interrupt at the terminal is not for it
    )


def is_running(home: Home) -> bool:
    """Say whether a living process holds the daemon's lock; true for one that starts or ends."""
    try:
        descriptor = open_plain(home.lock, os.O_RDONLY)
    except OSError:
        return False
    try:
        # Shared, so that those who look do not hinder each other; a daemon that starts in this
        # instant tries again.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False  # where no file can be locked, no daemon starts
    finally:
        os.close(descriptor)
    return False


def daemon_pid(home: Home) -> int | None:
    """Return the process id of the running daemon, None when there is none."""
    if not is_running(home):
        return None
    try:
        return int(home.lock.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def peer_uid(connection: socket.socket) -> int:
    """Return the user id at the other end of a Unix socket. Raises OSError: it is not known."""
    if hasattr(socket, "SO_PEERCRED"):
        data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return int(struct.unpack("iII", data)[1])
    # macOS and the BSDs: level SOL_LOCAL (0), option LOCAL_PEERCRED (1), struct xucred.
    return int(struct.unpack_from("II", connection.getsockopt(0, 1, 76))[1])


class _Connection(HTTPConnection):
    """HTTP over the daemon's Unix socket, if the daemon is ours."""

    def __init__(self, home: Home, wait_s: float) -> None:
        super().__init__("observer", timeout=wait_s)
        self._name = str(home.socket)
        self._wait_s = wait_s

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self._wait_s)
        self.sock.connect(self._name)
        # The folder may stand in /tmp, where anybody can be quicker than our daemon.
        if peer_uid(self.sock) != os.getuid():
            raise ConnectionRefusedError(f"{self._name} is served by another user")


class _Starter:
    """Starts daemons on behalf of one caller, not more often than it takes one to come up."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._log = home.logs / "daemon.log"
        self._child: subprocess.Popen[bytes] | None = None
        self._next_start = 0.0
        self._log_offset = 0

    def start_or_wait(self) -> None:
        if self._child and (code := self._child.poll()):
            raise StartFailed(
                f"the daemon could not start (exit code {code})",
                hint=f"{self._complaint()}; see {self._log}",
            )
        if time.monotonic() < self._next_start or is_running(self._home):
            return
        try:
            make_private(self._home.root)
            make_private(self._home.logs)
            log = open_plain(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        except OSError as error:
            raise StartFailed(
                f"the daemon has nowhere to live: {error.filename}: {error.strerror}",
                hint=remedy(error, "make it yours and writable, or choose another OBSERVER_HOME"),
            ) from error
        try:
            self._log_offset = os.fstat(log).st_size
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-m", "observer", "daemon"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env=_environment(self._home),
                start_new_session=True,
            )
        finally:
            os.close(log)
        # The pump lives for days and would keep a daemon that ended as a zombie.
        threading.Thread(target=self._child.wait, daemon=True).start()
        self._next_start = time.monotonic() + STARTS_EVERY_S

    def _complaint(self) -> str:
        with self._log.open("rb") as log:
            log.seek(self._log_offset)
            lines = log.read(1 << 20).decode(errors="replace").splitlines()
        errors = [place for place, line in enumerate(lines) if line.startswith("error: ")]
        complaint = lines[errors[-1] :][:2] if errors else lines[-1:] or ["it left no message"]
        return "; ".join(re.sub("^(error|hint): ", "", line) for line in complaint)


def _environment(home: Home) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in KEPT_VARIABLES or name.startswith(("LC_", "OBSERVER_"))
    }
    kept.pop("OBSERVER_SESSION", None)
    import tomllib  # noqa: PLC0415 - only who starts a daemon needs it, and the pump is in a hurry

    values = {}
    with suppress(OSError, ValueError):  # the daemon itself says what is wrong with it
        values = tomllib.loads(read_plain(home.config).decode())
    # The variable with the key to a language model; mostly there is none.
    name = os.environ.get("OBSERVER_LLM_KEY_ENV") or str(values.get("llm_key_env", ""))
    if name in os.environ:
        kept[name] = os.environ[name]
    kept["OBSERVER_HOME"] = str(home.root)
    kept |= MEMORY
    package_parent = Path(__file__).parents[2]
    if package_parent.name not in {"site-packages", "dist-packages"}:
        kept["PYTHONPATH"] = str(package_parent)  # a checkout that nobody installed
    return kept


def _request(home: Home, method: str, path: str, wait_s: float) -> dict[str, Any] | None:
    """Return what the daemon answers, None when nobody listens yet or any more."""
    if not is_running(home):
        return None
    try:
        found = call(home, method, path, wait_s=wait_s)
    except DaemonUnavailable as error:
        if isinstance(error.__cause__, TimeoutError):
            raise
        return None
    return found if isinstance(found, dict) else {}


def _fits(status: dict[str, Any], home: Home) -> bool:
    """Say whether to use this daemon; a newer one is never replaced, as it would replace us."""
    known = Path(status.get("home", home.root))
    if not (known.exists() and known.samefile(home.root)):
        return False  # its home was moved here, and it leaves as soon as it notices
    version, protocol = str(status.get("version", "")), status.get("protocol")
    if version == __version__ and protocol == PROTOCOL:
        return True
    theirs, ours = (
        [int(number) for number in re.findall(r"\d{1,9}", each)[:4]]
        for each in (version, __version__)
    )
    if theirs <= ours:
        return False
    if protocol == PROTOCOL:
        return True
    raise DaemonUnavailable(
        f"a newer daemon is running ({version}; this is {__version__})",
        hint="upgrade this installation, or end that daemon with its own: observer down",
    )


def _silent(home: Home, wait_s: float) -> DaemonUnavailable:
    pid = daemon_pid(home)
    if pid is None:
        return DaemonUnavailable(
            f"no daemon came up within {wait_s:.3g} s", hint=f"see {home.logs / 'daemon.log'}"
        )
    return DaemonUnavailable(
        f"the daemon (pid {pid}) did not answer within {wait_s:.3g} s",
        hint=f"wake it with: kill -CONT {pid}, or end it with: kill -KILL {pid}; no event is lost",
    )


def error_of(fields: dict[str, Any]) -> ObserverError:
    """Return an error that was passed on as `code`, `message` and `hint`."""
    kinds = {kind.code: kind for kind in ObserverError.__subclasses__()}
    kind = kinds.get(str(fields.get("code")), ObserverError)
    return kind(str(fields.get("message", "the daemon refused")), hint=str(fields.get("hint", "")))
