"""A history becomes events that can be imported again and again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from observer.core.errors import NotFound
from observer.core.events import Commit, Event
from observer.git.log import count_commits
from observer.importers.source import commits

Git = Callable[..., str]


@pytest.fixture
def shop(tmp_path: Path, git: Git) -> Path:
    folder = tmp_path / "home/shop"
    git(folder, "init", "-q")
    for number in range(3):
        (folder / "a.py").write_text(f"x = {number}\n")
        git(folder, "add", "-A")
        when = f"{1_000_000_000 + number} +0000"
        git(folder, "commit", "-q", "-m", f"c{number}", GIT_COMMITTER_DATE=when)
    return folder


def ids(folder: Path) -> list[str]:
    return [event.id for event in commits(str(folder))]


def test_a_commit_becomes_an_event(shop: Path, git: Git) -> None:
    event = next(commits(str(shop / "gone")))
    head = git(shop, "rev-parse", "HEAD~2")
    assert isinstance(event.body, Commit)
    assert event == Event(
        id=event.id,
        at_ms=1_000_000_000_000,
        client="git",
        body=event.body,
        cwd=str(shop),
        route="history/git",
        dedup=f"commit:{head}",
        author="person",
    )
    assert (event.body.hash, event.body.subject, event.body.action) == (head, "c0", "import")


def test_a_second_import_and_clones_of_one_remote_tell_the_same_and_forks_do_not(
    shop: Path, git: Git
) -> None:
    assert list(commits(str(shop))) == list(commits(str(shop)))
    assert len(set(ids(shop))) == 3 == count_commits(str(shop))
    one, two, fork = (shop.parent / name for name in ("one", "two", "fork"))
    for folder in (one, two, fork):
        git(shop.parent, "clone", "-q", str(shop), folder.name)
    assert ids(one) == ids(two)
    git(fork, "remote", "set-url", "origin", "https://host/bo/shop")
    assert not set(ids(shop)) & set(ids(fork))


def test_a_folder_without_git_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        commits(str(tmp_path / "home"))
