"""What a session has committed, once git went back or replaced it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.core.events import (
    Command,
    Commit,
    Edit,
    FileChange,
    FileWrite,
    Prompt,
    SessionEnd,
    ToolUse,
)
from observer.observations import session_commits, session_state

ONE, TWO, THREE, NEW = ("1" * 40, "2" * 40, "3" * 40, "a" * 40)
SAID = tuple(session_commits.commit_text(f"Do {name}", name) for name in (ONE, TWO, THREE))


@pytest.mark.parametrize(
    ("pairs", "left"),
    [
        pytest.param((), SAID, id="none"),
        pytest.param(((TWO, ""),), (SAID[0], SAID[2]), id="taken back"),
        pytest.param(((TWO, THREE),), (SAID[0], SAID[2]), id="amended"),
        pytest.param(
            ((THREE, NEW),),
            (*SAID[:2], session_commits.commit_text(f"Do {THREE}", NEW)),
            id="moved",
        ),
        pytest.param(
            ((TWO, NEW), (THREE, NEW)),
            (SAID[0], session_commits.commit_text(f"Do {TWO}", NEW)),
            id="squashed",
        ),
    ],
)
def test_what_was_replaced_is_said_once_under_its_new_hash(
    pairs: tuple[tuple[str, str], ...], left: tuple[str, ...]
) -> None:
    assert session_commits.with_rewritten(SAID, dict(pairs)) == left


WRITE = FileWrite(path="a.py", edits=(Edit(old="a", new="b"),))
NEW = FileWrite(path="new.py", operation="create", content="x")
OTHER = FileWrite(path="b.py", edits=(Edit(old="a", new="b"),))


@pytest.mark.parametrize(
    ("steps", "there", "aside"),
    [
        pytest.param((WRITE, "git stash", OTHER), "b.py", "a.py", id="new work"),
        pytest.param(
            (WRITE, "git stash", OTHER, "git stash", "git stash pop"),
            "b.py",
            "a.py",
            id="the newest comes back",
        ),
        pytest.param(
            (WRITE, "git stash", OTHER, "git stash", "git stash pop stash@{1}"),
            "a.py",
            "b.py",
            id="an older one comes back",
        ),
        pytest.param(
            (WRITE, "git stash", OTHER, "git stash", "git stash drop"), "", "a.py", id="drop"
        ),
        pytest.param((WRITE, "git stash", OTHER, "git stash", "git stash clear"), "", "", id="all"),
        pytest.param(
            (WRITE, "git stash", "git stash apply", "git stash drop"), "a.py", "", id="copied"
        ),
        pytest.param((WRITE, "git stash pop"), "a.py", "", id="nothing was there"),
        pytest.param((WRITE, "git stash", "git stash drop 3"), "", "a.py", id="another's"),
        pytest.param((NEW, "git stash"), "new.py", "", id="git does not know it"),
        pytest.param((NEW, "git stash -u"), "", "new.py", id="new files too"),
        pytest.param((WRITE, "git stash save 'Try it'"), "", "a.py", id="in old words"),
        pytest.param((WRITE, "git stash", "git stash branch x"), "a.py", "", id="branch"),
    ],
)
def test_what_is_in_the_stash_is_not_in_the_tree(
    feed: Callable[..., Any], steps: tuple[FileWrite | str, ...], there: str, aside: str
) -> None:
    bodies = (Command(command=one, exit_code=0) if isinstance(one, str) else one for one in steps)
    files = session_state.decode(feed(*bodies).session.state).files
    dirty = {path: file.is_stashed for path, file in files.items() if file.is_dirty}
    assert [path for path, is_stashed in dirty.items() if not is_stashed] == there.split()
    assert [path for path, is_stashed in dirty.items() if is_stashed] == aside.split()


@pytest.mark.parametrize(
    ("asked", "printed", "known"),
    [
        pytest.param("gh pr create", "https://github.com/ana/shop/pull/7\n", True, id="github"),
        pytest.param(
            "git push", "remote:  https://gitlab.com/a/b/c/-/merge_requests/7", True, id="gitlab"
        ),
        pytest.param("{}", '"html_url":"https://git.x.org/ana/shop/pulls/7"', True, id="a tool"),
        pytest.param("gh pr view 7", "https://github.com/ana/shop/pull/7", False, id="by number"),
        pytest.param(
            "gh pr list", "https://github.com/a/b/pull/7 https://github.com/a/b/pull/8", False,
            id="several",
        ),
        pytest.param("git push", "https://github.com/a/b/pull/new/topic", False, id="none yet"),
        pytest.param("git push", "Everything up-to-date", False, id="nothing"),
    ],
)  # fmt: skip
def test_the_pull_request_of_a_branch_is_the_only_one_printed(
    asked: str, printed: str, known: bool
) -> None:
    state = session_commits.with_pull(session_state.SessionState(), "topic", asked, printed)
    assert ([url.endswith("/7") for url in state.pulls.values()] == [True]) is known
    assert set(state.pulls) == ({"topic"} if known else set())


CLEAN = "nothing to commit, working tree clean"
MADE = "[topic 0123abc] Round the total\n 1 file changed, 2 insertions(+)\n"


def asked_git(command: str, output: str) -> Command:
    return Command(command=command, output=output, exit_code=0)


@pytest.mark.parametrize(
    ("ran", "left"),
    [
        pytest.param(asked_git("git add a.py && git commit -qm x", ""), 2, id="nothing printed"),
        pytest.param(asked_git("git add a.py && git commit -m x", MADE), 1, id="what was added"),
        pytest.param(asked_git("git commit -m x", MADE), 2, id="of two files one"),
        pytest.param(asked_git("git commit -am x", MADE), 0, id="all"),
        pytest.param(asked_git("boxed git add a.py && boxed git commit", MADE), 1, id="wrapped"),
        pytest.param(asked_git("boxed -- git commit -am x", MADE), 0, id="wrapped, all"),
        pytest.param(asked_git("g commit -am x", MADE), 0, id="by another name"),
        pytest.param(asked_git("./release.sh", MADE), 2, id="by a script one of two"),
        pytest.param(asked_git("./ship", MADE.replace("1 f", "2 f")), 0, id="by a script"),
        pytest.param(
            asked_git("git commit -am x | head -1", MADE.split("\n", maxsplit=1)[0]),
            0,
            id="without a count",
        ),
        pytest.param(asked_git("./serve .", "[worker 1234567] up\n"), 2, id="a log's line"),
        pytest.param(asked_git("cat log.txt", MADE.replace("1 f", "2 f")), 2, id="in a file"),
        pytest.param(asked_git("git commit -m x", MADE.replace("1 f", "2 f")), 0, id="as many"),
        pytest.param(asked_git("git status", f"On branch main\n{CLEAN}\n"), 0, id="clean"),
        pytest.param(asked_git("git status src", " M b.py\n"), 2, id="of a folder"),
        pytest.param(asked_git("git status src", f"{CLEAN}\n"), 2, id="a clean folder"),
        pytest.param(asked_git("git status -sb", "## main\n M b.py\n"), 1, id="a short list"),
        pytest.param(asked_git("git status", "On x\n\tmodified:   b.py\n"), 1, id="a long list"),
        pytest.param(asked_git("git status --short", ""), 0, id="an empty list"),
        pytest.param(asked_git("git status", "Modified: 2\n   b.py\n   ... 1 more"), 2, id="cut"),
        pytest.param(asked_git("git status; git diff", " M b.py\n"), 2, id="beside others"),
    ],
)
def test_what_git_printed_is_believed(feed: Callable[..., Any], ran: Command, left: int) -> None:
    known = session_state.decode(feed(WRITE, OTHER, ran).session.state)
    assert len(session_commits.open_files(known)) == left


@pytest.mark.parametrize(("what", "left"), [("a.py", ("b.py",)), ("-A", ())])
def test_what_was_added_before_is_in_the_commit(
    feed: Callable[..., Any], what: str, left: tuple[str, ...]
) -> None:
    steps = (asked_git(f"git add {what}", ""), asked_git("git commit -m x", MADE))
    known = session_state.decode(feed(WRITE, OTHER, *steps).session.state)
    assert session_commits.open_files(known) == left


def test_what_another_clone_committed_is_not_open_at_the_end(feed: Callable[..., Any]) -> None:
    fed = feed(WRITE, asked_git("git commit -am x", MADE), SessionEnd(uncommitted=("a.py",)))
    known = session_state.decode(fed.session.state)
    assert (session_commits.open_files(known), known.files["a.py"].printed) == ((), "topic")


def test_a_commit_that_was_reported_is_here(feed: Callable[..., Any]) -> None:
    made = Commit(hash=ONE, subject="x", files=(FileChange(path="a.py"),))
    known = session_state.decode(
        feed(WRITE, asked_git("git commit -am x", MADE), made).session.state
    )
    assert known.files["a.py"].printed == ""


def test_what_git_lists_is_open_though_a_commit_seemed_to_hold_it(feed: Callable[..., Any]) -> None:
    made = Commit(hash=ONE, subject="x", files=(FileChange(path="a.py"),))
    listed = asked_git("git status --short", " M a.py\n")
    known = session_state.decode(feed(WRITE, made, listed).session.state)
    assert session_commits.open_files(known) == ("a.py",)


def test_a_commit_counts_the_lines_of_what_a_command_changed(feed: Callable[..., Any]) -> None:
    change = FileChange(path="a.py", added=46, removed=1, symbols=("total",))
    made = Commit(hash=ONE, subject="x", files=(change, FileChange(path="b.py", added=9)))
    ran = asked_git("sed -i 's/a/b/' a.py /tmp/x.py", "")
    files = session_state.decode(feed(WRITE, ran, OTHER, made).session.state).files
    assert (files["a.py"].added, files["a.py"].removed, files["a.py"].is_counted) == (46, 1, True)
    assert (files["b.py"].added, "/tmp/x.py" in files) == (1, False)


def test_a_commit_that_was_only_printed_is_the_sessions_and_its_turns(
    feed: Callable[..., Any],
) -> None:
    fed = feed(Prompt(text="go on"), WRITE, asked_git("git commit -am x", MADE))
    known = session_state.decode(fed.session.state)
    assert known.commits == ("Round the total (0123abc)",)
    assert known.turn is not None
    assert known.turn.commits == ("Round the total",)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_commit_that_git_printed_and_reported_is_one(
    feed: Callable[..., Any], is_first: bool
) -> None:
    commit = "0123abc" + "d" * 33
    printed = asked_git("git commit -am x", MADE)
    reported = Commit(hash=commit, subject="Round the total", files=(FileChange(path="a.py"),))
    fed = feed(WRITE, *((printed, reported) if is_first else (reported, printed)))
    known = session_state.decode(fed.session.state)
    assert known.commits == ("Round the total (0123abcddd)",)


def test_what_a_task_in_the_background_committed_is_not_open(feed: Callable[..., Any]) -> None:
    known = session_state.decode(feed(WRITE, ToolUse(tool="BashOutput", output=MADE)).session.state)
    assert (session_commits.open_files(known), known.files["a.py"].printed) == ((), "topic")


def test_what_git_lists_no_longer_is_committed_where_it_was_asked(
    feed: Callable[..., Any],
) -> None:
    fed = feed(WRITE, asked_git("git status", f"On branch main\n{CLEAN}\n"))
    assert session_state.decode(fed.session.state).files["a.py"].printed == "main"
