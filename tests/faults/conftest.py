"""Hostile repositories, and every way in which observer looks at a repository."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from evaluation.commits import read as read_history

from observer.clients.config_files.context import InstallContext
from observer.clients.installers import install
from observer.clients.shelf.git import missing_hooks
from observer.core.config import Settings
from observer.core.errors import ObserverError
from observer.core.events import Checkout, Commit, Edit, Event, FileWrite, Prompt, Remember
from observer.core.paths import Home
from observer.git.process import uncommitted_paths
from observer.importers.source import commits
from observer.local.spool import Spool
from observer.serve.watch_set import WatchedTree
from observer.staleness.worktree_sync import sync_worktree
from observer.store.database import SqliteStore
from observer.store.writer import Writer
from observer.tools import hook_output
from tests.support import Git, memory_over, pipeline_over

NOW_MS = 1_790_000_000_000


class Visitor:
    """Somebody's observer, with a store and a spool; each method is a way into a repository."""

    def __init__(self, store: SqliteStore, home: Home) -> None:
        self._store = store
        self._home = home
        self._spool = Spool(home.spool)
        self._spool.prepare()
        self.pipeline = pipeline_over(store, self._spool, NOW_MS)
        self.memory = memory_over(store, home, NOW_MS, record=self.pipeline.ingest)

    def hooks(self, root: Path) -> None:
        """Drain what an agent's hooks and git's own hooks report of the folder."""
        for event in ("SessionStart", "UserPromptSubmit"):
            fields = {"client": "claude-code", "event": event, "cwd": str(root)}
            payload = f'{{"session_id":"s","cwd":"{root}","prompt":"go"}}'
            self._spool.append(fields, payload.encode())
        head = _quiet(root, "rev-parse", "HEAD") or "1" * 40
        given = {"client": "git", "cwd": str(root), "env.git.head": head, "env.git.branch": "main"}
        for event in ("post-commit", "post-merge"):
            self._spool.append({**given, "event": event, "env.git.was": f"{head}"}, b"")
        while self.pipeline.drain().entries:
            pass

    def events(self, root: Path) -> None:
        """Take in events that make the pipeline read commits, ranges and files."""
        head = _quiet(root, "rev-parse", "HEAD") or "1" * 40
        first = _quiet(root, "rev-list", "--max-parents=0", "HEAD") or "2" * 40
        bodies = (
            ("x", Prompt(text="go")),
            ("x", FileWrite(path=str(root / "a.py"), edits=(Edit(old="", new="a = 9\n"),))),
            ("git/post-commit", Commit(hash=head)),
            ("git/post-checkout", Checkout(old=first, new=head, branch="main")),
            ("x", Remember(content="`login` in a.py stays", type="decision")),
        )
        for number, (route, body) in enumerate(bodies):
            event = Event(
                id=f"e{number}",
                at_ms=NOW_MS - 10 + number,
                client="git" if route.startswith("git") else "claude-code",
                session="s",
                cwd=str(root),
                route=route,
                body=body,
            )
            self.pipeline.ingest([event])

    def importing(self, root: Path) -> None:
        """Import the history."""
        self.pipeline.ingest(list(commits(str(root))))

    def watching(self, root: Path) -> None:
        """Look at the work tree as the watcher does, twice."""
        tree = WatchedTree(str(root), most_files=1000, excluded=())
        tree.look({str(root)}, since_ms=0, now_ms=NOW_MS)
        tree.look({f"{root}/a.py", f"{root}/new.py"}, since_ms=0, now_ms=NOW_MS)

    def asking_why(self, root: Path) -> None:
        """Ask why a file, a line and a name are as they are."""
        for target in ("a.py", "a.py:1", "a.py::login"):
            self.memory.why(target, str(root))

    def context(self, root: Path) -> None:
        """Write the context files, which ask git what is not committed."""
        self.events(root)
        uncommitted_paths(str(root), ["a.py", "b.py"])
        for project in self.memory.projects():
            hook_output.write(
                self.memory, project, self._home, Settings(), uncommitted=uncommitted_paths
            )

    def truth(self, root: Path) -> None:
        """Follow what became of what the items speak of."""
        self.events(root)
        with self._store.read() as reader:
            projects = [project for project in reader.projects() if project.id > 1]
        for project in projects:
            sync_worktree(self._store, self._write, project)

    def doctor(self, root: Path) -> None:
        """Look for silent hooks, and plan an installation."""
        context = InstallContext(
            home=self._home,
            user_home=root.parent,
            observer="/opt/observer",
            environ=dict(os.environ),
            folder=root,
        )
        missing_hooks(context, [f"{root}/.git"])
        install("git", context)

    def evaluation(self, root: Path) -> None:
        """Read the history as a labelled set."""
        read_history(str(root))

    def stored(self) -> list[str]:
        """Return what every stored event says."""
        with self._store.read() as reader:
            return [msgspec.json.encode(one.event).decode() for one in reader.log()]

    def _write(self, work: Callable[[Writer], None]) -> None:
        with self._store.write() as writer:
            work(writer)


WAYS = (
    Visitor.hooks,
    Visitor.events,
    Visitor.importing,
    Visitor.watching,
    Visitor.asking_why,
    Visitor.context,
    Visitor.truth,
    Visitor.doctor,
    Visitor.evaluation,
)


def _quiet(root: Path, *words: str) -> str:
    """Ask git safely what an attacker would know of the own repository."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME")}
    safe = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_NO_LAZY_FETCH": "1"}
    done = subprocess.run(
        ["/usr/bin/git", "-c", "safe.directory=*", *words],
        cwd=root,
        env=kept | safe,
        capture_output=True,
        check=False,
        text=True,
    )
    return done.stdout.split("\n", maxsplit=1)[0].strip() if done.returncode == 0 else ""


class Trap(NamedTuple):
    """A folder in which whatever runs leaves a file, named for what ran it."""

    folder: Path

    def command(self, name: str, *, then: str = "/bin/cat") -> str:
        """Return a shell command that leaves the file and then does as expected."""
        script = self.folder.parent / f"run-{name}"
        script.write_text(f'#!/bin/sh\ntouch "{self.folder}/{name}"\n{then}\n')
        script.chmod(0o755)
        return str(script)

    def ran(self) -> list[str]:
        """Return the names of what ran."""
        return sorted(path.name for path in self.folder.iterdir())

    def visit(self, way: Callable[[Visitor, Path], None], visitor: Visitor, root: Path) -> None:
        """Go one way into a repository; being refused or shown nothing is fine, running is not."""
        with suppress(ObserverError):
            way(visitor, root)
        assert self.ran() == []


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    made = tmp_path / "trap" / "sprung"
    made.mkdir(parents=True)
    return Trap(made)


@pytest.fixture
def visitor(home: Home, tmp_path: Path) -> Iterator[Visitor]:
    store = SqliteStore(tmp_path / "observer.db")
    yield Visitor(store, home)
    store.close()


@pytest.fixture
def plain(tmp_path: Path, git: Git) -> Path:
    """An ordinary repository of three commits, with something not committed."""
    root = tmp_path / "plain"
    git(root, "init", "-q")
    for number in range(3):
        (root / "a.py").write_text(f"def login(user):\n    return user + {number}\n")
        (root / "b.py").write_text(f"b = {number}\n")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", f"Change {number}")
    return root
