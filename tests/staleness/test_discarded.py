"""What is said of an edit that git took back before a commit had it."""

from __future__ import annotations

import pytest

from observer.core.events import Command
from observer.core.model import Validity

from .conftest import LOGIN, Story

OTHER = LOGIN.replace("user.check(os.environ)", "user.check_twice(os.environ)")
LATER = LOGIN.replace("user.leave()", "user.leave(now=True)")


def ran(story: Story, *commands: str, session: str = "s") -> None:
    for command in commands:
        story.git(*command.split())
        story.tell(Command(command=f"git {command}", exit_code=0), session=session)


@pytest.mark.parametrize("is_seen", [True, False], ids=["seen before", "seen after"])
@pytest.mark.parametrize("session", ["s", "of a shell", ""], ids=["agent", "person", "nobody"])
@pytest.mark.parametrize(
    "commands",
    [
        pytest.param(["checkout -- ."], id="checkout"),
        pytest.param(["checkout auth.py"], id="checkout of a file"),
        pytest.param(["restore ."], id="restore"),
        pytest.param(["reset --hard"], id="reset"),
        pytest.param(["stash", "stash drop"], id="stash"),
    ],
)
def test_it_is_reverted(story: Story, commands: list[str], *, session: str, is_seen: bool) -> None:
    story.commit(auth__py=LOGIN)
    written = story.wrote("auth.py", OTHER)
    assert not is_seen or story.said(written) == []
    ran(story, *commands, session=session)
    assert story.reasons(written) == ["reverted"]


def test_a_later_commit_of_the_file_is_not_its_own(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    written = story.wrote("auth.py", OTHER)
    ran(story, "checkout -- .")
    again = story.wrote("auth.py", LATER)
    story.commit()
    assert (story.reasons(written), story.reasons(again)) == (["reverted"], [])
    story.commit(auth__py=OTHER)
    assert (story.reasons(written), story.reasons(again)) == (["reverted"], ["changed"])


def test_on_another_branch_it_is_reverted_too(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    story.git("checkout", "-b", "topic")
    written = story.wrote("auth.py", OTHER)
    ran(story, "restore .")
    story.git("checkout", "main")
    assert story.reasons(written) == ["reverted"]


@pytest.mark.parametrize(
    "command", ["checkout -- other.py", "stash", "restore --staged auth.py", "stash list"]
)
def test_what_was_not_discarded_is_not_reverted(story: Story, command: str) -> None:
    story.commit(auth__py=LOGIN, other__py="x = 1\n")
    written = story.wrote("auth.py", OTHER)
    ran(story, command)
    assert story.said(written) == []


def test_what_a_commit_had_before_is_not_reverted(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    written = story.wrote("auth.py", OTHER)
    story.commit()  # which nothing reported
    ran(story, "checkout -- .")
    assert story.said(written) == []


def test_what_is_written_after_it_stands_by_itself(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    written = story.wrote("auth.py", OTHER)
    ran(story, "checkout -- .", session="of a shell")
    again = story.wrote("auth.py", OTHER)
    assert again != written
    assert (story.reasons(written), story.reasons(again)) == (["reverted"], [])


def test_a_rebuild_says_the_same(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    written = story.wrote("auth.py", OTHER)
    story.keep()
    ran(story, "checkout -- .")
    story.wrote("auth.py", LATER)
    story.commit()
    before: list[Validity] = story.said(written)
    story.rebuild()
    assert story.said(written) == before != []


@pytest.mark.parametrize("is_seen", [True, False], ids=["seen before", "seen after"])
@pytest.mark.parametrize("is_shown", [True, False], ids=["reported", "not reported"])
@pytest.mark.parametrize("is_back", [True, False], ids=["picked back", "gone"])
def test_what_is_picked_back_is_not_reverted(
    story: Story, *, is_seen: bool, is_shown: bool, is_back: bool
) -> None:
    base = story.commit(auth__py=LOGIN)
    story.shown_commit(base)
    written = story.wrote("auth.py", OTHER)
    topic = story.commit("Check twice")
    assert not is_shown or story.shown_commit(topic)
    assert not is_seen or story.said(written) == []
    ran(story, f"reset --hard {base}")
    story.commit("Say more", readme__md="x\n")
    if is_back:
        ran(story, f"cherry-pick {topic}")
    assert bool(story.said(written)) != is_back
