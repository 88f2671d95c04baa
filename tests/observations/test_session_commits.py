"""What git commands do to work that is there, and what a session has committed after them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from observer.commands import command_line
from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    Delegation,
    Edit,
    FileChange,
    FileWrite,
    Prompt,
    SessionEnd,
    ToolUse,
)
from observer.observations import session_commits, session_state
from observer.observations.session_commits import GitOperation, OperationKind

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
ALL = ("b.py", "a.py")


def pull_of(*calls: Command | ToolUse) -> tuple[dict[str, str], str]:
    """Return the pull requests by branch, and the title, that a session has after some calls."""
    state = session_state.SessionState()
    for call in calls:
        state = session_commits.with_pull(state, "topic", call)
    return state.pulls, state.pull


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
            "gh pr list", "https://g.de/a/b/pull/7 https://g.de/a/b/pull/8", False, id="2"
        ),
        pytest.param("git push", "https://github.com/a/b/pull/new/topic", False, id="none yet"),
        pytest.param("git push", "Everything up-to-date", False, id="nothing"),
    ],
)
def test_the_pull_request_of_a_branch_is_the_only_one_printed(
    asked: str, printed: str, known: bool
) -> None:
    pulls, _ = pull_of(Command(command=asked, output=printed))
    assert [(branch, url[-2:]) for branch, url in pulls.items()] == [("topic", "/7")] * known


OPENED = Command(command='gh pr create -b x --title "Round it"')
SEEN = Command(command="gh pr view 7", output="title:\tRound totals\n")


@pytest.mark.parametrize(
    ("calls", "title"),
    [
        pytest.param((OPENED,), "Round it", id="opened"),
        pytest.param((OPENED, SEEN), "Round it", id="seen after"),
        pytest.param((SEEN,), "", id="seen"),
        pytest.param((Command(command="gh pr edit --title='Round'"),), "Round", id="anew"),
        pytest.param((Command(command="gh pr create --fill"),), "", id="not-given"),
        pytest.param((Command(command="gh pr list"),), "", id="a-list"),
        pytest.param(
            (ToolUse(tool="create_pull_request", input='{"title": "x"}', failed=True),),
            "",
            id="failed",
        ),
        pytest.param(
            (ToolUse(tool="mcp__github__create_pull_request", input='{"title": "Round it"}'),),
            "Round it",
            id="a-tool",
        ),
        pytest.param((ToolUse(tool="page_click", input='{"title": "Round it"}'),), "", id="other"),
    ],
)
def test_the_title_of_a_pull_request_is_given(
    calls: tuple[Command | ToolUse, ...], title: str
) -> None:
    assert pull_of(*calls)[1] == title


CLEAN = "nothing to commit, working tree clean"
MADE = "[topic 0123abc] Round the total\n 1 file changed, 2 insertions(+)\n"


def asked_git(command: str, output: str) -> Command:
    return Command(command=command, output=output, exit_code=0)


@pytest.mark.parametrize(
    ("ran", "left"),
    [
        pytest.param(asked_git("git add a.py && git commit -qm x", ""), 1, id="nothing printed"),
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


def test_what_a_command_wrote_outside_is_not_the_projects(feed: Callable[..., Any]) -> None:
    ran = asked_git("sed -i 's/a/b/' a.py /tmp/x.py", "")
    assert [*session_state.decode(feed(ran).session.state).files] == ["a.py"]


def test_what_another_clone_committed_is_not_open_at_the_end(feed: Callable[..., Any]) -> None:
    ended = SessionEnd(uncommitted=("a.py",))
    known = session_state.decode(
        feed(WRITE, asked_git("git commit -am x", MADE), ended).session.state
    )
    assert session_commits.open_files(known) == ()
    made = Commit(hash=ONE, subject="x", files=(FileChange(path="a.py"),))
    known = session_state.decode(feed(WRITE, made, ended).session.state)
    assert session_commits.open_files(known) == ("a.py",)


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
    assert session_commits.open_files(known) == ()


def in_json(text: str) -> str:
    return json.dumps({"status": "success", "task": {"id": "b1", "output": text, "code": [0]}})


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(ToolUse(tool="TaskOutput", output=in_json(MADE)), id="a task, as JSON"),
        pytest.param(Delegation(task="Commit it", result=f"Done:\n\n{MADE}"), id="a sub-agent"),
    ],
)
def test_what_somebody_else_committed_is_the_sessions(
    feed: Callable[..., Any], body: ToolUse | Delegation
) -> None:
    known = session_state.decode(feed(WRITE, body).session.state)
    assert (session_commits.open_files(known), len(known.commits)) == ((), 1)


QUIET = asked_git("git commit -qm x", "")


@pytest.mark.parametrize(
    ("bodies", "left"),
    [
        pytest.param((asked_git("git commit -qam x", ""),), (), id="quietly"),
        pytest.param((asked_git("git add a.py && git commit -qm x", ""),), ("b.py",), id="a part"),
        pytest.param((asked_git("git add a.py", ""), QUIET), ("b.py",), id="a part, before"),
        pytest.param((asked_git("git commit -m x", "Running as task b1"),), (), id="behind"),
        pytest.param((Command(command="git commit -qam x", exit_code=1),), ALL, id="it failed"),
        pytest.param((QUIET, WRITE), ("a.py",), id="changed again"),
        pytest.param((QUIET, SessionEnd(uncommitted=("b.py",))), ("b.py",), id="listed"),
        pytest.param((Delegation(task="Ship it"), Prompt(text="go on")), (), id="a sub-agent"),
        pytest.param((Delegation(task="Read it", result="It adds."),), ALL, id="that reported"),
        pytest.param(
            (Delegation(task="Read it"), Prompt(text="x"), Delegation(result="It adds.")),
            ALL,
            id="that reported later",
        ),
    ],
)
def test_what_may_be_committed_is_not_said_to_be_open(
    feed: Callable[..., Any], bodies: tuple[AnyBody, ...], left: tuple[str, ...]
) -> None:
    known = session_state.decode(feed(WRITE, OTHER, *bodies).session.state)
    assert session_commits.left_open(known) == left


ROOT = "/home/ana/shop"


def act(kind: OperationKind, *paths: str, to: str = "") -> GitOperation:
    return GitOperation(kind=kind, paths=paths, target=to)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git checkout -- a.py b/c.py", act("restore", "a.py", "b/c.py")),
        ("git checkout a.py", act("restore", "a.py")),
        ("git checkout .", act("restore")),
        ("git checkout HEAD~1 -- a.py", act("restore", "a.py", to="~1")),
        ("git checkout main src/a.py", act("restore", "src/a.py")),
        ("git checkout ./src src/b.py", act("restore", "src", "src/b.py")),
        ("git checkout fix/total", None),
        ("git checkout -b fix", act("branch", to="fix")),
        ("git checkout -b fix main", None),
        ("git checkout -b", None),
        ("git checkout", None),
        ("git switch main", None),
        ("git switch -c fix", act("branch", to="fix")),
        ("git switch", None),
        ("git restore a.py", act("restore", "a.py")),
        ("git restore --source=HEAD~2 a.py", act("restore", "a.py", to="~2")),
        ("git restore -s 0123456789 a.py", act("restore", "a.py", to="0123456789")),
        ("git restore -- 'a.py'", act("restore", "a.py")),
        ("git restore --staged a.py", None),
        ("git restore --staged --worktree a.py", act("restore", "a.py")),
        ("git reset --hard", act("reset", to="~0")),
        ("git reset --hard HEAD~2", act("reset", to="~2")),
        ("git reset --hard HEAD^", act("reset", to="~1")),
        ("git reset --hard HEAD^^", act("reset", to="~2")),
        ("git reset --hard @~", act("reset", to="~1")),
        ("git reset --hard origin/main", act("reset")),
        ("git reset --soft HEAD~1", act("uncommit", to="~1")),
        ("git reset 0123456789abcdef", act("uncommit", to="0123456789abcdef")),
        ("git reset main", act("uncommit")),
        ("git reset", None),
        ("git reset a.py", None),
        ("git reset HEAD~1 -- a.py", None),
        ("git stash", act("stash")),
        ("git stash -q > /dev/null 2>&1", act("stash")),
        ("git checkout -- a.py 2>/dev/null >log", act("restore", "a.py")),
        ("git stash push -m wip a.py", act("stash")),
        ("git stash pop", act("unstash")),
        ("git stash apply", act("unstash")),
        ("git stash pop --index 'stash@{2}'", act("unstash")),
        ("git stash branch fix stash@{1}", act("unstash")),
        ("git stash drop", act("drop")),
        ("git stash drop 3", act("drop")),
        ("git stash clear", act("drop")),
        ("git stash save 'Try a pool'", act("stash")),
        ("git stash -p", None),
        ("git stash show -p", None),
        ("git stash list", None),
        ("git clean -fd", act("clean")),
        ("git clean --force src/", act("clean", "src")),
        ("git clean -nfd", None),
        ("git clean", None),
        ("rm -f tmp.py", act("clean", "tmp.py")),
        ("git -C sub --no-pager -c a=b checkout -- a.py", act("restore", "a.py")),
        ("git commit -m x", None),
        ("git", None),
        ("ls", None),
    ],
)
def test_a_command_is_read(command: str, expected: GitOperation | None) -> None:
    (part,) = command_line.simple_commands(command)
    assert session_commits.parse(part) == expected


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        ("git reset --hard main", "HEAD is now at 1234567 Two\n", act("reset", to="1234567")),
        ("git stash", "No local changes to save\n", None),
        ("git stash pop", "No stash entries found.\n", None),
        ("git stash pop", "error: x\nThe stash entry is kept in case you need it again.", None),
        (
            "git stash pop",
            "CONFLICT (content): a.py\nThe stash entry is kept in case you need it again.",
            act("unstash"),
        ),
    ],
)
def test_the_output_says_more(command: str, output: str, expected: GitOperation | None) -> None:
    (part,) = command_line.simple_commands(command)
    assert session_commits.parse(part, output) == expected


@pytest.mark.parametrize(
    ("command", "is_one"),
    [
        ("git commit -m 'Say it'", True),
        ("git -C api commit -a --amend", True),
        ("git commit --dry-run -a", False),
        ("git add -A", False),
        ("git", False),
        ("make commit", False),
    ],
)
def test_a_command_that_asks_git_to_commit_is_known(command: str, is_one: bool) -> None:
    (part,) = command_line.simple_commands(command)
    assert session_commits.commits(part) == is_one


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        pytest.param("sed -i '' '7s/a/b/' src/a.py", ("src/a.py",), id="sed of BSD"),
        pytest.param("sed -i.bak -e 's/a/b/' a.py b.py", ("a.py", "b.py"), id="several"),
        pytest.param("perl -pi -e 's/a/b/' a.py", ("a.py",), id="perl"),
        pytest.param("sed -n 5p a.py", (), id="one that only prints"),
        pytest.param(
            f"cd src && echo x >> a.py && cat {ROOT}/b.py > $OUT", ("src/a.py",), id="into"
        ),
        pytest.param("pytest -q > log.txt", (), id="the output of a program"),
        pytest.param("python3 - <<'E'\nopen('a.py', 'w').write(text)\nE", ("a.py",), id="a script"),
    ],
)
def test_files_that_a_command_line_writes(command: str, paths: tuple[str, ...]) -> None:
    assert session_commits.written(command, ROOT, ROOT) == paths
