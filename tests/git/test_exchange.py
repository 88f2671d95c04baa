"""Files exchanged with a remote repository: together without a conflict, and never forced."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from observer.core.errors import ShareUnavailable
from observer.git.exchange import Exchange

COMMIT = "git -c user.name=x -c user.email=x commit-tree -m x -p observer observer^{tree}"


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    url = tmp_path / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(url)], check=True)
    return url


@pytest.fixture
def ana(remote: Path, tmp_path: Path) -> Exchange:
    return Exchange(tmp_path / "ana", str(remote), final="once/")


@pytest.fixture
def ben(remote: Path, tmp_path: Path, ana: Exchange) -> Exchange:
    (tmp_path / "ana" / "first").write_text("1")
    ana.send()
    ben = Exchange(tmp_path / "ben", str(remote), final="once/")
    ben.bring()
    return ben


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".git"}


def hook(remote: Path, name: str, script: str) -> None:
    path = remote / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_nothing_is_exchanged_with_an_empty_remote(ana: Exchange) -> None:
    ana.bring()
    ana.send()
    assert ana.refs() == {}


def test_what_both_added_comes_together_in_spite_of_a_lock_left_by_a_killed_git(
    ana: Exchange, ben: Exchange, tmp_path: Path, remote: Path
) -> None:
    (tmp_path / "ana" / "second").write_text("2")
    ana.send()
    assert ben.is_news()
    ben.bring()
    assert not ben.is_news()
    assert files(tmp_path / "ben") == {"first", "second"}
    (tmp_path / "ana" / "of-ana").write_text("a")
    ana.send()
    (tmp_path / "ben" / "of-ben").write_text("b")
    (tmp_path / "ben" / "first").unlink()
    ben.send()
    ana.bring()
    assert files(tmp_path / "ana") == files(tmp_path / "ben") == {"of-ana", "of-ben", "second"}
    (tmp_path / "ana" / ".git" / "index.lock").touch()
    again = Exchange(tmp_path / "ana", str(remote), final="once/")
    (tmp_path / "ana" / "third").write_text("3")
    again.bring()
    again.send()
    assert ben.is_news()


def test_two_that_began_apart_come_together(ana: Exchange, remote: Path, tmp_path: Path) -> None:
    ben = Exchange(tmp_path / "ben", str(remote), final="once/")
    (tmp_path / "ben" / "of-ben").write_text("b")
    ben.send()
    (tmp_path / "ana" / "of-ana").write_text("a")
    ana.send()
    assert files(tmp_path / "ana") == {"of-ana", "of-ben"}


def test_a_closed_remote_is_named(ben: Exchange, remote: Path, tmp_path: Path) -> None:
    hook(remote, "pre-receive", "exit 1")
    (tmp_path / "ben" / "second").write_text("2")
    with pytest.raises(ShareUnavailable, match="git cannot push"):
        ben.send()


def test_it_is_given_up_after_a_while(ben: Exchange, remote: Path, tmp_path: Path) -> None:
    hook(remote, "update", f"git update-ref refs/heads/observer $({COMMIT}); exit 1")
    (tmp_path / "ben" / "second").write_text("2")
    with pytest.raises(ShareUnavailable, match=r"push to .* all the time"):
        ben.send()


def test_another_branch_is_not_ours(ana: Exchange, ben: Exchange, remote: Path) -> None:
    subprocess.run(["git", "-C", str(remote), "branch", "main", "observer"], check=True)
    with pytest.raises(ShareUnavailable, match="holds refs/heads/main"):
        ana.bring()


def test_who_does_not_answer_is_not_waited_for(remote: Path, tmp_path: Path) -> None:
    with pytest.raises(ShareUnavailable, match="does not answer"):
        Exchange(tmp_path / "ana", str(remote), final="", wait_s=0.0)


def test_what_a_remote_holds_does_nothing(ben: Exchange, tmp_path: Path) -> None:
    clone = tmp_path / "evil"
    git = ["git", "-c", "user.name=x", "-c", "user.email=x"]
    url = str(tmp_path / "remote.git")
    subprocess.run([*git, "clone", "-q", "-b", "observer", url, str(clone)], check=True)
    (clone / "link").symlink_to("/etc/passwd")
    (clone / ".gitattributes").write_text("* text eol=crlf ident\n")
    (clone / "lines").write_text("$Id$\n")
    subprocess.run([*git, "-C", str(clone), "add", "-A"], check=True)
    subprocess.run([*git, "-C", str(clone), "commit", "-q", "-m", "x"], check=True)
    subprocess.run([*git, "-C", str(clone), "push", "-q", "origin", "observer"], check=True)
    ben.bring()
    assert (tmp_path / "ben" / "lines").read_bytes() == b"$Id$\n"
    assert (tmp_path / "ben" / "link").read_text() == "/etc/passwd"
    assert not (tmp_path / "ben" / "link").is_symlink()
