"""Capture by hooks alone brings a dead daemon back, once, and leaves a stopped one alone."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from observer.core.paths import Home
from observer.local import client
from observer.tools.status import current
from observer.upkeep import home_guard
from tests.conftest import is_waking
from tests.support import Observer, Until

pytestmark = pytest.mark.slow

POST = Path(__file__).parents[2] / "hooks" / "post"


def post(home: Home) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["sh", str(POST), "generic", "command"],
        stdin=subprocess.PIPE,
        env=os.environ | {"OBSERVER_HOME": str(home.root)},
    )


def report(home: Home, count: int = 1) -> None:
    hooks = [post(home) for _ in range(count)]
    for hook in hooks:
        hook.communicate(b'{"kind": "command", "command": "make"}', timeout=60)
        assert hook.returncode == 0


def run_out(path: Path) -> None:
    os.utime(path, (1, 1))


@pytest.fixture
def killed(home: Home, observer: Observer, until: Until) -> Home:
    assert observer("up").returncode == 0
    until(home.alive.exists)
    pid = client.daemon_pid(home)
    assert pid
    os.kill(pid, signal.SIGKILL)
    until(lambda: not client.is_running(home))
    return home


def test_one_of_many_hooks_starts_a_daemon_that_died(killed: Home, until: Until) -> None:
    run_out(killed.alive)
    report(killed, 8)
    until(lambda: current(killed).events == 8)
    assert (killed.logs / "daemon.log").read_text().count(" is up, ") == 2
    until(lambda: not killed.waking.exists() and not is_waking(killed.root))


def test_no_hook_starts_what_was_stopped(home: Home, observer: Observer, until: Until) -> None:
    assert observer("up").returncode == 0
    until(home.alive.exists)
    assert observer("down").returncode == 0
    report(home)
    assert not home.alive.exists()
    assert not home.waking.exists()


def test_a_daemon_that_cannot_start_is_not_begun_by_every_hook(killed: Home, until: Until) -> None:
    run_out(killed.alive)
    killed.config.write_text("nonsense = 1\n")
    report(killed, 4)
    until(lambda: killed.waking.exists() and killed.waking.stat().st_size)
    tried = (killed.logs / "daemon.log").read_text().count("nonsense")
    report(killed, 4)
    assert (killed.logs / "daemon.log").read_text().count("nonsense") == tried
    killed.config.unlink()
    run_out(killed.waking)
    report(killed)
    until(lambda: current(killed).events == 9 and not is_waking(killed.root))
    client.stop(killed)


def test_no_hook_starts_one_while_the_last_may_live_or_by_a_python_gone(killed: Home) -> None:
    report(killed)
    assert not killed.waking.exists()
    killed.alive.write_text("/nowhere/python\n\n")
    run_out(killed.alive)
    report(killed)
    assert killed.waking.exists()
    assert not client.is_running(killed)


def test_a_lease_that_cannot_be_written_is_no_error(home: Home) -> None:
    home.alive.mkdir(parents=True)
    home_guard.renew(home)
    home_guard.postpone(home)
    assert not home.waking.exists()
