"""Real daemons for tests; none outlives its test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from observer import client
from observer.paths import Home

ROOT = Path(__file__).parents[2]

Until = Callable[..., None]
Observer = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def until() -> Until:
    """Wait until a condition holds; fail after a deadline."""

    def wait(condition: Callable[[], object], *, wait_s: float = 20.0) -> None:
        deadline = time.monotonic() + wait_s
        while not condition():
            assert time.monotonic() < deadline, "waited too long"
            time.sleep(0.01)

    return wait


@pytest.fixture(autouse=True)
def reaped(home: Home, until: Until) -> Iterator[None]:
    """Kill the daemon that a test left, stopped ones included."""
    yield
    if pid := client.daemon_pid(home):
        os.kill(pid, signal.SIGKILL)
        until(lambda: not client.is_running(home))


@pytest.fixture
def observer() -> Observer:
    """Run the real command in a process of its own."""

    def run(*words: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "observer", *words],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env=os.environ | {"PYTHONPATH": str(ROOT)} | env,
        )

    return run
