"""What a session has committed, once git went back or replaced it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.events import Command, Commit, Rewrite
from observer.interpret import committed
from observer.interpret.summary import summarise

ONE, TWO, THREE, NEW = ("1" * 40, "2" * 40, "3" * 40, "a" * 40)
SAID = tuple(committed.said(f"Do {name}", name) for name in (ONE, TWO, THREE))


@pytest.mark.parametrize(
    ("pairs", "left"),
    [
        pytest.param((), SAID, id="none"),
        pytest.param(((TWO, THREE),), (SAID[0], SAID[2]), id="amended"),
        pytest.param(((THREE, NEW),), (*SAID[:2], committed.said(f"Do {THREE}", NEW)), id="moved"),
        pytest.param(
            ((TWO, NEW), (THREE, NEW)), (SAID[0], committed.said(f"Do {TWO}", NEW)), id="squashed"
        ),
    ],
)
def test_what_was_replaced_is_said_once_under_its_new_hash(
    pairs: tuple[tuple[str, str], ...], left: tuple[str, ...]
) -> None:
    assert committed.rewritten(SAID, pairs) == left


@pytest.mark.parametrize(
    ("to", "left"),
    [("~0", 3), ("~1", 2), ("~9", 0), (TWO[:7], 2), (TWO, 2), ("fffffff", 3), ("", 3)],
)
def test_what_git_went_back_behind_is_not_said(to: str, left: int) -> None:
    assert committed.behind(SAID, to) == SAID[:left]


AMENDED = Rewrite(reason="amend", pairs=((ONE, TWO),))
DROPPED = Command(
    command="git reset --hard HEAD~1", exit_code=0, output="HEAD is now at 0123456 Begin"
)


@pytest.mark.parametrize(
    ("later", "left"),
    [(AMENDED, "Say it better (2222222222)"), (DROPPED, "Say it (1111111111)")],
    ids=["amended", "dropped"],
)
def test_a_summary_says_what_is_left(tell: Callable[..., Any], later: Any, left: str) -> None:
    commits = (Commit(hash=ONE, subject="Say it"), Commit(hash=TWO, subject="Say it better"))
    item = summarise(tell(*commits, later).session)
    assert item
    assert item.summary
    assert item.summary.completed == f"Committed {left}."
