"""Each behaviour passes the modules that the architecture names for it, in that order."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from observer.core.paths import Home
from observer.local import client
from tests.support import Git, Observer, Until

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
DRIVER = Path(__file__).with_name("spine_driver.py")
MOST = 13
"""Modules that somebody may have to open for a behaviour."""


def spines() -> dict[str, list[str]]:
    """Return the modules of each behaviour, as the page names them."""
    page = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")
    rows = page.partition("\n## Five behaviours\n")[2].partition("\n## ")[0].split("\n| ")[2:]
    return {
        row.partition(" |")[0]: [f"observer.{name}" for name in re.findall(r"`([\w.]+)`", row)]
        for row in rows
    }


SPINES = spines()
EVENT, SEARCH, START, IMPORT, PURGE = SPINES.values()


def assert_passes(entered: list[str], spine: list[str]) -> None:
    """Fail with the first module that is not entered, or not after those before it."""
    at = iter(entered)
    missed = next((module for module in spine if module not in at), None)
    assert missed is None, f"{missed} is not entered in this order"


class Watched:
    """A command whose way through the modules is written down."""

    def __init__(self, tmp_path: Path, *words: str) -> None:
        self._seen = tmp_path / "seen"
        every = " ".join({module for spine in SPINES.values() for module in spine})
        env = os.environ | {"SPINE": every, "SPINE_SEEN": str(self._seen), "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen([sys.executable, DRIVER, *words], env=env)

    def ended(self) -> list[str]:
        assert self.process.wait(60) == 0
        return self._seen.read_text().split("\n")

    def so_far(self, until: Until) -> list[str]:
        self._seen.unlink(missing_ok=True)
        self.process.send_signal(signal.SIGUSR1)
        until(self._seen.exists)
        return self._seen.read_text().split("\n")


@pytest.fixture
def shop(tmp_path: Path, git: Git) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "cart.py").write_text("total = 0\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "Add a cart")
    return folder


@pytest.fixture
def daemon(tmp_path: Path, home: Home, until: Until) -> Iterator[Watched]:
    watched = Watched(tmp_path, "daemon")
    until(lambda: client.is_running(home))
    yield watched
    watched.process.terminate()
    watched.process.wait(30)


@pytest.mark.parametrize("behaviour", SPINES)
def test_a_spine_is_short(behaviour: str) -> None:
    assert 4 < len(SPINES[behaviour]) <= MOST


def edit_of(shop: Path) -> None:
    """Report an edit as Claude Code does, by the real hook."""
    changed = {"old_string": "total = 0", "new_string": "def total():\n    return 0"}
    report = {
        "session_id": "s1", "cwd": str(shop), "hook_event_name": "PostToolUse",
        "tool_name": "Edit", "tool_use_id": "t1",
        "tool_input": {"file_path": str(shop / "cart.py")} | changed,
        "tool_response": {"filePath": str(shop / "cart.py"), "originalFile": "total = 0\n"},
    }  # fmt: skip
    (shop / "cart.py").write_text("def total():\n    return 0\n")
    post = [ROOT / "hooks" / "post", "claude-code", "PostToolUse"]
    subprocess.run(post, input=json.dumps(report).encode(), cwd=shop, check=True)


def found(observer: Observer, shop: Path) -> bool:
    done = observer("search", "total", "--project", str(shop), "--type", "file-write", "--json")
    return "cart.py" in done.stdout


def asked_over_mcp(tool: str, **arguments: str) -> str:
    """Return what a tool answers to a client that speaks over `observer mcp`."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}} | {
        "clientInfo": {"name": "spine", "version": "1"}
    }
    lines = (
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}},
    )
    words = [sys.executable, "-m", "observer", "mcp"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as pump:
        assert pump.stdin
        assert pump.stdout
        for line in lines:
            print(json.dumps({"jsonrpc": "2.0"} | line), file=pump.stdin, flush=True)
        answer = next(line for line in pump.stdout if json.loads(line).get("id") == lines[-1]["id"])
        pump.stdin.close()
    return answer


def test_an_event_becomes_an_item_and_a_start(
    daemon: Watched, shop: Path, home: Home, observer: Observer, until: Until
) -> None:
    edit_of(shop)
    until(lambda: found(observer, shop))
    start = home.context / "by-path" / str(shop)[1:] / "CONTEXT.md"
    until(start.is_file)
    entered = daemon.so_far(until)
    assert_passes(entered, EVENT)
    assert_passes(entered, START)


def test_a_search_over_mcp(daemon: Watched, shop: Path, observer: Observer, until: Until) -> None:
    edit_of(shop)
    until(lambda: found(observer, shop))
    daemon.so_far(until)
    assert "cart.py" in asked_over_mcp("search", query="total")
    assert_passes(daemon.so_far(until), SEARCH)


def test_an_import(tmp_path: Path, shop: Path) -> None:
    said = {"sessionId": "7d1f1e38-0000-4000-8000-000000000001", "cwd": str(shop)}
    asked = said | {
        "type": "user", "uuid": "u1", "timestamp": "2026-10-01T10:00:00.000Z",
        "message": {"role": "user", "content": "Make the total right"},
    }  # fmt: skip
    session = tmp_path / "projects" / "shop" / f"{said['sessionId']}.jsonl"
    session.parent.mkdir(parents=True)
    session.write_text(json.dumps(asked) + "\n")
    done = Watched(tmp_path, "import", "claude-code", str(session.parents[1]), "--yes")
    assert_passes(done.ended(), IMPORT)


def test_a_purge(tmp_path: Path, observer: Observer) -> None:
    observer("remember", "The staging database listens on port 5433")
    done = Watched(tmp_path, "purge", "--text", "5433", "--yes")
    assert_passes(done.ended(), PURGE)
