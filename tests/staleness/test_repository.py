"""What following asks of a repository."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from observer.staleness.history_walk import MOST_NAMED, RepositoryView

Git = Callable[..., str]


@pytest.mark.parametrize("more", [0, MOST_NAMED], ids=["a few", "many"])
def test_a_commit_holds_what_led_to_it_and_nothing_else(
    tmp_path: Path, git: Git, more: int
) -> None:
    git(tmp_path, "init")
    for message in ("one", "two", "three"):
        git(tmp_path, "commit", "--allow-empty", "-m", message)
    one, two, three = git(tmp_path, "rev-list", "--reverse", "HEAD").split()
    unknown = {f"{number:040x}" for number in range(1, 2 + more)}
    with RepositoryView(str(tmp_path)) as repository:
        assert repository.held({one, two, three, *unknown}, by=two) == {one, two}
        assert repository.held(unknown, by=two) == set()
