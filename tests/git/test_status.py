"""What git says of the files of a real work tree, and which of a session are not committed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from observer.core.errors import NotFound
from observer.git.process import MOST_PATHS, WorkTree, uncommitted_paths
from tests.support import Git

CLEAN = ("same.py", "odd name\n.py")


@pytest.fixture
def app(tmp_path: Path, git: Git) -> Path:
    """A repository with a file in each standing."""
    root = tmp_path / "app"
    git(root, "init")
    for name in (*CLEAN, "changed.py", "staged.py", "gone.py", "moved.py", "[a]*.py", "sub/[x].py"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("x = 1\n")
    (root / ".gitignore").write_text("*.log\nbuild/\n")
    git(root, "add", ".")
    git(root, "commit", "-m", "First")
    for name in ("changed.py", "staged.py", "[a]*.py"):
        (root / name).write_text("x = 2\n")
    git(root, "add", "staged.py")
    git(root, "mv", "moved.py", "there.py")
    (root / "gone.py").unlink()
    (root / "new.py").write_text("")
    (root / "a.log").write_text("")
    (root / "build" / "deep").mkdir(parents=True)
    (root / "build" / "deep" / "out").write_text("")
    return root


STANDINGS = {
    "[a]*.py": "changed",
    "changed.py": "changed",
    "gone.py": "gone",
    "new.py": "new",
}


def test_files_that_differ_are_shown_with_their_standing(app: Path) -> None:
    tree = WorkTree(str(app))
    assert tree.changed_files() == STANDINGS
    assert tree.changed_files(["same.py"] * (MOST_PATHS + 1)) == STANDINGS  # too many to name
    assert tree.ignored_folders() == {"build"}
    assert tree.ignored([]) == []
    assert (tree.is_tracked("sub"), tree.is_tracked("build")) == (True, False)
    assert tree.staged(["changed.py", "new.py"]) == {"changed.py": b"x = 1\n"}


def test_only_what_was_asked_about_is_shown(app: Path) -> None:
    (app / "sub" / "[x].py").write_text("x = 2\n")
    (app / "sub" / "x.py").write_text("")
    tree = WorkTree(str(app))
    found = tree.changed_files(["sub/[x].py", "gone.py", "same.py", "a.log"])
    assert found == {"sub/[x].py": "changed", "gone.py": "gone"}
    assert tree.changed_files(["sub"]) == {"sub/[x].py": "changed", "sub/x.py": "new"}


@pytest.mark.parametrize("where", ["nested", "exclude", "global"])
def test_every_list_of_what_to_ignore_is_heeded(
    app: Path, git: Git, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists = {
        "nested": app / "sub" / ".gitignore",
        "exclude": app / ".git" / "info" / "exclude",
        "global": app.parent / "my-ignores",
    }
    lists[where].write_text("secret.txt\n")
    if where == "global":
        git(app, "config", "--global", "core.excludesFile", str(lists[where]))
    (app / "sub" / "secret.txt").write_text("")
    tree = WorkTree(str(app))
    assert "sub/secret.txt" not in tree.changed_files()
    assert tree.ignored(["sub/secret.txt", "new.py"]) == ["sub/secret.txt"]


def test_a_checkout_moves_the_index_of_its_work_tree(app: Path, git: Git) -> None:
    tree = WorkTree(str(app))
    git(app, "worktree", "add", "-q", str(app.parent / "other"))
    os.utime(app / ".git" / "index", (1, 1))
    assert tree.index_changed_ms() == 1000
    git(app, "checkout", "-q", "--", "changed.py")
    assert tree.index_changed_ms() > 1000
    os.utime(app / ".git" / "index", (1, 1))
    assert WorkTree(str(app.parent / "other")).index_changed_ms() > 1000
    git(app.parent / "new", "init")
    assert WorkTree(str(app.parent / "new")).index_changed_ms() == 0


def test_files_of_a_stash_are_gits_own(app: Path, git: Git) -> None:
    tree = WorkTree(str(app))
    os.utime(app / ".git" / "refs", (1, 1))
    assert not tree.has_own_writes(since_ms=2000)
    git(app, "stash")
    assert tree.has_own_writes(since_ms=2000)


def test_conflicts_are_gits_own_while_it_moves_the_index_which_it_locks(app: Path) -> None:
    tree = WorkTree(str(app))
    (app / ".git" / "MERGE_HEAD").write_text("")
    os.utime(app / ".git" / "index", (5, 5))
    assert tree.has_own_writes(since_ms=5000)
    assert not tree.has_own_writes(since_ms=5001)
    assert not tree.is_locked
    (app / ".git" / "index.lock").touch()
    assert tree.is_locked


def test_without_git_nothing_is_known(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NotFound, match="git"):
        WorkTree(str(app))


@pytest.mark.parametrize(
    "path", ["changed.py", "staged.py", "new.py", "gone.py", "moved.py", "there.py", "[a]*.py"]
)
def test_what_no_commit_holds_as_it_is(app: Path, path: str) -> None:
    assert uncommitted_paths(str(app), [path, *CLEAN]) == frozenset({path})


@pytest.mark.parametrize("path", [*CLEAN, "build/deep/out", "never/was.py", "*.py"])
def test_what_is_committed_ignored_or_nowhere(app: Path, path: str) -> None:
    assert uncommitted_paths(str(app), [path]) == frozenset()


def test_only_git_can_tell_and_is_not_waited_for_long(tmp_path: Path, app: Path) -> None:
    assert uncommitted_paths(str(tmp_path), ["a.py"]) is None
    assert uncommitted_paths("", ["a.py"]) is None
    assert uncommitted_paths(str(app), ["changed.py"], wait_s=0) is None


def test_the_users_index_is_left_alone(app: Path) -> None:
    index = app / ".git" / "index"
    (app / "same.py").touch()
    before = index.read_bytes()
    assert uncommitted_paths(str(app), ["same.py"]) == frozenset()
    assert index.read_bytes() == before
