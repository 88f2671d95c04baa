"""A share in a git repository: whose it may be, and that nothing in it runs or is forced."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from observer.core.errors import BadInput, ShareUnavailable
from observer.sync import carriers
from observer.sync.folder import FolderCarrier
from tests.sync.conftest import a_chain


def git(folder: Path, *words: str) -> str:
    settings = ("-c", "user.name=Ana", "-c", "user.email=ana@example.com")
    command = ["git", "-C", str(folder), *settings, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "--bare", "share.git")
    return tmp_path / "share.git"


@pytest.fixture
def ana(bare: Path, tmp_path: Path) -> FolderCarrier:
    return carriers.create_share(str(bare), tmp_path / "ana", person="Ana")


def test_a_repository_of_code_is_made_no_share(bare: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main", "code")
    git(tmp_path / "code", "commit", "--quiet", "--allow-empty", "-m", "Begin")
    git(tmp_path / "code", "push", "--quiet", str(bare), "main")
    with pytest.raises(BadInput, match="not empty: it holds refs/heads/main"):
        carriers.create_share(str(bare), tmp_path / "ana", person="Ana")


def test_a_repository_out_of_reach_is_named_and_starts_no_program(tmp_path: Path) -> None:
    with pytest.raises(ShareUnavailable, match=r"nowhere.git.*git ls-remote"):
        carriers.open_carrier(str(tmp_path / "nowhere.git"), tmp_path / "ana")
    with pytest.raises(ShareUnavailable, match="not allowed"):
        carriers.open_carrier(f"ext::sh -c touch% {tmp_path}/ran .git", tmp_path / "ana")
    assert not (tmp_path / "ran").exists()


def test_what_is_pushed_stays(ana: FolderCarrier, bare: Path, tmp_path: Path) -> None:
    first = git(bare, "rev-parse", "observer")
    ben = carriers.join_share(str(bare), tmp_path / "ben", ana.invite("Ben"))
    bare.rename(tmp_path / "away")
    with pytest.raises(ShareUnavailable):
        ana.push(a_chain("a", 2))
    (tmp_path / "away").rename(bare)
    ana.push(a_chain("a", 2))
    assert ben.pull({}, limit=10)[:2] == (a_chain("a", 2), [])
    ben.push(a_chain("b", 2))
    git(bare, "merge-base", "--is-ancestor", first, "observer")
    changes = git(bare, "log", "--format=", "--name-status", "observer", "--", "segments")
    assert {line[0] for line in changes.splitlines()} == {"A"}
    ben.leave()
    assert not list((tmp_path / "ben").rglob("*.clone"))
    assert [person for _, person in ana.members()] == ["Ana"]


@pytest.mark.parametrize(
    ("url", "is_git"),
    [
        ("git@example.com:ana/memory", True),
        ("https://example.com/ana/memory", True),
        ("ssh://example.com/ana/memory", True),
        ("/srv/memory.git", True),
        ("/home/ana/Sync/memory", False),
        ("~/Sync/memory", False),
    ],
)
def test_an_address_says_whether_git_carries_it(url: str, *, is_git: bool) -> None:
    assert carriers.is_git(url) == is_git
