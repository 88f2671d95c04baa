"""SIGKILL at every step and at any moment: nothing lost, nothing doubled."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from observer.core.disk import envelope
from observer.core.paths import Home
from observer.local import client
from observer.local.spool import Spool
from observer.store.database import SqliteStore

ROOT = Path(__file__).parents[1]
DRIVER = Path(__file__).with_name("crash_driver.py")
STEPS = ("claimed", "written", "committed", "half-acknowledged", "acknowledged")
EVENTS = 20


def spool_events(home: Home, count: int, *, start: int = 0) -> set[str]:
    spool = Spool(home.spool)
    spool.prepare()
    return {
        spool.append(
            {"client": "claude-code", "event": "PostToolUse", "cwd": "/"},
            json.dumps(
                {
                    "session_id": f"s{n % 3}",
                    "tool_name": "Bash",
                    "tool_use_id": f"t{n}",
                    "tool_input": {"command": f"make target{n}"},
                    "tool_response": {"stdout": "done", "stderr": ""},
                }
            ).encode(),
        )
        for n in range(start, start + count)
    }


def spool_backlog(home: Home, count: int) -> set[str]:
    """Spool prompts as hooks do, but without waiting for the disk."""
    Spool(home.spool).prepare()
    names = {f"e{number:05}": f"s{number % 50}" for number in range(count)}
    for name, session in names.items():
        said = json.dumps({"session_id": session, "prompt": f"say {name}"}).encode()
        fields = {"client": "claude-code", "event": "UserPromptSubmit", "cwd": "/"}
        (home.spool / "tmp" / name).write_bytes(envelope(fields, said))
        (home.spool / "new" / name).touch()
    return set(names)


def stored(home: Home) -> list[str]:
    store = SqliteStore(home.database)
    with store.read() as reader:
        ids = [recorded.event.id for recorded in reader.log(limit=100_000)]
    assert store.check() == "ok"
    store.close()
    return ids


def drive(step: str, home: Home) -> int:
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, DRIVER, step, home.root], check=False, env=environ
    ).returncode


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_loses_and_doubles_nothing(home: Home, step: str) -> None:
    expected = spool_events(home, EVENTS)
    assert drive(step, home) == -signal.SIGKILL
    assert drive("none", home) == 0
    ids = stored(home)
    assert (len(ids), set(ids)) == (EVENTS, expected)
    assert Spool(home.spool).depth() == 0


@pytest.mark.slow
def test_kills_at_random_moments_under_load(
    home: Home, observer: Callable[..., Any], until: Callable[..., None]
) -> None:
    moments = random.Random(20261122)
    expected: set[str] = set()
    for round_ in range(5):
        expected |= spool_events(home, 40, start=40 * round_)
        client.ensure_daemon(home, wait_s=30)
        time.sleep(moments.uniform(0, 0.25))  # the random moment itself, not a wait
        os.kill(client.daemon_pid(home) or 0, signal.SIGKILL)
        until(lambda: not client.is_running(home))
    client.ensure_daemon(home, wait_s=30)
    until(lambda: Spool(home.spool).depth() == 0)
    assert observer("down").returncode == 0
    ids = stored(home)
    assert (len(ids), set(ids)) == (200, expected)


@pytest.mark.slow
def test_a_kill_amid_a_long_backlog_leaves_no_process_and_loses_nothing(
    home: Home, until: Callable[..., None]
) -> None:
    expected = spool_backlog(home, 2500)
    client.ensure_daemon(home, wait_s=30)
    daemon = psutil.Process(client.daemon_pid(home) or 0)
    until(lambda: readers(daemon))
    ahead = readers(daemon)[0]
    daemon.kill()
    until(lambda: not ahead.is_running() or ahead.status() == psutil.STATUS_ZOMBIE)
    client.ensure_daemon(home, wait_s=30)
    until(lambda: Spool(home.spool).depth() == 0)
    ids = stored(home)
    assert (len(ids), set(ids)) == (len(expected), expected)


def readers(daemon: psutil.Process) -> list[psutil.Process]:
    return [child for child in daemon.children() if "observer.ingest.prefetch" in command_of(child)]


def command_of(process: psutil.Process) -> str:
    """Return a command line; empty for a process that ended, buried or not."""
    try:
        return str(process.cmdline())
    except psutil.NoSuchProcess:
        return ""
