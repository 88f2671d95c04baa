"""A client that went quiet is announced in contexts until a session has begun with it, once."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from observer.clients.config_files.context import current_context
from observer.clients.installers import install, perform
from observer.core.paths import Home
from observer.local.spool import Spool
from observer.memory.api import Memory
from observer.memory.opening import open_memory
from observer.serve import contexts
from observer.serve.contexts import QuietNotice
from observer.store.database import SqliteStore
from tests.support import pipeline_over

DAY_MS = 86_400_000
SAID = "claude-code sent nothing for 3 d; its own files say you used it"

Store = Callable[..., None]


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture(autouse=True)
def used(home: Home, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Claude Code, installed a week ago and used just now."""
    monkeypatch.setattr(contexts, "FIRST_AFTER_S", 0.0)
    monkeypatch.setattr(contexts, "LOOK_EVERY_S", 0.0)
    perform(install("claude-code", current_context(home)), home, at_ms=1)
    week_ago = time.time() - 7 * 86_400
    os.utime(home.hooks, (week_ago, week_ago))
    transcript = Path.home() / ".claude" / "projects" / "shop" / "one.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.touch()
    return transcript


@pytest.fixture
def store(home: Home) -> Store:
    """Store a prompt of a client that was made some time ago."""

    def put(client: str, *, ago_ms: int, session: str) -> None:
        spool = Spool(home.spool)
        body = {"kind": "prompt", "text": session, "session": session, "client": client}
        fields = {"client": "generic", "event": "prompt", "at": str(now_ms() - ago_ms)}
        spool.append(fields, json.dumps({**body, "cwd": "/"}).encode())
        with closing(SqliteStore(home.database)) as database:
            pipeline = pipeline_over(database, spool, now_ms)
            while pipeline.drain().entries:
                pass

    return put


@pytest.fixture
def memory(home: Home, store: Store) -> Iterator[Memory]:
    store("claude-code", ago_ms=3 * DAY_MS + 1000, session="first")
    with open_memory(home) as opened:
        yield opened


def test_it_is_announced_until_an_agents_session_has_begun(
    home: Home, memory: Memory, store: Store
) -> None:
    notice = QuietNotice(home, memory)
    assert notice.look(at_ms=now_ms() - 1000)
    assert SAID in notice.text
    assert not notice.look(at_ms=now_ms())
    store("zsh", ago_ms=0, session="of a shell")
    assert not notice.look(at_ms=now_ms())
    store("cursor", ago_ms=0, session="of an agent")
    assert notice.look(at_ms=now_ms())
    for later in (notice, QuietNotice(home, memory)):  # once
        assert not later.look(at_ms=now_ms())
        assert later.text == ""


@pytest.mark.parametrize("is_installed", [True, False])
def test_a_client_that_reports_or_is_not_installed_is_not_announced(
    home: Home, memory: Memory, store: Store, *, is_installed: bool
) -> None:
    if is_installed:
        store("claude-code", ago_ms=1000, session="second")
    else:
        (Path.home() / ".claude/settings.json").unlink()
    assert not QuietNotice(home, memory).look(at_ms=now_ms())
