"""The real parts that many tests put together in one way."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import strategies as st

from observer.core.config import Settings
from observer.core.events import Event
from observer.core.model import Receipt
from observer.core.paths import Home
from observer.index import Index
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.memory.api import Memory
from observer.projects import PlaceCache
from observer.store.connection import stemmer
from observer.store.database import SqliteStore

ROOT = Path(__file__).parents[1]
Git = Callable[..., str]
Until = Callable[..., None]
Observer = Callable[..., "subprocess.CompletedProcess[str]"]
"""What fixtures of all tests give."""
Clock = Callable[[], int] | int
"""Milliseconds; a number for a clock that stands."""
SHORT = st.text(max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | SHORT


def json_of(
    leaves: st.SearchStrategy[Any] = SCALARS,
    names: st.SearchStrategy[str] = SHORT,
    *,
    most: int = 8,
) -> st.SearchStrategy[Any]:
    """Return JSON of at most so many leaves, lists and objects with three entries at most."""
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
        max_leaves=most,
    )


def ended(argv: Sequence[str | Path], **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run a program to its end, well or not; keep what it prints, as text unless it is bytes."""
    given = {"capture_output": True, "text": True, "check": False, **options}
    return subprocess.run(argv, **given)  # noqa: PLW1510 - as it is asked for


def put_file(path: Path, content: str | bytes = "") -> Path:
    """Write a file, with the folders around it; one that names its interpreter is a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    if path.read_bytes().startswith(b"#!"):
        path.chmod(0o755)
    return path


def told_by_hook(repository: Path, *, session: str = "one") -> Callable[..., None]:
    """Return what reports an event of Claude Code in a repository, as it does: by the hook."""
    numbers = count(1)

    def tell(event: str, **fields: Any) -> None:
        payload = {"session_id": session, "cwd": str(repository), "hook_event_name": event}
        if "tool_name" in fields:
            payload["tool_use_id"] = f"t{next(numbers)}"
        done = subprocess.run(
            ["sh", str(ROOT / "hooks" / "post"), "claude-code", event],
            input=json.dumps(payload | fields).encode(),
            capture_output=True,
            check=True,
            cwd=repository,
        )
        assert (done.stdout, done.stderr) == (b"", b"")

    return tell


def module_at(path: Path) -> ModuleType:
    """Import a file that is in no package: an example, a script, another test's cases."""
    spec = spec_from_file_location(f"alone_{path.stem}", path)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # where msgspec looks for what annotations name
    spec.loader.exec_module(module)
    return module


def pipeline_over(store: SqliteStore, at: Home | Spool, now_ms: Clock, **parts: Any) -> Pipeline:
    """Return a pipeline with settings and places of its own, from a spool or that of a home."""
    spool = Spool(at.spool) if isinstance(at, Home) else at
    given = {"settings": Settings(), "places": PlaceCache()} | parts
    return Pipeline(store, spool, now_ms=clock(now_ms), **given)


def memory_over(store: SqliteStore, at: Home | Index, now_ms: Clock, **parts: Any) -> Memory:
    """Return ana's memory, which knows no meanings, with an index or that of a home."""
    index = at if isinstance(at, Index) else Index(at.index, stem=stemmer(), is_owner=False)
    given = {"owner": "ana", "encode": lambda *_: None} | parts
    return Memory(store, now_ms=clock(now_ms), index=index, **given)


def clock(now_ms: Clock) -> Callable[[], int]:
    return now_ms if callable(now_ms) else lambda: now_ms


async def run_until(holds: Callable[[], Any], *work: Awaitable[None]) -> None:
    """Run tasks until a condition holds, 20 seconds at most; none may end before."""
    tasks = [asyncio.ensure_future(each) for each in work]
    deadline = time.monotonic() + 20
    try:
        while not holds():
            assert time.monotonic() < deadline, "waited too long"
            for task in tasks:
                assert not task.done(), task.exception()
            await asyncio.sleep(0.01)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def record_by(pipeline: Pipeline) -> Callable[[Sequence[Event], int | None], Sequence[Receipt]]:
    """Return what writes events one call after the other, as the daemon's writer does."""
    lock = threading.Lock()

    def record(events: Sequence[Event], project_id: int | None) -> Sequence[Receipt]:
        with lock:
            return pipeline.ingest(events, project_id)

    return record
