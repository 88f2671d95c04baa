"""What others committed and git brought in is remembered as theirs, whichever way it came."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from observer.core.events import Checkout, Commit, Custom, Event, Prompt
from observer.core.paths import Home
from observer.importers.registry import commits
from observer.ingest import commits as arrivals
from observer.ingest.commits import incoming_commits as arrived
from observer.ingest.commits import without_owner
from observer.ingest.pipeline import Pipeline
from observer.projects import detect_place
from observer.store.interface import Store

Git = Callable[..., str]

POST = Path(__file__).parents[2] / "hooks" / "post"
EVENTS = ("post-commit", "post-merge", "post-checkout", "post-rewrite")


@pytest.fixture
def shop(tmp_path: Path, git: Git, home: Home, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with our hooks; its branch `theirs` was three commits ahead before them."""
    monkeypatch.setenv("OBSERVER_HOME", str(home.root))
    folder = tmp_path / "work/shop"
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "Begin")
    git(folder, "checkout", "-q", "-b", "theirs")
    for number in range(3):
        who = {"GIT_AUTHOR_NAME": "Ada", "GIT_COMMITTER_DATE": f"{1_700_000_000 + number} +0000"}
        git(folder, "commit", "-q", "--allow-empty", "-m", f"t{number}", **who)
    git(folder, "checkout", "-q", "main")
    for event in EVENTS:
        hook = folder / ".git/hooks" / event
        hook.write_text(f'#!/bin/sh\nexec sh "{POST}" git {event} "$@"\n')
        hook.chmod(0o755)
    return folder


def stored(pipeline: Pipeline, store: Store) -> list[Event]:
    while pipeline.drain().entries:
        pass
    with store.read() as reader:
        return [recorded.event for recorded in reader.log()]


def shown(events: list[Event]) -> list[str]:
    bodies = [event.body for event in events]
    return [f"{body.action} {body.subject}" for body in bodies if isinstance(body, Commit)]


@pytest.mark.measured
@pytest.mark.parametrize(
    ("steps", "commits"),
    [
        pytest.param(
            ["merge -q --ff-only theirs"],
            ["import t0", "import t1", "merge t2"],
            id="fast-forward",
        ),
        pytest.param(
            ["merge -q --no-ff -m Merge theirs"],
            ["import t0", "import t1", "import t2", "merge Merge"],
            id="merge",
        ),
        pytest.param(
            ["merge -q --no-ff --no-commit theirs", "commit -q -m Merge"],
            ["import t0", "import t1", "import t2", "commit Merge"],
            id="merge-committed-by-hand",
        ),
        pytest.param(
            ["checkout -q theirs"], ["import t0", "import t1", "import t2"], id="checkout"
        ),
        pytest.param(
            ["rebase -q theirs"], ["import t0", "import t1", "import t2"], id="rebase-of-nothing"
        ),
        pytest.param(
            ["commit -q --allow-empty -m Mine", "rebase -q theirs"],
            ["commit Mine", "import t0", "import t1", "import t2"],
            id="rebase",
        ),
        pytest.param(
            ["reset -q --hard theirs~1", "reset -q --hard theirs", "checkout -q -b mine"],
            ["import t0", "import t1", "import t2"],
            id="resets",
        ),
        pytest.param(
            ["reset -q --hard theirs~1", "commit -q --allow-empty -m Mine"],
            ["import t0", "import t1", "commit Mine"],
            id="a-commit-after-a-reset",
        ),
        pytest.param(
            ["reset -q --hard theirs~1", "merge -q theirs"],
            ["import t0", "import t1", "merge t2"],
            id="a-pull-after-a-reset",
        ),
        pytest.param(["reset -q --hard HEAD", "checkout -q -b mine"], [], id="a-reset-of-files"),
        pytest.param(
            [
                "checkout -q -b mine",
                "commit -q --allow-empty -m Mine",
                "rebase -q theirs",
                "checkout -q main",
                "merge -q --no-ff -m Merge mine",
            ],
            ["commit Mine", "import t0", "import t1", "import t2", "merge Merge"],
            id="a-merge-of-what-was-rebased-here",
        ),
        pytest.param(
            [
                "worktree add -q ../other -b mine",
                "-C ../other commit -q --allow-empty -m Mine",
                "-C ../other rebase -q theirs",
                "merge -q --no-ff -m Merge mine",
            ],
            ["commit Mine", "import t0", "import t1", "import t2", "merge Merge"],
            id="a-merge-of-what-was-rebased-in-another-work-tree",
        ),
        pytest.param(
            [
                "worktree add -q ../other theirs",
                "commit -q --allow-empty -m Mine",
                "rebase -q theirs",
                "-C ../other checkout -q --detach",
                "-C ../other merge -q --no-ff -m Merge main",
            ],
            ["commit Mine", "import t0", "import t1", "import t2", "merge Merge"],
            id="a-merge-in-another-work-tree",
        ),
        pytest.param(["worktree add -q ../other theirs"], [], id="a-new-work-tree"),
        pytest.param(["checkout -q -b mine"], [], id="a-new-branch"),
        pytest.param(["merge -q --squash theirs"], [], id="squash"),
    ],
)
def test_what_git_brings_in_is_shown_as_its_authors(
    shop: Path, git: Git, pipeline: Pipeline, store: Store, steps: list[str], commits: list[str]
) -> None:
    for step in steps:
        git(shop, *step.split())
    assert shown(stored(pipeline, store)) == commits


@pytest.mark.parametrize(
    ("steps", "session"),
    [
        pytest.param(["merge -q --ff-only theirs"], "", id="a-colleagues-commit"),
        pytest.param(["merge -q --ff-only merged"], "", id="a-colleagues-merge"),
        pytest.param(["merge -q --no-ff -m Merge theirs"], "s1", id="my-merge"),
    ],
)
def test_who_pulls_did_not_make_what_came_in(
    shop: Path, git: Git, pipeline: Pipeline, store: Store, steps: list[str], session: str
) -> None:
    unseen = ("-c", f"core.hooksPath={shop}")
    git(shop, *unseen, "checkout", "-q", "-b", "merged", "main")
    git(shop, *unseen, "merge", "-q", "--no-ff", "-m", "Merge theirs", "theirs")
    git(shop, *unseen, "checkout", "-q", "main")
    for step in steps:
        git(shop, *step.split(), CLAUDE_CODE_SESSION_ID="s1")
    events = stored(pipeline, store)
    assert events[-1].dedup == f"commit:{git(shop, 'rev-parse', 'HEAD')}"
    assert events[-1].session == session


def test_what_a_script_reports_keeps_its_session(shop: Path) -> None:
    body = Commit(hash="1" * 40, action="merge", parents=("2" * 40,))
    event = Event(id="e", at_ms=0, client="ci", session="s1", body=body, route="post/commit")
    assert without_owner(event, detect_place(str(shop))) is event


def test_an_import_tells_the_same_commits_by_the_same_ids(
    shop: Path, git: Git, pipeline: Pipeline, store: Store
) -> None:
    git(shop, "checkout", "-q", "theirs")
    came = [event for event in stored(pipeline, store) if isinstance(event.body, Commit)]
    assert {event.id: (event.at_ms, event.body, event.author) for event in came} == {
        event.id: (event.at_ms, event.body, event.author) for event in list(commits(str(shop)))[1:]
    }
    assert [bool(receipt.seq) for receipt in pipeline.ingest(list(commits(str(shop))))] == [
        True, False, False, False,
    ]  # fmt: skip


@pytest.mark.measured
def test_of_a_huge_arrival_the_newest_are_read_and_the_rest_is_counted(
    shop: Path, git: Git, pipeline: Pipeline, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "MOST", 2)
    git(shop, "merge", "-q", "theirs")
    events = stored(pipeline, store)
    assert shown(events) == ["import t1", "merge t2"]
    (rest,) = (event.body for event in events if isinstance(event.body, Custom))
    assert "newest 2 of 3 commits" in rest.text


def test_an_arrival_that_was_read_whole_leaves_nothing_to_count(
    shop: Path, git: Git, pipeline: Pipeline, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "MOST", 3)
    git(shop, "checkout", "-q", "theirs")
    kinds = [type(event.body) for event in stored(pipeline, store)]
    assert kinds == [Commit, Commit, Commit, Checkout]


@pytest.mark.parametrize(
    ("body", "route"),
    [
        pytest.param(Prompt(text="pull"), "git/x", id="another-body"),
        pytest.param(Checkout(old="main", new="theirs"), "post/checkout", id="a-script's-report"),
        pytest.param(Checkout(old="1" * 40, new="2" * 40), "git/post-checkout", id="gone"),
    ],
)
def test_nothing_came_in(shop: Path, body: Checkout | Prompt, route: str) -> None:
    event = Event(id="e", at_ms=0, client="git", body=body, route=route)
    assert list(arrived(event, detect_place(str(shop)))) == []


def test_without_git_the_event_itself_is_shown(
    shop: Path,
    git: Git,
    pipeline: Pipeline,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    git(shop, "merge", "-q", "theirs")
    monkeypatch.setenv("PATH", str(shop))
    (event,) = stored(pipeline, store)
    assert event.dedup.startswith("commit:")
