"""Nothing leaves the machine unless an address is configured, and then only to that one.

Looked at in two ways: every Python process of a whole session records what it does with sockets,
and the kernel counts what had no route in a network namespace that has none but the loopback.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from observer.core.paths import Home
from tests.support import put_file

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SESSION = Path(__file__).with_name("whole_session.py")
GUARD = """
import json, os, sys
WATCHED = {"socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg",
           "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}
LOG = os.open("@LOG@", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

def record(event, arguments):
    if event in WATCHED:
        local = getattr(arguments[0], "family", None) == 1  # AF_UNIX; socket is not imported yet
        shown = "unix" if local else [str(each) for each in arguments[1:2] or arguments]
        if event.startswith("socket.get"):
            shown = [str(arguments[0])]
        os.write(LOG, (json.dumps([event, shown, sys.argv[:4]]) + "\\n").encode())

sys.addaudithook(record)
"""
OUTSIDE = "192.0.2.1"  # an address for documentation, which is nobody's
CONNECT = f"""
import socket
for family, address in ((socket.AF_INET, "{OUTSIDE}"), (socket.AF_INET6, "2001:db8::1")):
    try:
        with socket.socket(family) as s:
            s.settimeout(0.2)
            s.connect((address, 80))
    except OSError:
        pass
"""
LOOPBACK = """
import fcntl, socket, struct
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh22x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
"""
Recorded = list[tuple[str, Any, list[str]]]


@pytest.fixture
def repository(tmp_path: Path, git: Callable[..., str]) -> Path:
    made = tmp_path / "shop"
    git(made, "init", "-q")
    (made / "cart.py").write_text("total = 1\n")
    git(made, "add", ".")
    git(made, "commit", "-qm", "Total the cart")
    (made / "cart.py").write_text("total = 2\n")
    git(made, "commit", "-qam", "Total the cart twice")
    return made


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Recorded]:
    """Have every Python process that starts from now on record what it does with sockets.

    A daemon inherits nothing of PYTHONPATH but the folder in which the package lies: so it lies
    beside the guard.
    """
    folder, log = tmp_path / "guard", tmp_path / "sockets.jsonl"
    put_file(folder / "sitecustomize.py", GUARD.replace("@LOG@", str(log)))
    for name in ("observer", "hooks"):
        (folder / name).symlink_to(ROOT / name)
    monkeypatch.setenv("PYTHONPATH", str(folder))

    def recorded() -> Recorded:
        lines = log.read_text().splitlines() if log.exists() else []
        return [tuple(json.loads(line)) for line in lines]  # type: ignore[misc]

    return recorded


def hosts(recorded: Recorded, *, bound: bool = False) -> set[str]:
    """Return the hosts that were named, looked up or connected to, or those that were bound."""
    shown = (
        text
        for event, texts, _ in recorded
        if texts != "unix" and (event == "socket.bind") == bound
        for text in texts
    )
    return {match[1] or match[2] for match in map(_HOST.match, shown) if match}


_HOST = re.compile(r"\('([^']*)'|([^(].*)")


def is_loopback(host: str) -> bool:
    return host == "localhost" or ipaddress.ip_address(host).is_loopback


def lived(command: list[str | Path]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def namespaced(*command: str | Path) -> list[str | Path]:
    """Return the command in a network of its own, followed by the counters of that network."""
    counters = "grep -h -e ^Ip: -e Ip6OutNoRoutes /proc/net/snmp /proc/net/snmp6"
    script = f'"$0" -c "$1" && shift && "$@" && {counters}'
    return ["unshare", "-rn", "sh", "-c", script, sys.executable, LOOPBACK, *command]


def can_namespace() -> bool:
    try:
        return subprocess.run(namespaced("true"), capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


HAS_NAMESPACES = can_namespace()


def without_route(counters: str) -> tuple[int, int]:
    """Return how often IPv4 and IPv6 were asked for a route that there is not."""
    names, values = re.findall(r"^Ip: (.*)", counters, re.MULTILINE)
    ipv4 = dict(zip(names.split(), values.split(), strict=True))["OutNoRoutes"]
    (ipv6,) = re.findall(r"Ip6OutNoRoutes\s+(\d+)", counters)
    return int(ipv4), int(ipv6)


def test_a_whole_session_uses_unix_sockets_and_the_loopback_listener_only(
    guarded: Callable[[], Recorded], repository: Path
) -> None:
    """Where the machine gives network namespaces, the kernel counts what the guard cannot see."""
    session = [sys.executable, SESSION, repository]
    out = lived(namespaced(*session) if HAS_NAMESPACES else session)
    assert out.startswith("done\n")
    assert not HAS_NAMESPACES or without_route(out) == (0, 0)
    recorded = guarded()
    programs = {" ".join(arguments[1:3]) for _, _, arguments in recorded}
    assert any(texts == "unix" for _, texts, _ in recorded), "the guard recorded nothing"
    assert any("daemon" in program for program in programs), programs
    bound = hosts(recorded, bound=True)
    assert {host for host in hosts(recorded) | bound if not is_loopback(host)} == set()
    assert {"127.0.0.1"} <= bound <= {"127.0.0.1", "::1"}


def test_the_guard_and_the_kernel_see_who_leaves(guarded: Callable[[], Recorded]) -> None:
    command = [sys.executable, "-c", CONNECT]
    out = lived(namespaced(*command) if HAS_NAMESPACES else command)
    assert OUTSIDE in hosts(guarded())
    assert not HAS_NAMESPACES or min(without_route(out)) > 0


class Server(SimpleHTTPRequestHandler):
    """Whatever is posted is answered by a completion; files are served."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": '{"narrative": "The cart was totalled."}'}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = json.dumps({"object": "chat.completion", "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    folder = tmp_path / "served"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Server, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def connected(recorded: Recorded) -> set[str]:
    return {
        texts[0] for event, texts, _ in recorded if event == "socket.connect" and texts != "unix"
    }


def test_a_language_model_is_asked_at_its_address_only(
    guarded: Callable[[], Recorded], port: int, observer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = os.environ["PYTHONPATH"]
    monkeypatch.setenv("HTTP_PROXY", f"http://{OUTSIDE}:1")
    for name, value in (("llm_url", f"http://127.0.0.1:{port}/v1"), ("llm_model", "tiny")):
        assert observer("config", "set", name, value, PYTHONPATH=path).returncode == 0
    tried = observer("config", "llm", "--try", PYTHONPATH=path)
    assert "The cart was totalled." in tried.stdout, tried.stderr
    assert connected(guarded()) == {str(("127.0.0.1", port))}


def test_a_model_is_pulled_from_its_address_only(
    guarded: Callable[[], Recorded], home: Home, port: int, tmp_path: Path, observer: Any
) -> None:
    path = os.environ["PYTHONPATH"]
    observer("config", "set", "model_url", f"http://127.0.0.1:{port}/", PYTHONPATH=path)
    pulled = observer("config", "model", "pull", "mine", "--sha256", "0" * 64, PYTHONPATH=path)
    assert pulled.returncode != 0  # there is none; it was looked for
    assert connected(guarded()) == {str(("127.0.0.1", port))}
