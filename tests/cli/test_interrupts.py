"""Commands that stop the daemon are ended in the middle: it comes back, and nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from observer.core.paths import Home
from observer.local import client
from observer.local.spool import Spool
from observer.tools.status import current
from tests.conftest import running_in
from tests.support import Observer

pytestmark = pytest.mark.slow

AT = """
import os, sys
from observer.__main__ import main

number, at = int(sys.argv.pop(1)), int(sys.argv.pop(1))
seen = 0

def look(event, arguments):
    global seen
    if seen or event == "subprocess.Popen":  # the substitute: the daemon is about to be stopped
        seen += 1
        if seen == at:
            os.kill(os.getpid(), number)

sys.addaudithook(look)
try:
    main()
finally:
    print(f"steps {seen}", file=sys.stderr)
"""
COMMANDS = {
    "rebuild": ("doctor", "--rebuild"),
    "purge": ("purge", "--text", "login", "--yes"),
    "restore": ("restore", "{}", "--replace"),
    "redact": ("purge", "--secrets", "--yes"),
}


@pytest.fixture
def running(filled: Home, observer: Observer, home: Home) -> Iterator[Home]:
    """A home of three events whose daemon runs."""
    observer("up")
    yield home
    # What was asked to bring the daemon back may still be on its way, and find it down again.
    deadline = time.monotonic() + 60
    while any(running_in(home.root)):
        observer("down")
        assert time.monotonic() < deadline, "a process of the home does not end"


def ended(words: tuple[str, ...], number: int, at: int) -> subprocess.CompletedProcess[str]:
    """Run a command and send it a signal at its n-th step after it began to stop the daemon."""
    argv = [sys.executable, "-c", AT, str(number), str(at), *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120)


def events_of_daemon(home: Home) -> int:
    """Return how many events a daemon has, once one answers."""
    deadline = time.monotonic() + 60
    while (status := current(home)).uptime_ms is None:
        assert time.monotonic() < deadline, "the daemon stayed down"
    return status.events


@pytest.mark.parametrize(
    ("command", "number", "at"),
    [
        ("rebuild", signal.SIGTERM, 2),
        ("rebuild", signal.SIGKILL, 60),
        ("restore", signal.SIGINT, 90),
        ("redact", signal.SIGKILL, 40),
    ],
)
def test_the_daemon_comes_back_whenever_a_command_is_ended(
    running: Home, tmp_path: Path, command: str, number: int, at: int
) -> None:
    copy = tmp_path / "copy.db"
    assert ended(("backup", str(copy)), 0, 0).returncode == 0
    ran = ended(tuple(word.format(copy) for word in COMMANDS[command]), number, at)
    assert ran.returncode in {130, 128 + number, -number}
    assert events_of_daemon(running) == 3


def test_a_purge_that_is_ended_goes_on_at_the_next_start(running: Home) -> None:
    ended(COMMANDS["purge"], signal.SIGKILL, 150)
    assert events_of_daemon(running) in {1, 3}


WHILE_IMPORTING = """
import runpy, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
runpy.run_module("observer", run_name="__main__")
"""


@pytest.mark.parametrize("module", ["click", "observer.cli", "observer.core.errors"])
def test_an_interrupt_while_modules_are_imported_says_nothing(module: str) -> None:
    argv = [sys.executable, "-c", WHILE_IMPORTING, module]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "")


@pytest.fixture
def process(running: Home, tmp_path: Path) -> subprocess.Popen[str]:
    """A command that holds the home, and waits for what never comes."""
    os.mkfifo(tmp_path / "never")
    argv = [sys.executable, "-m", "observer", "restore", str(tmp_path / "never")]
    process = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True)
    while client.daemon_pid(running) != process.pid:
        assert process.poll() is None
    return process


def test_an_interrupt_says_the_daemon_runs(running: Home, process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1] == "interrupted; the daemon runs as before\n"
    assert process.returncode == 130
    assert current(running).uptime_ms is not None


def test_who_interrupts_where_no_daemon_can_start_is_told_that_it_is_down(
    running: Home, process: subprocess.Popen[str]
) -> None:
    running.config.write_text("owner = 5\n")
    process.send_signal(signal.SIGINT)
    assert "the daemon is down: " in process.communicate(timeout=60)[1]
    running.config.unlink()
    observer_up = [sys.executable, "-m", "observer", "up"]
    assert subprocess.run(observer_up, check=False, capture_output=True).returncode == 0


SLOW = """
import sys
from observer.cli import exclusive
from observer.__main__ import main

exclusive.RESTART_S = 0
main()
"""


def test_a_daemon_that_takes_long_is_not_said_to_be_down(running: Home, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", SLOW, *COMMANDS["purge"]]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120)
    assert (ran.returncode, "purged " in ran.stdout) == (0, True)
    assert "the daemon does not answer yet: " in ran.stderr
    assert events_of_daemon(running) == 1


def test_events_that_wait_wake_a_daemon_that_died(running: Home, observer: Observer) -> None:
    pid = client.daemon_pid(running)
    assert pid
    os.kill(pid, signal.SIGKILL)
    while client.is_running(running):
        pass
    assert observer("doctor", "--rebuild").returncode == 0
    Spool(running.spool).append({"client": "generic", "event": "prompt"}, b"{}")
    assert observer("doctor", "--rebuild").returncode == 0
    assert current(running).uptime_ms is not None


def test_hooks_try_again_after_an_up_that_was_killed(home: Home) -> None:
    home.root.mkdir(parents=True)
    home.waking.touch()  # by the hook that started it
    assert ended(("up",), signal.SIGKILL, 1).returncode == -signal.SIGKILL
    assert home.waking.stat().st_size > 0  # an empty one would keep them off for ever
