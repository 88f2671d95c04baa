"""How the code got from one commit to another, and the text it had."""

from __future__ import annotations

from pathlib import Path

import pytest

from observer.core.errors import ObserverError
from observer.git import log as git_steps
from observer.git.log import CommitDiff, DiffEntry
from observer.git.process import MOST_BYTES, Blobs
from tests.support import Git


@pytest.fixture
def app(tmp_path: Path, git: Git) -> Path:
    """A repository whose third commit renames a file, and whose fourth deletes it."""
    folder = tmp_path / "app"
    git(folder, "init")
    for text in ("one\ntwo\nthree\n", "one\ntwo\nfour\n"):
        (folder / "a.txt").write_text(text)
        git(folder, "add", "-A")
        git(folder, "commit", "-m", f"Say {text[-6:-1].strip()}")
    git(folder, "mv", "a.txt", "b.txt")
    git(folder, "commit", "-m", "Rename")
    git(folder, "rm", "b.txt")
    git(folder, "commit", "-m", "Drop")
    return folder


def _steps(folder: Path, since: str = "") -> list[CommitDiff]:
    return list(git_steps.commits_between(str(folder), since, "HEAD"))


def test_steps_come_parents_first_with_their_files(app: Path, git: Git) -> None:
    first, second, third, fourth = _steps(app)
    blob = git(app, "rev-parse", "HEAD~1:b.txt")
    assert [step.message for step in (first, second, third, fourth)] == [
        "Say three",
        "Say four",
        "Rename",
        "Drop",
    ]
    assert second.parents == (first.commit,)
    assert second.files == (DiffEntry("a.txt", "a.txt", first.files[0].blob, blob),)
    assert third.files == (DiffEntry("a.txt", "b.txt", blob, blob),)
    assert fourth.files == (DiffEntry("b.txt", "b.txt", blob, ""),)
    assert fourth.committed_ms % 1000 == 0 < fourth.committed_ms
    assert _steps(app, "HEAD~2") == [third, fourth]
    assert _steps(app, "HEAD") == []
    assert list(git_steps.commits_by_hash(str(app), [second.commit, "1" * 40])) == [second]


def test_two_commits_are_compared(app: Path, git: Git) -> None:
    root, first, last = str(app), git(app, "rev-parse", "HEAD~3"), git(app, "rev-parse", "HEAD")
    (moved,) = git_steps.diff_commits(root, "HEAD~3", "HEAD~1")
    assert (moved.old, moved.path) == ("a.txt", "b.txt")
    assert git_steps.diff_commits(root, first, first) == ()
    with pytest.raises(ObserverError):
        git_steps.diff_commits(root, "HEAD", "nowhere")
    assert git_steps.is_related(root, first, last)
    assert git_steps.merge_base(root, [last, first]) == first
    assert git_steps.merge_base(root, [last, "1" * 40]) == ""


def test_a_merge_is_a_step_of_its_first_parent(app: Path, git: Git) -> None:
    git(app, "checkout", "-b", "side", "HEAD~1")
    (app / "c.txt").write_text("c\n")
    git(app, "add", "-A")
    git(app, "commit", "-m", "Side")
    git(app, "checkout", "main")
    git(app, "merge", "--no-ff", "-m", "Merge", "side")
    merge = _steps(app)[-1]
    assert (merge.message, len(merge.parents)) == ("Merge", 2)
    assert [moved.path for moved in merge.files] == ["c.txt"]
    assert git_steps.first_parents(str(app), "HEAD", since="HEAD~1") == [merge.commit]
    assert len(git_steps.reachable_commits(str(app), "HEAD", without="HEAD~1")) == 2


def test_names_are_read_that_git_quotes_and_come_without_secrets(app: Path, git: Git) -> None:
    (app / 'a "b"\n.txt').write_text("x\n")
    git(app, "add", "-A")
    git(app, "commit", "-m", "Odd")
    assert _steps(app)[-1].files[0].path == 'a "b"\n.txt'
    git(app, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib")
    git(app, "commit", "-m", "Submodule")
    assert _steps(app)[-1].files == ()
    secret = "AKIA" + "IOSFODNN7" + "ABCDEFG"
    git(app, "checkout", "-b", f"fix/{secret}")
    (app / f"{secret}.txt").write_text("odd\n", encoding="utf-8")
    git(app, "add", "-A")
    git(app, "commit", "-m", "Odd")
    assert _steps(app)[-1].files[0].path == "[redacted:aws-access-key].txt"
    assert git_steps.checked_out_branches(str(app)) == {git_steps.current_branch(str(app))}
    assert git_steps.current_branch(str(app)) == "fix/[redacted:aws-access-key]"


def test_no_commit_is_no_head_and_a_name_that_is_cut_no_file(tmp_path: Path, git: Git) -> None:
    git(tmp_path / "new", "init")
    folder = str(tmp_path / "new")
    assert git_steps.resolve_commit(folder, "HEAD") == ""
    assert git_steps.current_branch(folder) == "main"
    assert git_steps.resolve_commit(folder, "--all") == ""
    assert list(git_steps.commits_by_hash(folder, ["1" * 40])) == []
    assert list(git_steps._moved(b":100644 100644 a b M")) == []  # git gives no such name here


def test_text_comes_by_any_name_unless_it_is_too_large(app: Path, git: Git) -> None:
    blob = git(app, "rev-parse", "HEAD~1:b.txt")
    with Blobs(str(app)) as blobs:
        for name in (blob, "HEAD~1:b.txt", "HEAD~2:a.txt"):
            found = blobs.get(name)
            assert found == (blob, "blob", b"one\ntwo\nfour\n")
        commit = blobs.get("HEAD")
        assert commit
        assert commit.kind == "commit"
    assert blobs.get("HEAD") is None  # the process has ended
    (app / "big").write_bytes(b"x" * (2 * MOST_BYTES + 5))
    git(app, "add", "-A")
    git(app, "commit", "-m", "Big")
    with Blobs(str(app)) as blobs:
        found = blobs.get("HEAD:big")
        assert found
        assert found.data is None
        assert blobs.get("HEAD~2:b.txt")


@pytest.mark.parametrize("name", ["1" * 40, "HEAD:b.txt", "a\nb", "a\0b", "\ud800", "HEAD: b"])
def test_what_is_not_there_has_no_text(app: Path, name: str) -> None:
    with Blobs(str(app)) as blobs:
        assert blobs.get(name) is None
        assert blobs.get("HEAD~1:b.txt")
