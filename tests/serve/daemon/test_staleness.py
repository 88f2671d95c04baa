"""The daemon follows the code by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.core.model import Project
from observer.core.paths import Home
from observer.serve.unreported import StalenessWorker
from tests.serve.services import services_over
from tests.support import Git, run_until


def _commit(git: Git, folder: Path, text: str, message: str) -> None:
    (folder / "auth.py").write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-m", message)


class Bench:
    """The task with all that it needs, and two repositories that it follows."""

    def __init__(self, home: Home, folder: Path, git: Git) -> None:
        self._git = git
        self._services = services_over(home)
        self._store = store = self._services.store
        self.health = self._services.health
        self.roots = (folder / "one", folder / "other")
        for number, root in enumerate(self.roots, start=2):
            git(root, "init")
            _commit(git, root, "def login():\n    return 1\n", "Let people sign in")
            project = Project(id=number, uuid=root.name, name=root.name, roots=(str(root),))
            with store.write() as writer:
                writer.put_project(project)

    def is_followed(self, root: Path) -> bool:
        with self._store.read() as reader:
            heads = {worktree.root: worktree.head for worktree in reader.worktrees()}
        return heads.get(str(root)) == self._git(root, "rev-parse", "HEAD")

    def run(self, until: Callable[[], bool]) -> None:
        async def follow() -> None:
            await StalenessWorker(self._services, on_revised=lambda _: None).run()

        async def followed() -> None:
            await run_until(until, follow())

        asyncio.run(followed())


@pytest.mark.measured
def test_a_repository_that_cannot_be_read_keeps_no_other_from_being_followed(
    home: Home, tmp_path: Path, git: Git
) -> None:
    bench = Bench(home, tmp_path, git)
    broken, sound = bench.roots
    bench.run(until=lambda: bench.is_followed(broken) and bench.is_followed(sound))
    for root in bench.roots:
        _commit(git, root, "def login():\n    return 2\n", "Count twice")
    tree = git(broken, "rev-parse", "HEAD^{tree}")
    (broken / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    bench.run(until=lambda: bench.is_followed(sound))
    assert f"staleness: git cannot read {broken}" in (bench.health.text() or "")
