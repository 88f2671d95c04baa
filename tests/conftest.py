"""Fixtures for all: a throw-away home, and a guard over the real one."""

from __future__ import annotations

import gc
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from real_home import real_home

from observer.cli import main
from observer.core.paths import Home
from observer.local import client
from observer.redaction.seen import SEEN
from tests.support import Observer, Until

pytest_plugins = ["quick", "measuring", "skips"]

settings.register_profile(
    "suite",
    deadline=None,  # these machines are noisy; speed is measured by scripts/bench.py
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("quick", settings.get_profile("suite"), max_examples=15)
settings.load_profile("suite")

MOST_CPU_S = 30.0
"""What no test needs, and ten of it no test that is marked slow without another `most_s`."""
REAL_HOME = real_home()
"""What was home before any fixture."""
AGENT_VARIABLES = ("CLAUDECODE", "CLAUDE_", "CURSOR_", "KIRO_", "CODEX_", "GEMINI_", "AI_AGENT")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt what is collected from garbage collection: thousands of tests are there to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def knows_nothing() -> None:
    """Let no test know what redaction recognised in another: a process serves one home."""
    SEEN.close()


_FOLDERS: dict[Path, str] = {}
"""The test that each folder was made for."""


@pytest.fixture
def tmp_path(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Path]:
    """An empty folder of a short name, removed after the test.

    pytest's own keeps every folder of three runs, and links each by name: 13,000 of them cost more
    than most tests do.
    """
    folder = Path(tempfile.mkdtemp(dir=tmp_path_factory.getbasetemp()))
    _FOLDERS[folder] = request.node.nodeid
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True, scope="session")
def nothing_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fail for processes that tests left behind: a daemon takes 180 MB until somebody ends it."""
    yield
    left = []
    for process, home, command in running_in(tmp_path_factory.getbasetemp()):
        test = next((_FOLDERS[one] for one in home.parents if one in _FOLDERS), "a fixture")
        left.append((test, home, command))
        with suppress(OSError):  # ended
            os.kill(process, signal.SIGKILL)
    assert not left, left


def running_in(folder: Path) -> Iterator[tuple[int, Path, bytes]]:
    """Yield the processes whose home is in a folder, or is it, with that home and their words."""
    ours = b"OBSERVER_HOME=" + os.fsencode(folder)
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # ended, or somebody else's
            for variable in (process / "environ").read_bytes().split(b"\0"):
                if variable.startswith(ours):
                    home = Path(os.fsdecode(variable.partition(b"=")[2]))
                    yield int(process.name), home, (process / "cmdline").read_bytes()


def is_waking(home: Path) -> bool:
    """Return True if a process wakes a home's daemon: it starts another until one answers."""
    # A hook gives the program `up`, an editor's process `wake`.
    return any(words.endswith((b"\0wake\0", b"\0up\0")) for *_, words in running_in(home))


@pytest.fixture(autouse=True, scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The environment of the whole run: fixtures of any scope have a home that is thrown away."""
    user = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("OBSERVER_", "GIT_", *AGENT_VARIABLES)):
                patch.delenv(name)
        # What one process has compiled, the next need not.
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        patch.setenv("HOME", str(user))
        patch.setenv("OBSERVER_HOME", str(user / ".observer"))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        for variable in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"):
            patch.setenv(variable, "Ana")
        for variable in ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
            patch.setenv(variable, "ana@example.com")
        # A shell that runs us in the background has this ignored, as would all that tests start.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with REAL_HOME.watched():
            yield


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A home of observer's own inside a home of the user's own, both thrown away.

    No daemon outlives its test, stopped ones included. Fails the test that touched the real
    `~/.observer`.
    """
    before, priority = REAL_HOME.stamp(), os.getpriority(os.PRIO_PROCESS, 0)
    user = tmp_path / "home"
    user.mkdir()
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("OBSERVER_HOME", str(user / ".observer"))
    made = Home(user / ".observer")
    yield made
    _end_daemon(made)
    with suppress(PermissionError):  # an import that ran within this process has lowered it
        os.setpriority(os.PRIO_PROCESS, 0, priority)
    if made.run.parent != made.root:  # the home's path was too long for a socket's name
        shutil.rmtree(made.run, ignore_errors=True)
    assert not (touches := REAL_HOME.taken()), f"the test touched the real home: {touches}"
    assert REAL_HOME.stamp() == before, "the test touched the real home"


@pytest.fixture(autouse=True)
def guard(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that hangs, or in which something grows much faster than its input.

    What is counted is this process's processor time, so that a busy machine fails nothing.
    """

    def stop(*_: object) -> None:
        raise AssertionError(f"{most} s of processor time: a hang, or worse than linear")

    slow = request.node.get_closest_marker("slow")
    most = slow.kwargs.get("most_s", 10 * MOST_CPU_S) if slow else MOST_CPU_S
    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


@pytest.fixture
def git() -> Callable[..., str]:
    """Run the real git in a folder (made if it is missing) and return what it printed."""

    def run(folder: Path, *words: str, stdin: bytes = b"", **env: str) -> str:
        folder.mkdir(parents=True, exist_ok=True)
        settings = ["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"]
        done = subprocess.run(
            ["git", *settings, *words],
            cwd=folder,
            input=stdin,
            capture_output=True,
            env=os.environ | env,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout.decode(errors="replace").strip()

    return run


ROOT = Path(__file__).parents[1]


@pytest.fixture
def until() -> Until:
    """Wait until a condition holds; fail after a deadline."""

    def wait(condition: Callable[[], object], *, wait_s: float = 20.0) -> None:
        deadline = time.monotonic() + wait_s
        pause_s = 0.01
        while not condition():
            assert time.monotonic() < deadline, "waited too long"
            time.sleep(pause_s)
            pause_s = min(0.1, 1.2 * pause_s)  # what is looked at takes processor time too

    return wait


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


@pytest.fixture
def within(monkeypatch: pytest.MonkeyPatch) -> Observer:
    """Run a command as `observer` does, but within this process, which has imported it already.

    A process of its own takes 0.3 to 0.4 s of processor time, however little it does.
    """

    def run(*words: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        with (
            monkeypatch.context() as patch,
            tempfile.TemporaryFile("w+") as out,
            tempfile.TemporaryFile("w+") as err,
        ):
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            for name, value in {"PYTHONPATH": str(ROOT), **env}.items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as ended:
                main(words)
            for stream in (out, err):
                stream.seek(0)
            code = int(ended.value.code or 0)
            return subprocess.CompletedProcess(words, code, out.read(), err.read())

    return run


def _end_daemon(home: Home) -> None:
    deadline = time.monotonic() + 20
    while pid := client.daemon_pid(home):
        assert time.monotonic() < deadline, "a daemon does not die"
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
