"""A throw-away user with a home of observer's own, and the daemon that runs in it.

Promises that no process outlives the block, a stopped daemon included.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import observer
from observer import client
from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.paths import SHIPPED_HOOKS, Home
from observer.embed.lazy_model import LazyModel
from observer.embed.registry import find
from observer.git.launch import executable
from observer.index import Index
from observer.memory.api import Memory
from observer.memory.opening import index_for
from observer.search.candidates import Sources
from observer.spool.spool import Spool
from observer.store.database import SqliteStore

PACKAGE = Path(observer.__file__).parent
ROOT = PACKAGE.parent
"""The folder in which the package lies: a checkout, or that of installed packages."""
DEADLINE_S = 120.0

_AGENTS = ("CLAUDECODE", "CLAUDE_", "CURSOR_", "KIRO_", "CODEX_", "GEMINI_", "AI_AGENT", "AGENT")


@dataclass(frozen=True, slots=True)
class Options:
    """What the reader asked for."""

    share: float
    """How much of the full number of rounds: 1 for figures to publish."""
    work: Path
    texts: Path = ROOT
    items: int = 0
    """Items that `recall` asks; 0: as many as the figure promises."""
    peer: Path | None = None
    """Where the peer is installed that `peer` asks the same; None asks none."""

    def rounds(self, full: int) -> int:
        """Return how often to repeat."""
        return max(1, round(full * self.share))


@dataclass(frozen=True, slots=True)
class Lab:
    """The folders of one throw-away user."""

    folder: Path
    home: Home

    def up(self) -> int:
        """Start the daemon and return its process id once it answers."""
        client.ensure_daemon(self.home, wait_s=DEADLINE_S)
        return client.daemon_pid(self.home) or 0

    def down(self) -> None:
        """End the daemon, its store written."""
        client.stop(self.home, wait_s=DEADLINE_S)

    def repository(self, name: str) -> Path:
        """Make an empty git repository."""
        made = self.folder / name
        made.mkdir()
        for words in (("init", "-q", "-b", "main"), ("commit", "-q", "--allow-empty", "-m", "Go")):
            subprocess.run([executable(), "-C", str(made), *words], check=True)
        return made

    @contextmanager
    def store(self) -> Iterator[SqliteStore]:
        """Open the store for reading, beside the daemon."""
        opened = SqliteStore(self.home.database, read_only=True)
        try:
            yield opened
        finally:
            opened.close()

    @contextmanager
    def memory(self) -> Iterator[Memory]:
        """Read the store as the daemon does, in this process."""
        with self.store() as store:
            index, model = self._index()
            yield Memory(store, owner="", now_ms=now_ms, index=index, encode=model.encode_patiently)

    @contextmanager
    def sources(self) -> Iterator[Sources]:
        """Lend what recall looks into."""
        index, model = self._index()
        with self.store() as store, store.read() as reader, index.view(reader) as view:
            yield Sources(reader, view, model.encode_patiently)

    def _index(self) -> tuple[Index, LazyModel]:
        model = LazyModel(find(Settings().model, self.home.models))
        return index_for(self.home.index, model, is_owner=False), model


@contextmanager
def lab(options: Options) -> Iterator[Lab]:
    """Lend a throw-away user, with the hooks installed; ends the daemon and deletes all."""
    with tempfile.TemporaryDirectory(dir=options.work, prefix="lab-") as name:
        made = Lab(folder=Path(name), home=Home(Path(name) / ".observer"))
        _move_in(made)
        try:
            yield made
        finally:
            kill(made.home)


def kill(home: Home) -> None:
    """End the daemon by force, if there is one, and return when it is gone."""
    while client.is_running(home):
        if pid := client.daemon_pid(home):
            os.kill(pid, signal.SIGKILL)
        time.sleep(client.POLL_S)


def until(holds: Callable[[], object], *, step_s: float = 0.01, wait_s: float = DEADLINE_S) -> None:
    """Wait for a condition.

    Raises:
        TimeoutError: it did not come true.
    """
    deadline = time.monotonic() + wait_s
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {wait_s:g} s")
        time.sleep(step_s)


def launchers() -> dict[str, list[str]]:
    """Return the ways to start `observer`: the installed command if there is one, the module."""
    found = {"python -m observer": [sys.executable, "-P", "-m", "observer"]}
    installed = Path(sys.executable).with_name("observer")
    return ({"observer": [str(installed)]} if installed.exists() else {}) | found


def _move_in(made: Lab) -> None:
    """Make this process, and all it starts, the throw-away user's."""
    for name in list(os.environ):
        if name.startswith(("OBSERVER_", "GIT_", *_AGENTS)):
            del os.environ[name]
    os.environ |= {
        "HOME": str(made.folder),
        "OBSERVER_HOME": str(made.home.root),
        "PYTHONPATH": str(ROOT),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ana",
        "GIT_AUTHOR_EMAIL": "ana@example.com",
        "GIT_COMMITTER_NAME": "Ana",
        "GIT_COMMITTER_EMAIL": "ana@example.com",
    }
    Spool(made.home.spool).prepare()
    shipped = next(folder for folder in SHIPPED_HOOKS if folder.is_dir())
    shutil.copytree(shipped, made.home.hooks)
    for script in made.home.hooks.rglob("*"):
        if script.is_file() and script.read_bytes().startswith(b"#!"):
            script.chmod(0o755)
