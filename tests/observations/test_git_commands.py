"""What git commands do to work that is there."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from observer.commands import command_line
from observer.observations import git_commands
from observer.observations.git_commands import GitOperation, OperationKind

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
        ("git checkout main", act("switch", to="main")),
        ("git checkout fix/total", act("switch", to="fix/total")),
        ("git checkout -b fix", act("branch", to="fix")),
        ("git checkout -b fix main", act("switch", to="fix")),
        ("git checkout -b", None),
        ("git checkout", None),
        ("git switch main", act("switch", to="main")),
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
        ("git stash push -m wip a.py", act("stash", "a.py")),
        ("git stash -- a.py", act("stash", "a.py")),
        ("git stash pop", act("unstash")),
        ("git stash apply", replace(act("unstash"), keeps=True)),
        ("git stash pop --index 'stash@{2}'", act("unstash", to="2")),
        ("git stash branch fix stash@{1}", act("unstash", to="1")),
        ("git stash drop", act("drop")),
        ("git stash drop 3", act("drop", to="3")),
        ("git stash clear", act("drop", to="all")),
        ("git stash save 'Try a pool'", act("stash")),
        ("git stash -u", replace(act("stash"), scope="new")),
        ("git stash push --staged", replace(act("stash"), scope="staged")),
        ("git stash -k", replace(act("stash"), scope="unstaged")),
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
    assert git_commands.parse(part) == expected
    assert git_commands.has_operations(command) is (expected is not None)


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
            replace(act("unstash"), keeps=True),
        ),
    ],
)
def test_the_output_says_more(command: str, output: str, expected: GitOperation | None) -> None:
    (part,) = command_line.simple_commands(command)
    assert git_commands.parse(part, output) == expected


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
    assert git_commands.commits(part) == is_one


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
        pytest.param("git diff | tee -a all.diff", ("all.diff",), id="tee"),
        pytest.param("python3 - <<'E'\nopen('a.py', 'w').write(text)\nE", ("a.py",), id="a script"),
    ],
)
def test_files_that_a_command_line_writes(command: str, paths: tuple[str, ...]) -> None:
    assert git_commands.written(command, ROOT, ROOT) == paths
