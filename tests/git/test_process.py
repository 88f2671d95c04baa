"""Starting git, by a process of ours and by GitPython, and its end."""

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
from observer.git import launch as launching
from observer.git import process, repository
from observer.git.launch import GitTimeout, absolute_entries, executable, launch
from observer.git.process import Blobs, git_at, git_output, repository_at, stream_lines
from observer.git.repository import run_as_user, user_setting
from tests.support import Git

Fake = Callable[[str], None]


@pytest.fixture
def shop(tmp_path: Path, git: Git) -> Path:
    git(tmp_path / "shop", "init", "-q")
    git(tmp_path / "shop", "commit", "-q", "--allow-empty", "-m", "first")
    return tmp_path / "shop"


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Put a script in the place of git, and forget at the end what did not answer."""
    monkeypatch.setattr(process, "_stalled", {})

    def put(script: str) -> None:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    return put


def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    given = launch.__kwdefaults__
    monkeypatch.setattr(launch, "__kwdefaults__", {**given, "wait_s": 0.5})


def test_git_is_the_first_in_an_absolute_folder(fake: Fake, tmp_path: Path) -> None:
    fake("")
    assert executable() == str(tmp_path / "bin/git")
    assert absolute_entries("a::/b:.:/c:") == "/b:/c"
    with pytest.raises(NotFound, match="install git"):
        executable(str(tmp_path))
    (tmp_path / "git").write_text("#!/bin/sh\n")
    (tmp_path / "git").chmod(0o755)
    assert executable(str(tmp_path)) == str(tmp_path / "git")


def test_a_git_that_cannot_be_started_says_so(shop: Path, fake: Fake) -> None:
    fake("")
    Path(executable()).write_bytes(b"\x7fELF no")
    with pytest.raises(NotFound, match="cannot run git"):
        git_output(str(shop), "version")
    with pytest.raises(NotFound, match="cannot run git"):
        user_setting("user.name")


@pytest.mark.measured
def test_what_does_not_answer_is_left_alone_for_a_while(shop: Path, fake: Fake) -> None:
    fake("exec sleep 600")
    with pytest.raises(NotFound, match="does not answer"):
        git_output(str(shop), "rev-parse", "HEAD", wait_s=0.2)
    process._stall(str(shop), GitTimeout("no answer"))
    for attempt in (
        git_output,
        lambda root, word: next(stream_lines(root, (word,), record=b"\0", fields=0)),
    ):
        with pytest.raises(NotFound, match="did not answer"):
            attempt(str(shop), "log")


@pytest.mark.measured
def test_lines_that_do_not_come_are_not_waited_for(
    shop: Path, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake("echo one; exec sleep 600")
    impatient(monkeypatch)
    lines = stream_lines(str(shop), ("log",), record=b"\0", fields=0)
    assert next(lines) == b"one\n"
    with pytest.raises(NotFound, match="does not answer"):
        next(lines)


@pytest.mark.measured
def test_a_git_that_does_not_end_is_ended(shop: Path, fake: Fake) -> None:
    fake("exec >&-; exec sleep 600")
    with pytest.raises(NotFound, match="no end within"):
        git_output(str(shop), "log", wait_s=0.5)


def test_an_endless_answer_ends(shop: Path, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    fake("exec yes")
    monkeypatch.setattr(launching, "ANSWER_BYTES", 100_000)
    with pytest.raises(NotFound, match="too long"):
        git_output(str(shop), "log")


@pytest.mark.measured
def test_texts_of_a_git_that_does_not_answer_are_none(
    shop: Path, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake("exec sleep 600")
    impatient(monkeypatch)
    with Blobs(str(shop)) as blobs:
        assert [blobs.get("HEAD"), blobs.get("HEAD")] == [None, None]


def test_our_environment_is_not_gits(
    shop: Path, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake("cat; env")
    monkeypatch.setenv("GIT_ASKPASS", "/bin/true")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    answer = (git_output(str(shop), "log") or "").split("\n")
    assert f"GIT_DIR={shop}/.git" in answer
    assert not [line for line in answer if "ASKPASS" in line or "elsewhere" in line]
    assert {"LC_ALL=C", "GIT_TERMINAL_PROMPT=0"} <= {*answer}


def test_the_users_configuration_is_asked_by_what_runs_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="may run"):
        run_as_user(("status",), folder="/", environ=os.environ)
    done = run_as_user(("config", "-l"), folder=str(tmp_path / "gone"), environ=os.environ)
    assert b"gone': No such file" in done.stderr


@pytest.mark.measured
def test_a_configuration_that_is_not_read_in_time(fake: Fake) -> None:
    fake("exec sleep 600")
    with pytest.raises(NotFound, match="does not answer"):
        run_as_user(("config", "-l"), folder="/", environ=os.environ, wait_s=0.2)


def test_the_users_setting_is_asked_of_the_user_alone(shop: Path, git: Git) -> None:
    git(shop, "config", "core.excludesFile", "/evil")
    assert user_setting("core.excludesFile") == []
    git(shop, "config", "--global", "core.excludesFile", "~/mine")
    expected = os.path.expanduser("~/mine")  # noqa: PTH111 - as git does
    assert user_setting("core.excludesFile", "--type=path") == [expected]
    with pytest.raises(NotFound, match="no such"):
        git_at(str(shop))(("log", "a\0b"))


def test_where_there_is_no_repository(tmp_path: Path) -> None:
    assert git_output(str(tmp_path), "rev-parse", "HEAD") is None
    for root in (str(tmp_path), "", "\0"):
        with pytest.raises(NotFound):
            repository_at(root)
    with Blobs(str(tmp_path)) as blobs:
        assert blobs.get("HEAD") is None


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


@pytest.mark.parametrize("name", ["$HOME", "~", "%PATH%"])
def test_a_folder_is_named_as_it_is(tmp_path: Path, git: Git, name: str) -> None:
    git(tmp_path / name, "init", "-q")
    assert git_output(str(tmp_path / name), "rev-parse", "--show-toplevel") == str(tmp_path / name)


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_objects_are_read_whatever_their_ids_are(tmp_path: Path, git: Git, kind: str) -> None:
    git(tmp_path, "init", "-q", f"--object-format={kind}")
    name = git(tmp_path, "hash-object", "-w", "--stdin", stdin=b"text")
    empty = git(tmp_path, "hash-object", "-w", "--stdin", stdin=b"")
    with Blobs(str(tmp_path)) as blobs:
        assert [blobs.get(one) for one in (name, empty, name)] == [
            (name, "blob", b"text"),
            (empty, "blob", b""),
            (name, "blob", b"text"),
        ]


def test_a_git_that_nobody_waits_for_ends() -> None:
    words = ("hash-object", "--stdin")
    started = launch(words, environ=os.environ, reads=subprocess.PIPE)
    process = started._process
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
