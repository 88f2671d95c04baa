"""A failure of git stays open until a later step of git makes it moot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.events import AnyBody, Checkout, Command, Commit, Rewrite
from observer.interpret.unfinished import unfinished

Tell = Callable[..., Any]

COMMIT = Commit(hash="1" * 40, subject="Merge topic", parents=("2" * 40, "3" * 40))
PICK = Commit(hash="1" * 40, subject="Add x", action="cherry-pick")
SWITCHED = Checkout(old="1" * 40, new="2" * 40, branch="feature")
REBASED = Rewrite(reason="rebase", pairs=(("1" * 40, "2" * 40),))


def ran(command: str, exit_code: int = 0) -> Command:
    output = "error: it did not work" if exit_code else ""
    return Command(command=command, output=output, exit_code=exit_code)


@pytest.mark.parametrize(
    ("failed", "step"),
    [
        ("git checkout feature", ran("git stash && git switch feature")),
        ("git switch feature", ran("git checkout -b feature origin/feature")),
        ("git checkout feature", SWITCHED),
        ("git merge topic", ran("git merge --abort")),
        ("git -C . merge topic", ran("git add a.py && git commit -m Merge")),
        ("git merge topic", COMMIT),
        ("git pull", ran("git fetch && git merge --ff-only origin/main")),
        ("git pull --rebase", ran("git stash; git pull --rebase; git stash pop")),
        ("git rebase main", ran("GIT_EDITOR=true git rebase --continue")),
        ("git rebase main", REBASED),
        ("git cherry-pick abc", PICK),
        ("git revert abc", ran("git reset --merge")),
        ("git commit -m x", ran("git add -A && git commit -m y")),
        ("git add gone.py", ran("git add src/gone.py && git commit -m x")),
        ("git push", ran("git push -u origin main")),
        ("git push origin main", ran("git push --force-with-lease origin main")),
    ],
)
def test_what_a_later_step_settles_is_not_left_open(tell: Tell, failed: str, step: AnyBody) -> None:
    assert unfinished(tell(ran(failed, 1)).session).failing
    assert not unfinished(tell(ran(failed, 1), step).session).failing


@pytest.mark.parametrize(
    ("failed", "step"),
    [
        ("git merge topic", ran("git status")),
        ("git merge topic", ran("git commit -m Merge", 1)),
        ("git push origin topic", ran("git push origin main")),
        ("git push", ran("git commit -m x")),
        ("git checkout -- a.py", ran("git checkout main")),
        ("git checkout feature", ran("git checkout -- a.py")),
        ("git pull", COMMIT),
        ("git rebase main", SWITCHED),
        ("git bisect run make", ran("git bisect reset")),
        ("git add -A && pytest", ran("git add -A")),
    ],
)
def test_what_no_step_settles_stays_open(tell: Tell, failed: str, step: AnyBody) -> None:
    left = unfinished(tell(ran(failed, 1), step).session).failing
    assert failed in [failing.command for failing in left]
