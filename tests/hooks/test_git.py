"""The git hooks, installed both ways into real repositories and driven by real git."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.clients.envelope import Envelope
from observer.local.spool import Spool
from tests.support import Git, ended, put_file

from .conftest import HOOKS, ran

Posted = Callable[[], list[Envelope]]

Commit = Callable[[str], str]
After = Callable[..., list[Envelope]]
EVENTS = ["post-commit", "post-applypatch", "post-merge", "post-checkout", "post-rewrite"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit, and the hook files as the installer writes them."""
    root = tmp_path / "my repo"
    subprocess.run(["git", "init", "-q", "-b", "main", root], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "0"], check=True, cwd=root)
    for event in EVENTS:
        install(root, event, post=HOOKS / "post")
    return root


def install(root: Path, event: str, *, post: Path) -> None:
    text = (HOOKS / "git" / "hook").read_text()
    text = text.replace("@EVENT@", event).replace("@POST@", shlex.quote(str(post)))
    put_file(root / ".git" / "hooks" / event, text)


@pytest.fixture
def git(repository: Path) -> Git:
    def run(*arguments: str) -> str:
        return str(ended(["git", *arguments], cwd=repository, check=True).stdout).strip()

    return run


@pytest.fixture
def commit(git: Git, repository: Path) -> Commit:
    def make(name: str) -> str:
        (repository / name).write_text("x\n")
        git("add", "-A")
        git("commit", "-q", "-m", name)
        return git("rev-parse", "HEAD")

    return make


@pytest.fixture
def after(git: Git, spool: Spool, posted: Posted) -> After:
    """Run git and return only what this shown."""

    def run(*arguments: str) -> list[Envelope]:
        while entries := spool.claim(at_most=999):
            spool.ack(entries)
        git(*arguments)
        return sorted(posted(), key=lambda event: event.event)

    return run


def shown(events: list[Envelope]) -> list[tuple[str, str]]:
    return [(event.event, event.env.get("git.action", "")) for event in events]


def test_a_commit_is_shown_with_its_place_and_a_merge_without_what_was_before(
    commit: Commit, repository: Path, posted: Posted
) -> None:
    head = commit("a")
    subprocess.run([HOOKS / "post", "git", "post-merge", "0"], check=True, cwd=repository)
    made, merge = posted()
    assert (made.event, made.cwd, made.payload) == ("post-commit", str(repository), b"")
    assert made.env == {
        "git.dir": str(repository / ".git"),
        "git.head": head,
        "git.branch": "main",
        "git.action": "commit",
    }
    assert (merge.env["git.head"], merge.env.get("git.was")) == (head, None)


def test_an_amended_commit_names_the_former_one(commit: Commit, after: After, git: Git) -> None:
    old = commit("a")
    made, rewritten = after("commit", "-q", "--amend", "-m", "b")
    assert (made.event, rewritten.args) == ("post-commit", ("amend",))
    assert rewritten.payload.decode().split() == [old, git("rev-parse", "HEAD")]


def test_a_rebase_is_shown_by_the_rewrite_alone(commit: Commit, after: After, git: Git) -> None:
    git("checkout", "-q", "-b", "topic")
    old = [commit("a"), commit("b")]
    git("checkout", "-q", "main")
    commit("c")
    events = after("rebase", "-q", "main", "topic")
    assert set(shown(events)) == {("post-checkout", "rebase"), ("post-rewrite", "rebase")}
    new = git("rev-list", "--reverse", "main..topic").split()
    pairs = events[-1].payload.decode().splitlines()
    assert pairs == [f"{was} {now}" for was, now in zip(old, new, strict=True)]


@pytest.fixture
def rebased(commit: Commit, git: Git, repository: Path, spool: Spool, posted: Posted) -> After:
    """Rebase commits `a` and `b` of a branch, the second in conflict; return what this shown."""
    git("checkout", "-q", "-b", "topic")
    for name in ("a", "b"):
        git("tag", name.upper(), commit(name))
    git("checkout", "-q", "main")
    (repository / "b").write_text("other\n")
    git("add", "b")
    git("commit", "-q", "-m", "c")

    def run(how: str, steps: str, *, todo: str = "") -> list[Envelope]:
        git("config", "core.editor", ":")
        git("config", "sequence.editor", f"echo '{todo}' | tr , '\\n' >")
        while entries := spool.claim(at_most=999):
            spool.ack(entries)
        script = f"git rebase {how} main topic; {steps}\ngit rebase --continue"
        subprocess.run(["sh", "-c", script], cwd=repository, check=False, capture_output=True)
        return posted()

    return run


@pytest.mark.parametrize(
    ("todo", "steps", "made"),
    [
        pytest.param(
            "edit A",
            "git reset HEAD^; git add a; git commit -m x; git commit --allow-empty -m y",
            ["x", "y"],
            id="split",
        ),
        pytest.param("pick A,break", "git commit --allow-empty -m x", ["x"], id="added"),
        pytest.param("pick A,break", "git commit --amend -m x", ["x"], id="amended"),
        pytest.param("break", "git cherry-pick A", ["a"], id="picked by hand"),
        pytest.param("exec git commit --allow-empty -m x,break", "", ["x"], id="command"),
        pytest.param("pick A,pick B", "git add b; git commit -m x", ["x"], id="conflict"),
        pytest.param("pick A,pick B", "git add b", [], id="conflict continued"),
        pytest.param("break", "git format-patch -1 --stdout A | git am", ["a"], id="patched"),
        pytest.param("reword A,break", "", [], id="reworded"),
    ],
)
def test_what_is_committed_while_a_rebase_stands_still_is_shown_as_of_the_branch(
    rebased: After, git: Git, todo: str, steps: str, made: list[str]
) -> None:
    """What it picks is shown by the rewrite alone; no commit is shown by neither."""
    events = rebased("-i", steps, todo=todo)
    commits = [event for event in events if event.event in ("post-commit", "post-applypatch")]
    heads = [event.env["git.head"] for event in commits]
    assert [git("show", "-s", "--format=%s", head) for head in heads] == made
    assert {event.env["git.branch"] for event in commits} <= {"topic"}
    rewritten = b" ".join(event.payload for event in events).decode().split()
    assert set(git("rev-list", "main..topic").split()) <= {*heads, *rewritten}


def test_what_is_committed_while_a_rebase_by_patches_stands_is_shown_too(rebased: After) -> None:
    events = rebased("--apply", "git add b; git commit -m x; git rebase --skip")
    (made,) = [event for event in events if event.event == "post-commit"]
    assert (made.env["git.action"], made.env["git.branch"]) == ("commit", "topic")


def test_an_applied_patch_is_shown(commit: Commit, after: After, git: Git, tmp_path: Path) -> None:
    git("checkout", "-q", "-b", "topic")
    commit("a")
    commit("b")
    patches = git("format-patch", "-o", str(tmp_path), "main").splitlines()
    git("checkout", "-q", "main")
    git("commit", "-q", "--allow-empty", "-m", "c")
    events = after("am", "-q", *patches)
    assert {event.event for event in events} == {"post-applypatch"}
    made = git("rev-list", "-2", "main").split()
    assert {event.env["git.head"] for event in events} == set(made)


def test_a_merge_and_a_pick_are_shown_as_such(commit: Commit, after: After, git: Git) -> None:
    git("checkout", "-q", "-b", "topic")
    commit("a")
    git("checkout", "-q", "-b", "other", "main")
    commit("b")
    assert shown(after("cherry-pick", "topic")) == [("post-commit", "cherry-pick")]
    git("checkout", "-q", "main")
    (merge,) = after("merge", "-q", "topic")
    assert shown([merge]) == [("post-merge", "merge")]
    assert (merge.args, merge.env["git.reflog"]) == (("0",), "merge topic")
    assert merge.env["git.was"] == git("rev-parse", "ORIG_HEAD")


def test_a_checkout_tells_the_branch_a_worktree_its_folder_and_one_of_files_is_not_shown(
    commit: Commit, after: After, repository: Path, tmp_path: Path
) -> None:
    commit("a")
    (repository / "a").write_text("changed")
    assert after("checkout", "--", "a") == []
    (event,) = after("worktree", "add", "-q", "-b", "wt", str(tmp_path / "wt"))
    assert event.cwd == str(tmp_path / "wt")
    assert event.env["git.dir"] == str(repository / ".git" / "worktrees" / "wt")
    for words, branch in (
        ("-b feature/x", "feature/x"),
        ("--detach", None),
        ("--orphan new", "new"),
    ):
        (event,) = after("checkout", "-q", *words.split())
        assert (event.event, event.env.get("git.branch")) == ("post-checkout", branch)
        assert event.args[2] == "1"


@pytest.mark.parametrize("event", EVENTS)
def test_a_lost_hook_changes_nothing(repository: Path, git: Git, spool: Spool, event: str) -> None:
    install(repository, event, post=Path("/nowhere/post"))
    git("checkout", "-q", "-b", "other")
    (repository / "a").write_text("a\n")
    git("add", "a")
    git("commit", "-q", "-m", "a")
    git("commit", "-q", "--amend", "-m", "b")
    git("checkout", "-q", "main")
    git("am", "-q", "-s", git("format-patch", "main..other"))
    git("merge", "-q", "other")
    events = {entry.data.split(b"\0")[2].decode() for entry in spool.claim(at_most=99)}
    assert events == {f"event={other}" for other in EVENTS if other != event}


def test_the_hook_before_keeps_arguments_input_and_status(
    repository: Path, git: Git, tmp_path: Path, posted: Posted
) -> None:
    before = repository / ".git" / "hooks" / "post-rewrite.observer-orig"
    put_file(before, f'#!/bin/sh\necho "$@" >{tmp_path}/shown\ncat >>{tmp_path}/shown\nexit 3\n')
    git("commit", "-q", "--allow-empty", "--amend", "-m", "1")
    (rewritten,) = [event for event in posted() if event.event == "post-rewrite"]
    assert (tmp_path / "shown").read_bytes() == b"amend\n" + rewritten.payload
    before = repository / ".git" / "hooks" / "post-checkout.observer-orig"
    put_file(before, "#!/bin/sh\nexit 3\n")
    done = subprocess.run(["git", "checkout", "-q", "-b", "x"], cwd=repository, check=False)
    assert done.returncode != 0


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("is_there", [True, False], ids=["installed", "missing"])
def test_a_configured_hook_posts_and_never_fails(
    repository: Path, posted: Posted, event: str, is_there: bool
) -> None:
    """Runs what git 2.54 would run, the way it would."""
    key = f"hook.observer-{event}"
    config = ["git", "config", "-f", HOOKS / "git" / "config", "--get"]
    command, on = (ran([*config, f"{key}.{name}"]).rstrip("\n") for name in ("command", "event"))
    post = HOOKS / "post" if is_there else Path("/nowhere/post")
    command = command.replace("@POST@", shlex.quote(str(post)))
    argv = ["sh", "-c", f'{command} "$@"', command, "a b", "c"]
    assert (on, ran(argv, cwd=repository, stdin=subprocess.DEVNULL)) == (event, "")
    assert [(shown.event, shown.args) for shown in posted()] == [(event, ("a b", "c"))] * is_there
