"""A pipeline over a real spool and a real store, with a clock that stands still."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

from observer.core.events import Event
from observer.core.model import Item
from observer.core.paths import Home
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.store.database import SqliteStore
from observer.store.interface import Store
from tests.support import Git, pipeline_over

NOW_MS = 1_790_000_000_000

Post = Callable[..., str]
Make = Callable[..., Pipeline]
POST = Path(__file__).parents[2] / "hooks" / "post"


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    opened = SqliteStore(home.database)
    yield opened
    opened.close()


def items_of(store: Store) -> list[Item]:
    with store.read() as reader:
        return list(reader.all_items())


def log_of(store: Store) -> list[Event]:
    with store.read() as reader:
        return [recorded.event for recorded in reader.log(limit=100_000)]


def drained(pipeline: Pipeline) -> int:
    """Store all that waits; return in how many rounds."""
    rounds = 0
    while pipeline.drain().entries:
        rounds += 1
    return rounds


@pytest.fixture
def spool(home: Home) -> Spool:
    made = Spool(home.spool)
    made.prepare()
    return made


@pytest.fixture
def make_pipeline(store: Store, spool: Spool) -> Make:
    def make(**parts: Any) -> Pipeline:
        given = {"store": store, "at": spool, "now_ms": NOW_MS} | parts
        return pipeline_over(**given)

    return make


@pytest.fixture
def pipeline(make_pipeline: Make) -> Pipeline:
    return make_pipeline()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "shop"
    made.mkdir()
    (made / "pyproject.toml").touch()
    return made


@pytest.fixture
def post(spool: Spool, folder: Path) -> Post:
    """Spool what Claude Code would report, without a process: tests/hooks has the processes."""

    def append(event: str, payload: dict[str, Any] | bytes, **fields: str) -> str:
        if isinstance(payload, dict):
            whole = {"session_id": "s1", "cwd": str(folder), "hook_event_name": event} | payload
            payload = json.dumps(whole).encode()
        given = {"client": "claude-code", "event": event, "cwd": str(folder), "at": str(NOW_MS)}
        return spool.append(given | fields, payload)

    return append


def bash(command: str, output: str = "done", **fields: str) -> dict[str, Any]:
    """Return the payload of a Bash tool call."""
    return {
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_response": {"stdout": output, "stderr": "", "interrupted": False},
    } | fields


class Faulty:
    """A store that fails at one event, as a bug or a full disk would: by one fault or several."""

    def __init__(self, store: Store, event_id: str, *faults: Exception) -> None:
        self._store = store
        self._event_id = event_id
        self._faults = chain(faults, repeat(faults[-1]))

    @contextmanager
    def write(self) -> Iterator[Any]:
        with self._store.write() as writer:
            append = writer.append

            def failing(recorded: Any, **parts: Any) -> bool:
                if recorded.event.id == self._event_id:
                    raise next(self._faults)
                return append(recorded, **parts)

            writer.append = failing  # type: ignore[method-assign]  # the fault
            yield writer


@pytest.fixture
def shop(tmp_path: Path, git: Git, home: Home, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with our hooks; its branch `theirs` has commits of the seconds 100 to 102."""
    monkeypatch.setenv("OBSERVER_HOME", str(home.root))
    folder = tmp_path / "work/shop"
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "Begin")
    git(folder, "checkout", "-q", "-b", "theirs")
    for number in range(3):
        who = {"GIT_AUTHOR_NAME": "Ada", "GIT_COMMITTER_DATE": f"{1_700_000_100 + number} +0000"}
        git(folder, "commit", "-q", "--allow-empty", "-m", f"t{number}", **who)
    git(folder, "checkout", "-q", "main")
    for event in ("post-commit", "post-merge", "post-checkout", "post-rewrite"):
        hook = folder / ".git/hooks" / event
        hook.write_text(f'#!/bin/sh\nexec sh "{POST}" git {event} "$@"\n')
        hook.chmod(0o755)
    return folder
