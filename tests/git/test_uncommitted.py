from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from observer.git.status import uncommitted_paths

Git = Callable[..., str]
CLEAN = ("same.py", "odd name\n.py")


@pytest.fixture
def repository(tmp_path: Path, git: Git) -> Path:
    """A repository with a file of every sort; the names say what happened to it."""
    root = tmp_path / "app"
    git(root, "init", "-q")
    for name in (*CLEAN, "changed.py", "staged.py", "deleted.py", "moved.py", "[a]*.py"):
        (root / name).write_text("1\n")
    (root / ".gitignore").write_text("built\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Begin")
    for name in ("changed.py", "staged.py", "new.py", "[a]*.py", "built"):
        (root / name).write_text("2\n")
    git(root, "add", "staged.py")
    (root / "deleted.py").unlink()
    git(root, "mv", "moved.py", "there.py")
    return root


@pytest.mark.parametrize(
    "path", ["changed.py", "staged.py", "new.py", "deleted.py", "moved.py", "there.py", "[a]*.py"]
)
def test_what_no_commit_holds_as_it_is(repository: Path, path: str) -> None:
    assert uncommitted_paths(str(repository), [path, *CLEAN]) == frozenset({path})


@pytest.mark.parametrize("path", [*CLEAN, "built", "never/was.py", "*.py"])
def test_what_is_committed_ignored_or_nowhere(repository: Path, path: str) -> None:
    assert uncommitted_paths(str(repository), [path]) == frozenset()


def test_only_git_can_tell(tmp_path: Path) -> None:
    assert uncommitted_paths(str(tmp_path), ["a.py"]) is None
    assert uncommitted_paths("", ["a.py"]) is None


def test_git_is_not_waited_for_long(repository: Path) -> None:
    assert uncommitted_paths(str(repository), ["changed.py"], wait_s=0) is None


def test_the_users_index_is_left_alone(repository: Path) -> None:
    index = repository / ".git" / "index"
    (repository / "same.py").touch()
    before = index.read_bytes()
    assert uncommitted_paths(str(repository), ["same.py"]) == frozenset()
    assert index.read_bytes() == before
