"""What a session leaves to the next one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    Edit,
    FileChange,
    FileWrite,
    Prompt,
    Reply,
    SessionEnd,
    ToolUse,
)
from observer.observations import session_commits, todos
from observer.observations.session_state import decode

Feed = Callable[..., Any]

RED = Command(
    command="pytest -q",
    output="FAILED tests/test_cart.py::test_total - assert 0 == 5\n1 failed in 0.10s",
    exit_code=1,
)
GREEN = Command(command="pytest -q", output="1 passed in 0.10s", exit_code=0)


def save(path: str) -> FileWrite:
    return FileWrite(path=path, edits=(Edit(new="x = 1\n"),), tool="Edit")


def commit(*paths: str) -> Commit:
    return Commit(hash="abc", subject="x", files=tuple(FileChange(path=path) for path in paths))


def test_an_interrupted_session_leaves_all_that_is_needed_to_go_on(feed: Feed) -> None:
    left = decode(
        feed(
            Prompt(text="make the total right"),
            save("a.py"),
            save("cart.py"),
            RED,
            save("cart.py"),
            ToolUse(tool="TodoWrite", input='{"todos": [{"content": "round the total"}]}'),
            commit("a.py"),
        ).session.state
    )
    assert session_commits.open_files(left) == ("cart.py",)
    assert todos.steps_of(left) == ("round the total",)


@pytest.mark.parametrize(
    "bodies",
    [
        pytest.param((Prompt(text="why?"), Reply(text="Because of rounding.")), id="a question"),
        pytest.param((RED, GREEN), id="green again"),
        pytest.param((save("a.py"), commit("a.py"), SessionEnd()), id="committed"),
    ],
)
def test_work_that_is_done_leaves_nothing_open(feed: Feed, bodies: tuple[AnyBody, ...]) -> None:
    left = decode(feed(*bodies).session.state)
    assert session_commits.open_files(left) == todos.steps_of(left) == ()


@pytest.mark.parametrize(
    ("command", "dirty"),
    [
        pytest.param("git restore a.py", ("new.py", "src/b.py"), id="a file"),
        pytest.param("git checkout -- src", ("new.py", "a.py"), id="a folder"),
        pytest.param("git reset --hard", ("new.py",), id="all that git knows"),
        pytest.param("git clean -f", ("src/b.py", "a.py"), id="what it does not know"),
        pytest.param("git stash", ("new.py", "src/b.py", "a.py"), id="set aside is not done"),
    ],
)
def test_what_git_took_back_is_not_left(feed: Feed, command: str, dirty: tuple[str, ...]) -> None:
    new = FileWrite(path="new.py", operation="create", content="x")
    fed = feed(save("a.py"), save("src/b.py"), new, Command(command=command, exit_code=0))
    assert session_commits.open_files(decode(fed.session.state)) == dirty


@pytest.mark.parametrize("code", [0, 1])
def test_that_a_command_committed_is_for_git_to_say(feed: Feed, code: int) -> None:
    asked = Command(command="git add -A && git commit -m x && git push", exit_code=code)
    assert session_commits.open_files(decode(feed(save("a.py"), asked).session.state)) == ("a.py",)


@pytest.mark.parametrize("left", [(), ("a.py",), ("b.py",), ("a.py", "b.py")])
def test_what_git_says_at_the_end_holds_both_ways(feed: Feed, left: tuple[str, ...]) -> None:
    taken = Commit(hash="a" * 40, subject="Say it", files=(FileChange(path="a.py"),))
    fed = feed(save("a.py"), save("b.py"), taken, SessionEnd(uncommitted=left))
    assert sorted(session_commits.open_files(decode(fed.session.state))) == list(left)


def test_a_file_that_changed_after_it_was_added_is_left(feed: Feed) -> None:
    add, take = (Command(command=f"git {verb}", exit_code=0) for verb in ("add .", "commit -m x"))
    assert session_commits.open_files(
        decode(feed(save("a.py"), add, save("a.py"), take).session.state)
    ) == ("a.py",)


def test_a_new_file_is_gits_once_it_is_committed(feed: Feed) -> None:
    new = FileWrite(path="new.py", operation="create", content="x")
    restore = Command(command="git restore .", exit_code=0)
    fed = feed(new, commit("new.py"), save("new.py"), restore)
    assert session_commits.open_files(decode(fed.session.state)) == ()
