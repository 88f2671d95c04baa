"""`scripts/audit.py` asks about every pinned dependency; no answer is not a clean one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from supply.pins import BUILD, pins

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[2] / "scripts" / "audit.py"
KNOWN = {
    "id": "GHSA-0000-0000-0000",
    "summary": "made up",
    "affected": [
        {
            "package": {"name": "pluggy", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "99.0"}]}],
        }
    ],
}


class Service:
    """A stand-in for the OSV service on the loopback interface."""

    def __init__(self, url: str, asked: dict[str, str], known: dict[str, object]) -> None:
        self.url, self.asked, self.known = url, asked, known


@pytest.fixture
def service() -> Iterator[Service]:
    asked: dict[str, str] = {}
    known: dict[str, object] = {}

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            name = query["package"]["name"]
            asked[name] = query["version"]
            body = json.dumps({"vulns": [known[name]]} if name in known else {}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield Service(f"http://127.0.0.1:{server.server_port}/v1/query", asked, known)
        server.shutdown()
        thread.join()


Audit = Callable[[str], "subprocess.CompletedProcess[str]"]


@pytest.fixture
def audit() -> Audit:
    def run(url: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, SCRIPT, BUILD, "--service", url]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    return run


def test_known_vulnerabilities_of_pins_are_named(service: Service, audit: Audit) -> None:
    done = audit(service.url)
    assert done.returncode == 0, done.stderr
    assert service.asked == {pin.name: pin.version for pin in pins(BUILD) if pin.applies()}
    assert "0 with known vulnerabilities" in done.stdout
    service.known["pluggy"] = KNOWN
    done = audit(service.url)
    assert done.returncode == 1
    assert "GHSA-0000-0000-0000 (fixed in 99.0)" in done.stdout


def test_without_an_answer_it_says_so_and_is_not_clean(audit: Audit) -> None:
    done = audit("http://127.0.0.1:9/v1/query")
    assert done.returncode == 2
    assert "not audited" in done.stderr
    assert "Traceback" not in done.stderr
