"""The client against daemons that are absent, foreign, mute, newer or older than it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from observer import __version__
from observer.core.errors import BadInput, DaemonUnavailable, NotFound, ObserverError
from observer.core.paths import Home
from observer.local import client

ROOT = Path(__file__).parents[1]

STAND_IN = """
import json, os, socket, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from observer.upkeep.home_guard import hold
from observer.core.paths import home

answers = json.loads(sys.argv[1])

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        code, answer = answers.get(self.path, (404, {"error": {}}))
        data = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        if self.path == "/shutdown" and code != 202:
            os._exit(0)
    do_POST = do_GET
    def address_string(self): return "client"
    def log_message(self, *args): pass

with hold(home()), socket.socket(socket.AF_UNIX) as door:
    home().socket.parent.mkdir(mode=0o700)
    door.bind(str(home().socket))
    door.listen()
    server = HTTPServer(("", 0), Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = door
    print("ready", flush=True)
    server.serve_forever()
"""

Stand = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def stand_in() -> Iterator[Stand]:
    """A process that holds the lock and answers as it is shown; another version of the daemon."""
    running: list[subprocess.Popen[str]] = []

    def start(**answers: object) -> subprocess.Popen[str]:
        shown = {f"/{name}": answer for name, answer in answers.items()}
        process = subprocess.Popen(
            [sys.executable, "-c", STAND_IN, json.dumps(shown)],
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )
        running.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def _status(version: str, protocol: int = client.PROTOCOL) -> tuple[int, dict[str, object]]:
    return 200, {"version": version, "protocol": protocol}


def test_without_a_daemon_the_hint_says_how_to_start_it(home: Home) -> None:
    with pytest.raises(DaemonUnavailable, match="observer up"):
        client.call(home, "GET", "/status")
    with pytest.raises(UnicodeError):  # a body that is no text
        client.call(home, "POST", "/remember", {"content": "caf\udce9"})


@pytest.mark.measured
def test_an_answer_is_json(home: Home, stand_in: Stand) -> None:
    stand_in(status=(200, {"events": 3}), page=(200, "<html>"))
    assert client.call(home, "GET", "/status") == {"events": 3}
    with pytest.raises(DaemonUnavailable, match="no JSON"):
        client.call(home, "GET", "/page")


@pytest.mark.parametrize(
    ("code", "kind"),
    [("bad-input", BadInput), ("not-found", NotFound), ("what-is-this", ObserverError)],
)
def test_an_error_of_the_daemon_is_raised_as_its_own_kind(
    home: Home, stand_in: Stand, code: str, kind: type[ObserverError]
) -> None:
    stand_in(post=(400, {"error": {"message": "no", "code": code, "hint": "do better"}}))
    with pytest.raises(kind, match="no") as caught:
        client.call(home, "POST", "/post", {})
    assert caught.value.hint == "do better"


def test_nobody_hangs_on_a_stopped_daemon_and_it_is_named(home: Home, stand_in: Stand) -> None:
    process = stand_in(status=_status(__version__))
    process.send_signal(signal.SIGSTOP)
    with pytest.raises(DaemonUnavailable, match=rf"pid {process.pid}\) did not answer within 0.3"):
        client.call(home, "GET", "/status", wait_s=0.3)
    for ask in (client.ensure_daemon, client.stop):
        with pytest.raises(DaemonUnavailable, match=r"within 0\.5 s .*kill -CONT"):
            ask(home, wait_s=0.5)


def test_a_daemon_that_still_has_much_to_store_is_not_called_silent(
    home: Home, stand_in: Stand
) -> None:
    stand_in(status=_status(__version__), shutdown=(202, {}))
    with pytest.raises(DaemonUnavailable, match="is leaving") as shown:
        client.stop(home, wait_s=0.5)
    assert "kill" not in str(shown.value)


@pytest.mark.parametrize("version", [__version__, "99.0.0"])
def test_a_daemon_of_our_protocol_is_used(home: Home, stand_in: Stand, version: str) -> None:
    process = stand_in(status=_status(version))
    client.ensure_daemon(home)
    assert client.daemon_pid(home) == process.pid


def test_a_newer_daemon_that_speaks_another_protocol_is_left_alone(
    home: Home, stand_in: Stand
) -> None:
    process = stand_in(status=_status("99.0.0", protocol=99))
    with pytest.raises(DaemonUnavailable, match="newer daemon"):
        client.ensure_daemon(home)
    assert process.poll() is None


@pytest.mark.measured
def test_stop_returns_when_the_daemon_is_gone(home: Home, stand_in: Stand) -> None:
    assert not client.stop(home)
    process = stand_in(shutdown=(200, {}))
    assert client.stop(home)
    assert not client.is_running(home)
    process.wait(5)


def test_a_home_that_cannot_be_written_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DaemonUnavailable, match="nowhere to live"):
        client.ensure_daemon(Home(tmp_path / "file"))


@pytest.mark.slow
def test_a_daemon_that_cannot_start_says_why(home: Home) -> None:
    home.root.mkdir()
    home.config.write_text("no_such_setting = 1\n")
    with pytest.raises(DaemonUnavailable, match="unknown setting 'no_such_setting'"):
        client.ensure_daemon(home, wait_s=30)


def test_a_daemon_does_not_inherit_the_session_it_was_started_from(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CLAUDECODE", "GIT_DIR", "VIRTUAL_ENV", "OBSERVER_SESSION", "OBSERVER_HTTP_PORT"):
        monkeypatch.setenv(name, "1")
    inherited = client._environment(home)
    assert inherited["OBSERVER_HOME"] == str(home.root)
    assert inherited["OBSERVER_HTTP_PORT"] == "1"
    assert not {"CLAUDECODE", "GIT_DIR", "VIRTUAL_ENV", "OBSERVER_SESSION"} & set(inherited)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_server_of_another_user_is_not_trusted(
    stand_in: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody may have made the folder in /tmp before our daemon could."""
    ask = (
        "import os; from observer.local import client; from observer.core import paths\n"
        "here = paths.home(); os.setuid(12345)\n"
        "client.call(here, 'GET', '/status')"
    )
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # a path that a stranger can walk
        monkeypatch.setenv("OBSERVER_HOME", folder)
        stand_in(status=_status(__version__))
        for path in (Path(folder), Home(Path(folder)).run, Home(Path(folder)).socket):
            path.chmod(0o777)
        asked = subprocess.run(
            [sys.executable, "-c", ask], cwd=ROOT, capture_output=True, text=True, check=False
        )
    assert "served by another user" in asked.stderr
