"""Repositories whose files, refs and commits are laid out to crash, to exhaust or to leak."""

from __future__ import annotations

import os
import shutil
import subprocess
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from observer.core.errors import ObserverError
from observer.git import blame
from observer.git.log import read_commit
from observer.git.repository import read_first_line
from observer.projects import detect_place
from observer.serve.watch_set import WatchedTree

from .conftest import WAYS, Git, Visitor

MANY_BYTES = 256 << 20
FEW_BYTES = 64 << 20


def committed(root: Path, git: Git, header: bytes, message: bytes) -> str:
    """Put a commit on top whose author and committer lines are as given."""
    (root / "a.py").write_text("def login(user):\n    return user + 7\n")
    git(root, "add", "a.py")
    tree, parent = git(root, "write-tree"), git(root, "rev-parse", "HEAD")
    text = f"tree {tree}\nparent {parent}\n".encode() + header + b"\n" + message
    words = ("hash-object", "-t", "commit", "-w", "--stdin", "--literally")
    commit = git(root, *words, stdin=text)
    (root / ".git/refs/heads/main").write_text(f"{commit}\n")
    return str(commit)


# --- what is outside stays outside -------------------------------------------------------------


def test_a_file_below_a_link_is_not_in_the_tree(plain: Path, tmp_path: Path, git: Git) -> None:
    (plain / "sub/deep").mkdir(parents=True)
    (plain / "sub/deep/note").write_text("x\n")
    git(plain, "add", "-A")
    git(plain, "commit", "-q", "-m", "Note")
    tree = WatchedTree(str(plain), most_files=1000, excluded=())
    private = tmp_path / "private"
    (private / "deep").mkdir(parents=True)
    (private / "deep/note").write_text("canary\n")
    shutil.rmtree(plain / "sub")
    (plain / "sub").symlink_to(private)
    later_ms = (plain / ".git/index").stat().st_mtime_ns // 1_000_000 + 60_000
    saves = tree.look({str(plain)}, since_ms=later_ms, now_ms=later_ms)
    assert "canary" not in str(saves)
    (save,) = [save for save in saves if save.path == "sub/deep/note"]
    assert save.new is None


def test_few_of_many_remotes_are_kept(plain: Path) -> None:
    with (plain / ".git/config").open("a") as config:
        config.writelines(f'[remote "r{number}"]\nurl = h:o/{number}\n' for number in range(9000))
        config.write('[remote "origin"]\nurl = h:o/n\n')
    remotes = detect_place(str(plain)).remotes
    assert (remotes[0], len(remotes) < 100) == ("h/o/n", True)


# --- names that are no text ----------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize(
    ("file", "text"),
    [
        pytest.param("HEAD", b"ref: refs/heads/\xff\xfe\n", id="branch"),
        pytest.param("config", b'[remote "origin"]\nurl = https://h\xff/o/n\n', id="remote"),
        pytest.param("config", b'[remote "origin"]\nurl = /a\xffb\n', id="path"),
    ],
)
def test_names_that_are_no_text_are_stored_as_such(
    plain: Path, visitor: Visitor, way: Callable[[Visitor, Path], None], file: str, text: bytes
) -> None:
    with (plain / ".git" / file).open("wb" if file == "HEAD" else "ab") as opened:
        opened.write(text)
    with suppress(ObserverError):
        way(visitor, plain)
    assert all("\udcff" not in text for text in visitor.stored())


def test_a_repository_whose_folder_is_no_text_counts_as_none(plain: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / os.fsdecode(b"\xff")
    (plain / ".git").rename(elsewhere)
    (plain / ".git").write_bytes(b"gitdir: " + os.fsencode(elsewhere) + b"\n")
    place = detect_place(str(plain))
    assert (place.root, place.git, place.marker) == (str(plain), False, ".git")


# --- commits that no git would make --------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(b"", id="none"),
        pytest.param(b"author A\ncommitter A\n", id="without-time"),
        pytest.param(b"author A <a> -5 +0000\ncommitter A <a> -5 +0000\n", id="negative"),
        pytest.param(b"author A\0 <a> 5 +0000\ncommitter A <a> 5 +0000\n", id="nul"),
        pytest.param(
            b"author A <a> 99999999999999999999999 +0000\n"
            b"committer A <a> 99999999999999999999999 +0000\n",
            id="huge",
        ),
    ],
)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_no_time_of_a_commit_is_in_the_way(
    plain: Path, visitor: Visitor, git: Git, header: bytes, way: Callable[[Visitor, Path], None]
) -> None:
    committed(plain, git, header, b"Odd\n")
    with suppress(ObserverError):
        way(visitor, plain)
    visitor.importing(plain)
    assert any("Change 2" in text for text in visitor.stored())


def test_a_huge_message_is_not_held_in_memory(plain: Path, git: Git) -> None:
    person = b"A <a@b> 1790000000 +0000\n"
    header = b"author " + person + b"committer " + person
    commit = committed(plain, git, header, b"Begin\n" + b"x" * (MANY_BYTES // 4))
    tracemalloc.start()
    found = read_commit(str(plain), commit)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (found.subject, [file.path for file in found.files]) == ("Begin", ["a.py"])
    assert peak < FEW_BYTES


def test_packed_refs_without_an_end_of_line_are_not_held_in_memory(plain: Path) -> None:
    assert read_first_line("/dev/zero") == "", "a device in place of a file is not read"
    (plain / ".git/HEAD").write_text("ref: refs/heads/packed\n")
    with (plain / ".git/packed-refs").open("wb") as file:
        file.truncate(MANY_BYTES)
    tracemalloc.start()
    place = detect_place(str(plain))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (place.branch, place.commit) == ("packed", "")
    assert peak < FEW_BYTES


def test_a_file_written_between_two_questions_has_origins(
    plain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = blame._lines
    monkeypatch.setattr(
        blame, "_lines", lambda *given: (read(*given) or [])[: 1 if "-C" in given else None]
    )
    origins = blame.blame_lines(str(plain), "a.py", first=1, last=2)
    assert sum(origin.lines for origin in origins) == 2


# --- pipes in the way of git's hooks -------------------------------------------------------------

POST = Path(__file__).parents[2] / "hooks/post"


@pytest.mark.parametrize(
    ("event", "name"), [("post-merge", "ORIG_HEAD"), ("post-merge", "rebase-merge/head-name")]
)
def test_a_pipe_does_not_hold_up_the_hook(
    plain: Path, visitor: Visitor, event: str, name: str
) -> None:
    path = plain / ".git" / name
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    environ = {**os.environ, "GIT_REFLOG_ACTION": "rebase (continue)"}
    done = subprocess.run(
        [POST, "git", event],
        cwd=plain,
        env=environ,
        stdin=subprocess.DEVNULL,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0
    visitor.pipeline.drain()
