"""A switch of branch that both a hook of git and the agent's command report is one item."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.core.events import AnyBody, Checkout, Command, Event
from observer.core.filters import CAPTURED
from observer.ingest.pipeline import Pipeline
from observer.store.interface import Store

NOW_MS = 1_790_000_000_000
OLD, NEW = "a" * 40, "b" * 40
Tell = Callable[..., None]
Types = Callable[[], list[str]]


@pytest.fixture
def tell(pipeline: Pipeline, tmp_path: Path, git: Callable[..., str]) -> Tell:
    git(tmp_path / "shop", "init", "-q")
    ids = itertools.count()

    def tell(body: AnyBody, *, client: str = "claude-code", session: str = "one") -> None:
        number = next(ids)
        event = Event(
            id=f"e{number}",
            at_ms=NOW_MS + number * 1000,
            client=client,
            session=session,
            cwd=str(tmp_path / "shop"),
            author="person" if client == "bash" else "system",
            body=body,
        )
        pipeline.ingest([event])

    return tell


@pytest.fixture
def types(store: Store) -> Types:
    def types() -> list[str]:
        with store.read() as reader:
            return [item.type for item in reader.all_items() if item.kind in CAPTURED]

    return types


@pytest.mark.parametrize("session", ["one", ""], ids=["in the session", "outside"])
@pytest.mark.parametrize(
    "command",
    [
        "git checkout topic",
        "git switch topic",
        "git checkout -b topic",
        "git switch -c topic origin/main",
        "git checkout -",
        "git stash && git checkout topic",
        "cd /tmp && git checkout topic && git stash pop",
        "git fetch && git checkout topic && git pull",
        "git checkout main && git checkout topic",
    ],
)
def test_it_is_the_hooks(tell: Tell, types: Types, command: str, session: str) -> None:
    tell(Checkout(old=OLD, new=NEW, branch="topic"), session=session, client="git")
    tell(Command(command=command, output="Switched to branch 'topic'", exit_code=0))
    assert types() == ["checkout"]


def test_a_commit_that_was_checked_out_is_the_hooks(tell: Tell, types: Types) -> None:
    tell(Checkout(old=OLD, new=NEW))
    tell(Command(command="git checkout v1", output="HEAD is now at bbbbbbb", exit_code=0))
    assert types() == ["checkout"]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("git checkout other", id="another branch"),
        pytest.param("git checkout -- cart.py", id="files"),
        pytest.param("git checkout topic && git reset --hard HEAD~1", id="and more"),
        pytest.param("git checkout topic && pytest", id="and a check"),
        pytest.param("git stash", id="the stash alone"),
    ],
)
def test_what_the_hook_did_not_report_is_an_item(tell: Tell, types: Types, command: str) -> None:
    tell(Checkout(old=OLD, new=NEW, branch="topic"))
    tell(Command(command=command, output="= 3 passed in 0.10s =", exit_code=0))
    assert types() == ["checkout", "command"]


def test_a_switch_without_a_hook_is_an_item(tell: Tell, types: Types) -> None:
    tell(Command(command="git switch topic", exit_code=0))
    assert types() == ["command"]


def test_a_second_switch_without_a_hook_is_an_item(tell: Tell, types: Types) -> None:
    tell(Checkout(old=OLD, new=NEW, branch="topic"))
    tell(Command(command="git switch topic", exit_code=0))
    tell(Command(command="git switch topic", exit_code=0))
    assert types() == ["checkout", "command"]


def test_what_failed_is_an_item(tell: Tell, types: Types) -> None:
    tell(Checkout(old=OLD, new=NEW, branch="topic"))
    tell(Command(command="git switch topic", output="error: x", exit_code=1))
    assert types() == ["checkout", "command"]


def test_what_a_person_typed_is_kept(tell: Tell, types: Types) -> None:
    tell(Checkout(old=OLD, new=NEW, branch="topic"))
    tell(Command(command="git switch topic", exit_code=0), client="bash", session="b")
    assert types() == ["checkout", "command"]
