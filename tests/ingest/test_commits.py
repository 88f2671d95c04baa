"""Whose commits are: others' as git brought them in, and those of a session or of nobody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from observer.core.events import Checkout, Commit, Custom, Event, Prompt
from observer.importers.source import commits
from observer.ingest import commits as arrivals
from observer.ingest.commits import incoming_commits as arrived
from observer.ingest.commits import without_owner
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.projects import detect_place
from observer.store.interface import Store
from tests.ingest.conftest import drained, log_of
from tests.support import Git


def stored(pipeline: Pipeline, store: Store) -> list[Event]:
    drained(pipeline)
    return log_of(store)


def shown(events: list[Event]) -> list[str]:
    bodies = [event.body for event in events]
    return [f"{body.action} {body.subject}" for body in bodies if isinstance(body, Commit)]


@pytest.mark.measured
@pytest.mark.parametrize(
    ("steps", "commits"),
    [
        pytest.param(["merge -q --ff-only theirs"], ["import t0", "import t1", "merge t2"],
            id="fast-forward"),
        pytest.param(["merge -q --no-ff -m Merge theirs"], ["import t0", "import t1", "import t2",
            "merge Merge"], id="merge"),
        pytest.param(["merge -q --no-ff --no-commit theirs", "commit -q -m Merge"], ["import t0",
            "import t1", "import t2", "commit Merge"], id="merge-committed-by-hand"),
        pytest.param(["checkout -q theirs"], ["import t0", "import t1", "import t2"],
            id="checkout"),
        pytest.param(["rebase -q theirs"], ["import t0", "import t1", "import t2"],
            id="rebase-of-nothing"),
        pytest.param(["commit -q --allow-empty -m Mine", "rebase -q theirs"], ["commit Mine",
            "import t0", "import t1", "import t2"], id="rebase"),
        pytest.param(["reset -q --hard theirs~1", "reset -q --hard theirs", "checkout -q -b mine"],
            ["import t0", "import t1", "import t2"], id="resets"),
        pytest.param(["reset -q --hard theirs~1", "commit -q --allow-empty -m Mine"], ["import t0",
            "import t1", "commit Mine"], id="a-commit-after-a-reset"),
        pytest.param(["reset -q --hard theirs~1", "merge -q theirs"], ["import t0", "import t1",
            "merge t2"], id="a-pull-after-a-reset"),
        pytest.param(["reset -q --hard HEAD", "checkout -q -b mine"], [], id="a-reset-of-files"),
        pytest.param(["checkout -q -b mine", "commit -q --allow-empty -m Mine", "rebase -q theirs",
            "checkout -q main", "merge -q --no-ff -m Merge mine"], ["commit Mine", "import t0",
            "import t1", "import t2", "merge Merge"], id="a-merge-of-what-was-rebased-here"),
        pytest.param(["worktree add -q ../other -b mine",
            "-C ../other commit -q --allow-empty -m Mine", "-C ../other rebase -q theirs",
            "merge -q --no-ff -m Merge mine"], ["commit Mine", "import t0", "import t1",
            "import t2", "merge Merge"], id="a-merge-of-what-was-rebased-in-another-work-tree"),
        pytest.param(["worktree add -q ../other theirs", "commit -q --allow-empty -m Mine",
            "rebase -q theirs", "-C ../other checkout -q --detach",
            "-C ../other merge -q --no-ff -m Merge main"], ["commit Mine", "import t0", "import t1",
            "import t2", "merge Merge"], id="a-merge-in-another-work-tree"),
        pytest.param(["worktree add -q ../other theirs"], [], id="a-new-work-tree"),
        pytest.param(["checkout -q -b mine"], [], id="a-new-branch"),
        pytest.param(["merge -q --squash theirs"], [], id="squash"),
    ],
)  # fmt: skip
def test_what_git_brings_in_is_shown_as_its_authors(
    shop: Path, git: Git, pipeline: Pipeline, store: Store, steps: list[str], commits: list[str]
) -> None:
    for step in steps:
        git(shop, *step.split())
    assert shown(stored(pipeline, store)) == commits


@pytest.mark.parametrize(
    ("step", "session"),
    [
        pytest.param("merge -q --ff-only theirs", "", id="a-colleagues-commit"),
        pytest.param("merge -q --ff-only merged", "", id="a-colleagues-merge"),
        pytest.param("merge -q --no-ff -m Merge theirs", "s1", id="my-merge"),
    ],
)
def test_who_pulls_did_not_make_what_came_in(
    shop: Path, git: Git, pipeline: Pipeline, store: Store, step: str, session: str
) -> None:
    unseen = ("-c", f"core.hooksPath={shop}")
    git(shop, *unseen, "checkout", "-q", "-b", "merged", "main")
    git(shop, *unseen, "merge", "-q", "--no-ff", "-m", "Merge theirs", "theirs")
    git(shop, *unseen, "checkout", "-q", "main")
    git(shop, *step.split(), CLAUDE_CODE_SESSION_ID="s1")
    events = stored(pipeline, store)
    assert events[-1].dedup == f"commit:{git(shop, 'rev-parse', 'HEAD')}"
    assert events[-1].session == session


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
@pytest.mark.parametrize(
    ("most", "subjects", "rest"),
    [
        pytest.param(2, ["import t1", "merge t2"], ["newest 2 of 3 commits"], id="huge"),
        pytest.param(3, ["import t0", "import t1", "merge t2"], [], id="whole"),
    ],
)
def test_of_a_huge_arrival_the_newest_are_read_and_the_rest_is_counted(
    shop: Path,
    git: Git,
    pipeline: Pipeline,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    most: int,
    subjects: list[str],
    rest: list[str],
) -> None:
    monkeypatch.setattr(arrivals, "MOST", most)
    git(shop, "merge", "-q", "theirs")
    events = stored(pipeline, store)
    assert shown(events) == subjects
    said = [event.body.text for event in events if isinstance(event.body, Custom)]
    assert [each in text for each, text in zip(rest, said, strict=True)] == [True] * len(rest)


def test_nothing_came_in_by_what_a_script_reports_or_of_what_is_gone(shop: Path) -> None:
    place = detect_place(str(shop))
    for body, route in (
        (Prompt(text="pull"), "git/x"),
        (Checkout(old="main", new="theirs"), "post/checkout"),
        (Checkout(old="1" * 40, new="2" * 40), "git/post-checkout"),
    ):
        event = Event(id="e", at_ms=0, client="git", body=body, route=route)
        assert list(arrived(event, place)) == []
    merge = Commit(hash="1" * 40, action="merge", parents=("2" * 40,))
    event = Event(id="e", at_ms=0, client="ci", session="s1", body=merge, route="post/commit")
    assert without_owner(event, place) is event


def test_without_git_the_event_itself_is_shown(
    shop: Path, git: Git, pipeline: Pipeline, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(shop, "merge", "-q", "theirs")
    monkeypatch.setenv("PATH", str(shop))
    (event,) = stored(pipeline, store)
    assert event.dedup.startswith("commit:")


NOW_MS = 1_790_000_000_000
HASH = "a" * 40
MINUTE_MS = 60_000
CLINE = {"CLINE_CONNECTOR_CLI_LAUNCH": "1"}


class Day:
    """What clients and git report of a folder, by the minute."""

    def __init__(self, spool: Spool, folder: Path, pipeline: Pipeline, store: Store) -> None:
        self._spool, self._folder, self._pipeline, self._store = spool, folder, pipeline, store

    def happen(self, client: str, event: str, minute: int, **given: object) -> None:
        fields = {"client": client, "event": event, "cwd": str(given.pop("cwd", self._folder))}
        env = given.pop("env", {})
        assert isinstance(env, dict)
        fields |= {f"env.{name}": value for name, value in env.items()}
        at_ms = NOW_MS - 90 * MINUTE_MS + minute * MINUTE_MS
        self._spool.append(fields | {"at": str(at_ms)}, json.dumps(given).encode())

    def task(self, name: str, minute: int = 0, cwd: Path | None = None) -> None:
        """Let Cline begin a task."""
        here = cwd or self._folder
        self.happen("cline", "TaskStart", minute, cwd=here, taskId=name, workspaceRoots=[str(here)])

    def execute(self, command: str, *, has_ended: bool = False) -> None:
        """Let Droid run a command, of which it says beforehand and, if it ended, afterwards."""
        for event in ("PreToolUse", "PostToolUse")[: 1 + has_ended]:
            tool = {"tool_name": "Execute", "tool_input": {"command": command}, "tool_response": ""}
            self.happen("droid", event, 0, hook_event_name=event, session_id="d1", **tool)

    def credited(self, minute: int, **env: str) -> tuple[str, str, str]:
        """Let git report a commit, and return whose it is."""
        env = {"git.head": HASH, "git.action": "commit"} | env
        self.happen("git", "post-commit", minute, env=env)
        events = stored(self._pipeline, self._store)
        (event,) = [event for event in events if isinstance(event.body, Commit)]
        return event.client, event.session, event.author


@pytest.fixture
def day(spool: Spool, folder: Path, pipeline: Pipeline, store: Store) -> Day:
    return Day(spool, folder, pipeline, store)


@pytest.mark.parametrize(
    ("tasks", "minute", "session"),
    [
        pytest.param({"t1": ""}, 5, "t1", id="the only one"),
        pytest.param({"t1": "", "t2": ""}, 5, "", id="between two nobody guesses"),
        pytest.param({"t1": "", "t2": "elsewhere"}, 5, "t1", id="another is in another folder"),
        pytest.param({"t1": ""}, 61, "", id="long after"),
        pytest.param({"t1": ""}, -1, "", id="before"),
    ],
)
def test_a_commit_of_an_agent_belongs_to_its_only_session_at_work(
    day: Day, pipeline: Pipeline, tmp_path: Path, tasks: dict[str, str], minute: int, session: str
) -> None:
    for begun, (name, folder) in enumerate(tasks.items()):
        day.task(name, begun, tmp_path / folder if folder else None)
    if len(tasks) > 1:
        pipeline.drain()  # what was stored in an earlier batch is at work too
    assert day.credited(minute, **CLINE) == ("cline", session, "agent")


@pytest.mark.parametrize(
    ("command", "minute", "has_ended", "shell", "expected"),
    [
        ("git commit -qm x", 1, False, {}, ("droid", "d1", "agent")),
        ("git commit -qm x", 1, False, {"OBSERVER_SESSION": "bash-1-2"}, ("droid", "d1", "agent")),
        ("git commit -qm x", 9, False, {}, ("git", "", "person")),
        ("git commit -qm x", 1, True, {}, ("git", "", "person")),
        ("pytest -q", 1, False, {}, ("git", "", "person")),
    ],
    ids=["git", "from-a-shell", "too-late", "ended", "another-command"],
)
def test_a_commit_during_an_agents_call_of_git_is_the_agents(
    day: Day, command: str, minute: int, has_ended: bool, shell: Any, expected: tuple[str, ...]
) -> None:
    """Of an agent whose shells nothing marks, also if a person's shell started it."""
    day.execute(command, has_ended=has_ended)
    assert day.credited(minute, **shell) == expected
