"""A pipeline over a real spool and a real store, with a clock that stands still."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from observer.core.config import Settings
from observer.core.paths import Home
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.projects import PlaceCache
from observer.store.database import SqliteStore
from observer.store.interface import Store

NOW_MS = 1_790_000_000_000

Post = Callable[..., str]


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    opened = SqliteStore(home.database)
    yield opened
    opened.close()


@pytest.fixture
def spool(home: Home) -> Spool:
    made = Spool(home.spool)
    made.prepare()
    return made


@pytest.fixture
def make_pipeline(store: Store, spool: Spool) -> Callable[..., Pipeline]:
    def make(**parts: Any) -> Pipeline:
        given = {"store": store, "spool": spool, "settings": Settings(), "places": PlaceCache()}
        given |= {"now_ms": lambda: NOW_MS} | parts
        return Pipeline(given.pop("store"), given.pop("spool"), **given)

    return make


@pytest.fixture
def pipeline(make_pipeline: Callable[..., Pipeline]) -> Pipeline:
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


@pytest.fixture
def run() -> Callable[..., dict[str, Any]]:
    return bash
