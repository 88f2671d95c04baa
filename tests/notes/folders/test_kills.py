"""SIGKILL while note folders are read and written: no file and no note is lost or doubled."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from mcp import Client, MCPError, StdioServerParameters

from observer.core.paths import Home
from observer.local import client
from observer.store.database import SqliteStore
from tests.notes.folders.conftest import Vault

ROOT = Path(__file__).parents[3]
SCANNER = """
import os, signal, sys
from pathlib import Path
from observer.core.paths import Home
from tests.notes.folders.conftest import Vault

class Dying(Vault):
    left = int(sys.argv[3])

    def _write(self, work):
        with self.store.write() as writer:
            work(writer)
            if self.left == 0 and sys.argv[4] == "written":
                os.kill(os.getpid(), signal.SIGKILL)
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1

Dying(Home(Path(sys.argv[1])), Path(sys.argv[2])).scan()
"""

State = dict[str, tuple[str, str, str]]


def state(store: SqliteStore, folder: str) -> State:
    """Return what is found of a folder, by path; every note has one file."""
    with store.read() as reader:
        files = reader.note_files(folder)
        items = {item.id: item for item in reader.items([file.item for file in files])}
        notes = [item for item in reader.all_items() if item.file]
    assert len(notes) == len(items) == len(files)
    return {
        file.path: (file.permalink, items[file.item].title, items[file.item].narrative)
        for file in files
    }


@pytest.mark.parametrize("step", ["written", "committed"])
@pytest.mark.parametrize("batch", [0, 1, 2])
def test_a_scan_that_was_killed_goes_on(home: Home, tmp_path: Path, batch: int, step: str) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    for number in range(450):
        (root / f"n{number}.md").write_text(
            f"# Title\n\n- [fact] zebra {number} [[n{number - 1}]]\n"
        )
    command = [sys.executable, "-c", SCANNER, str(home.root), str(root), str(batch), step]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    assert subprocess.run(command, check=False, env=environment).returncode == -signal.SIGKILL
    killed, whole = Vault(home, root), Vault(Home(tmp_path / "other"), root)
    done = killed.scan()
    assert done.changed == 450 - 200 * (batch + (step == "committed")) or done.changed == 0
    whole.scan()
    assert state(killed.store, str(root)) == state(whole.store, str(root))
    assert killed.scan().changed == 0
    for vault in (killed, whole):
        assert vault.store.check() == "ok"
        vault.store.close()


@pytest.mark.slow
def test_kills_at_random_moments_of_scans_and_tool_writes(
    home: Home, tmp_path: Path, until: Callable[..., None]
) -> None:
    """What a tool has confirmed is on the disk; what it has not is there whole, or not at all."""
    root = tmp_path / "vault"
    root.mkdir()
    for number in range(600):
        (root / f"old{number}.md").write_text(f"old {number}\n" * 50)
    Vault(home, root).store.close()
    moments = random.Random(20261124)
    confirmed: set[str] = set()
    for round_ in range(4):
        client.ensure_daemon(home, wait_s=30)
        pid = client.daemon_pid(home) or 0
        for path in list(root.glob("old*.md"))[round_::5]:
            path.write_text(f"{path.stem} again in {round_}\n" * 50)
        kill = threading.Timer(moments.uniform(0.5, 3), os.kill, (pid, signal.SIGKILL))
        kill.start()
        confirmed |= asyncio.run(_write_until(round_, kill.finished))
        kill.join()
        until(lambda pid=pid: client.daemon_pid(home) != pid)
    client.ensure_daemon(home, wait_s=30)
    texts = {path.name: path.read_text() for path in root.glob("*.md")}
    assert confirmed
    assert {f"{title}.md" for title in confirmed} <= texts.keys()
    for name, text in texts.items():
        first = text.rstrip("\n").rpartition("\n")[2]
        assert text.endswith(f"{first}\n" * 50), f"{name} is not whole"

    def is_synced() -> bool:
        with closing(SqliteStore(home.database, read_only=True)) as store:
            found = state(store, str(root))
        counted = {path: said.count("\n") for path, (_, _, said) in found.items()}
        return counted == dict.fromkeys(texts, 49)

    until(is_synced, wait_s=60)


async def _write_until(round_: int, is_over: threading.Event) -> set[str]:
    """Write notes as an agent does until the daemon is killed; return those that were confirmed."""
    command = ["-m", "observer", "mcp", "--tools", "basic-memory"]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    confirmed = set()
    async with asyncio.timeout(90), Client(server) as agent:
        for number in range(10**6):
            title = f"new-{round_}-{number}"
            asked = {"title": title, "content": f"{title}\n" * 50, "directory": "/"}
            try:
                answer = await agent.call_tool("write_note", asked)
            except MCPError:
                return confirmed
            if "is_error=True" not in str(answer):
                confirmed.add(title)
            if is_over.is_set():
                return confirmed
    return confirmed
