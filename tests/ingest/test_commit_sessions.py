"""A commit is credited to the session in whose shell it was made, or to nobody's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.core.events import Commit
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.store.interface import Store

NOW_MS = 1_790_000_000_000
HASH = "a" * 40
MINUTE_MS = 60_000
CLINE = {"CLINE_CONNECTOR_CLI_LAUNCH": "1"}


@pytest.fixture
def happen(spool: Spool, folder: Path) -> Callable[..., None]:
    """Spool what happens at a minute, the oldest first."""

    def happen(client: str, event: str, minute: int, **given: object) -> None:
        fields = {"client": client, "event": event, "cwd": str(given.pop("cwd", folder))}
        env = given.pop("env", {})
        assert isinstance(env, dict)
        fields |= {f"env.{name}": value for name, value in env.items()}
        at_ms = NOW_MS - 90 * MINUTE_MS + minute * MINUTE_MS
        spool.append(fields | {"at": str(at_ms)}, json.dumps(given).encode())

    return happen


@pytest.fixture
def task(happen: Callable[..., None], folder: Path) -> Callable[..., None]:
    """Let Cline begin a task."""

    def begin(name: str, minute: int = 0, cwd: Path = folder) -> None:
        happen("cline", "TaskStart", minute, cwd=cwd, taskId=name, workspaceRoots=[str(cwd)])

    return begin


@pytest.fixture
def execute(happen: Callable[..., None], folder: Path) -> Callable[..., None]:
    """Let Droid run a command, of which it says beforehand and, if it ended, afterwards."""

    def execute(command: str, minute: int = 0, *, has_ended: bool = False) -> None:
        for event in ("PreToolUse", "PostToolUse")[: 1 + has_ended]:
            happen(
                "droid", event, minute, hook_event_name=event, session_id="d1", cwd=str(folder),
                tool_name="Execute", tool_input={"command": command}, tool_response="",
            )  # fmt: skip

    return execute


@pytest.fixture
def credited(
    happen: Callable[..., None], pipeline: Pipeline, store: Store
) -> Callable[..., tuple[str, str, str]]:
    """Let git report a commit, and return whose it is."""

    def credited(minute: int, **env: str) -> tuple[str, str, str]:
        happen("git", "post-commit", minute, env={"git.head": HASH, "git.action": "commit"} | env)
        pipeline.drain()
        with store.read() as reader:
            events = [one.event for one in reader.log() if isinstance(one.event.body, Commit)]
        (event,) = events
        return event.client, event.session, event.author

    return credited


def test_a_commit_of_an_agent_belongs_to_its_only_session_at_work(
    task: Callable[..., None], credited: Callable[..., object]
) -> None:
    task("t1")
    assert credited(5, **CLINE) == ("cline", "t1", "agent")


def test_what_was_stored_in_an_earlier_batch_is_at_work_too(
    task: Callable[..., None], pipeline: Pipeline, credited: Callable[..., object]
) -> None:
    task("t1")
    pipeline.drain()
    assert credited(5, **CLINE) == ("cline", "t1", "agent")


def test_between_two_tasks_or_long_after_one_nobody_guesses(
    task: Callable[..., None], credited: Callable[..., object]
) -> None:
    task("t1")
    task("t2", minute=1)
    assert credited(5, **CLINE) == ("cline", "", "agent")


@pytest.mark.parametrize("minute", [61, -1], ids=["long-after", "before"])
def test_a_session_that_is_not_at_work_has_no_commit(
    task: Callable[..., None], credited: Callable[..., object], minute: int
) -> None:
    task("t1")
    assert credited(minute, **CLINE) == ("cline", "", "agent")


def test_a_task_in_another_folder_is_none(
    task: Callable[..., None], credited: Callable[..., object], tmp_path: Path
) -> None:
    task("t1")
    task("t2", minute=1, cwd=tmp_path / "elsewhere")
    assert credited(5, **CLINE) == ("cline", "t1", "agent")


@pytest.mark.parametrize(
    ("command", "minute", "has_ended", "expected"),
    [
        pytest.param("git commit -qm x", 1, False, ("droid", "d1", "agent"), id="git"),
        pytest.param("git commit -qm x", 9, False, ("git", "", "person"), id="too-late"),
        pytest.param("git commit -qm x", 1, True, ("git", "", "person"), id="ended"),
        pytest.param("pytest -q", 1, False, ("git", "", "person"), id="another-command"),
    ],
)
def test_a_commit_during_an_agents_call_of_git_is_the_agents(
    execute: Callable[..., None],
    credited: Callable[..., object],
    command: str,
    minute: int,
    has_ended: bool,
    expected: tuple[str, str, str],
) -> None:
    """Of an agent whose shells nothing marks, also if a person's shell started it."""
    execute(command, has_ended=has_ended)
    assert credited(minute) == expected


def test_what_a_shell_says_of_itself_is_less_than_a_call_at_work(
    execute: Callable[..., None], credited: Callable[..., object]
) -> None:
    execute("git commit -qm x")
    assert credited(1, OBSERVER_SESSION="bash-1-2") == ("droid", "d1", "agent")
