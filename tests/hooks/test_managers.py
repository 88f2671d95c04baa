"""Hooks beside those of husky, lefthook and pre-commit, as these really install them.

Tests are skipped where a manager is not in PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from observer.clients.config_files.context import InstallContext, command, current_context
from observer.clients.installers import install, perform, uninstall
from observer.clients.shelf.git import CONFIGURED_SINCE, EVENTS, missing_hooks, version
from observer.core.errors import ConfigInvalid
from observer.core.paths import Home
from observer.local.spool import Spool
from tests.support import put_file

pytestmark = pytest.mark.slow

LEFTHOOK = """\
pre-commit: {commands: {note: {run: echo before >> ../notes}}}
post-commit: {commands: {note: {run: echo after >> ../notes}}}
"""
PRE_COMMIT = """\
repos:
- repo: local
  hooks:
  - {id: before, name: before, language: system, entry: sh -c 'echo before >> ../notes',
     always_run: true, pass_filenames: false, stages: [pre-commit]}
  - {id: after, name: after, language: system, entry: sh -c 'echo after >> ../notes',
     always_run: true, pass_filenames: false, stages: [post-commit]}
"""
HUSKY = {"pre-commit": "echo before >> ../notes\n", "post-commit": "echo after >> ../notes\n"}


class Manager(NamedTuple):
    """A manager: the files that a project has for it, and how a person installs its hooks."""

    program: str
    files: dict[str, str]
    setup: tuple[str, ...]


MANAGERS = (
    Manager("husky", {f".husky/{name}": text for name, text in HUSKY.items()}, ("husky",)),
    Manager("lefthook", {"lefthook.yml": LEFTHOOK}, ("lefthook", "install")),
    Manager(
        "pre-commit",
        {".pre-commit-config.yaml": PRE_COMMIT},
        ("pre-commit", "install", "-t", "pre-commit", "-t", "post-commit"),
    ),
)


class Repository:
    """A repository of a person who uses a manager."""

    def __init__(self, folder: Path, home: Home, manager: Manager) -> None:
        self.folder = folder
        self.home = home
        self.manager = manager
        self._notes = folder.parent / "notes"
        self._number = 0
        folder.mkdir()
        self.run("git", "init", "-q", "-b", "main")
        for name, text in manager.files.items():
            put_file(folder / name, text)
        self.run("git", "add", "-A")

    @property
    def context(self) -> InstallContext:
        return replace(current_context(self.home), folder=self.folder)

    def run(self, *words: str) -> str:
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def set_up(self) -> None:
        self.run(*self.manager.setup)

    def commit(self) -> tuple[list[str], int]:
        """Commit; return what the manager's hooks wrote, and how many events came of it."""
        self._notes.unlink(missing_ok=True)
        before = self._events()
        self._number += 1
        (self.folder / "file").write_text(str(self._number))
        self.run("git", "add", "file")
        self.run("git", "commit", "-q", "-m", f"change {self._number}")
        notes = self._notes.read_text().split() if self._notes.exists() else []
        return notes, self._events() - before

    def observe(self) -> None:
        """Install our hooks; where the manager's folder is the project's, as the hint says."""
        if self.manager.program == "husky" and (self.folder / ".husky/_").exists():
            perform(install("bash", self.context), self.home, at_ms=1)  # brings our scripts
            with pytest.raises(ConfigInvalid, match=r"core\.hooksPath") as refused:
                install("git", self.context)
            for event in EVENTS:
                assert event in refused.value.hint
                with (self.folder / ".husky" / event).open("a") as file:
                    file.write(command(self.home, "post", "git", event) + ' "$@" || true\n')
        perform(install("git", self.context), self.home, at_ms=1)

    def _events(self) -> int:
        return Spool(self.home.spool).depth()


@pytest.fixture(params=MANAGERS, ids=lambda manager: manager.program)
def repository(request: pytest.FixtureRequest, tmp_path: Path, home: Home) -> Repository:
    manager: Manager = request.param
    if shutil.which(manager.program) is None:
        pytest.skip(f"{manager.program} is not installed")
    if version(current_context(home)) >= CONFIGURED_SINCE:
        pytest.skip("this git has configured hooks")
    return Repository(tmp_path / "shop", home, manager)


BOTH = (["before", "after"], 1)


def test_ours_beside_a_managers_that_stays_when_ours_go(repository: Repository) -> None:
    repository.set_up()
    assert repository.commit() == (["before", "after"], 0)
    repository.observe()
    assert repository.commit() == BOTH
    assert missing_hooks(repository.context, ()) == []
    repository.set_up()
    notes, events = repository.commit()
    assert notes == ["before", "after"]
    assert events == 1 or missing_hooks(repository.context, ())
    perform(uninstall("git", repository.context), repository.home, at_ms=2)
    notes, events = repository.commit()
    assert notes == ["before", "after"]
    assert events == (1 if repository.manager.program == "husky" else 0)  # the project's own lines


def test_a_manager_that_comes_later(repository: Repository) -> None:
    """What it puts out of use is reported, and comes back with the installation that is advised."""
    perform(install("git", repository.context), repository.home, at_ms=1)
    assert repository.commit() == ([], 1)
    repository.set_up()
    notes, events = repository.commit()
    assert notes == ["before", "after"]
    assert events == 1 or missing_hooks(repository.context, ())
    repository.observe()
    assert repository.commit() == BOTH
    assert missing_hooks(repository.context, ()) == []


def all_of_it(home: Home) -> None:
    shutil.rmtree(home.root)


def the_scripts(home: Home) -> None:
    shutil.rmtree(home.hooks)


def the_right_to_run_them(home: Home) -> None:
    (home.hooks / "post").chmod(0o644)


@pytest.mark.parametrize("remove", [all_of_it, the_scripts, the_right_to_run_them])
def test_no_commit_checkout_or_push_fails_without_our_scripts(
    repository: Repository, tmp_path: Path, remove: Callable[[Home], None]
) -> None:
    repository.set_up()
    repository.observe()
    remove(repository.home)
    assert repository.commit()[0] == ["before", "after"]
    repository.run("git", "checkout", "-q", "-b", "topic")
    repository.commit()
    repository.run("git", "checkout", "-q", "main")
    repository.run("git", "merge", "-q", "--no-edit", "topic")
    repository.run("git", "commit", "-q", "--amend", "--no-edit", "--allow-empty")
    repository.run("git", "init", "-q", "--bare", os.fspath(tmp_path / "remote"))
    repository.run("git", "push", "-q", os.fspath(tmp_path / "remote"), "main")
