"""GitPython as it is used: without a program at its import, and for every kind of repository."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.core.errors import NotFound
from observer.core.paths import Home
from observer.git import repository
from observer.git.command import GitProcess
from observer.git.launch import launch
from observer.git.objects import Blobs, contents
from observer.git.process import git_at, git_output
from observer.git.repository import NoRepository

Git = Callable[..., str]
IMPORT = """
import os, sys
before = dict(os.environ)
sys.addaudithook(lambda name, given: name == "subprocess.Popen" and os._exit(7))
from observer.git.command import SafeGit
assert before == dict(os.environ)
assert "git.repo" not in sys.modules
"""


@pytest.mark.parametrize(
    "given",
    [
        {"GIT_PYTHON_GIT_EXECUTABLE": "/bin/true"},
        {"GIT_PYTHON_REFRESH": "no such mode", "PATH": "/nonexistent"},
        {"GIT_PYTHON_TRACE": "full", "PATH": "."},
    ],
    ids=["another-program", "no-git", "trace"],
)
def test_its_import_runs_nothing_whatever_the_variables(given: dict[str, str]) -> None:
    words = [sys.executable, "-c", IMPORT]
    done = subprocess.run(words, env=os.environ | given, check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


def test_variables_name_no_program_for_git(
    tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q")
    monkeypatch.setenv("GIT_PYTHON_GIT_EXECUTABLE", "/bin/false")
    assert (git_output(str(tmp_path), "version") or "").startswith("git version")


@pytest.mark.parametrize("name", ["$HOME", "~", "%PATH%"])
def test_a_folder_is_named_as_it_is(tmp_path: Path, git: Git, name: str) -> None:
    git(tmp_path / name, "init", "-q")
    assert git_output(str(tmp_path / name), "rev-parse", "--show-toplevel") == str(tmp_path / name)


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_objects_are_read_whatever_their_ids_are_made_with(
    tmp_path: Path, git: Git, kind: str
) -> None:
    git(tmp_path, "init", "-q", f"--object-format={kind}")
    name = git(tmp_path, "hash-object", "-w", "--stdin", stdin=b"text")
    empty = git(tmp_path, "hash-object", "-w", "--stdin", stdin=b"")
    with Blobs(str(tmp_path)) as blobs:
        assert [blobs.get(one) for one in (name, empty, name)] == [
            (name, "blob", b"text"),
            (empty, "blob", b""),
            (name, "blob", b"text"),
        ]


def test_contents_that_cannot_be_read_are_not_missing(tmp_path: Path) -> None:
    with pytest.raises(NoRepository):
        list(contents(str(tmp_path), ["1" * 40]))


def test_a_command_of_gitpython_is_a_process_in_the_closed_environment(
    tmp_path: Path, git: Git
) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "user.name", "hidden")
    with git_at(str(tmp_path)).config("--list", name_only=True) as listed:
        assert b"user.name" not in listed.all()


def test_a_git_that_nobody_waits_for_ends() -> None:
    words = ("hash-object", "--stdin")
    process = launch(words, environ=os.environ, reads=subprocess.PIPE)
    started = GitProcess(process, wait_s=1.0, in_all=False)
    del started
    assert process.returncode == -signal.SIGKILL


def test_without_room_for_the_stand_in_git_is_not_run(
    tmp_path: Path, git: Git, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q")
    home.root.mkdir(exist_ok=True)
    home.run.write_text("in the way")
    repository._spare.cache_clear()
    monkeypatch.setattr("tempfile.tempdir", "/nonexistent")
    with pytest.raises(NotFound, match="cannot be run safely"):
        git_output(str(tmp_path), "version")
