"""A home that cannot be written or read names itself, and what is closed is one line of a status.

The power of root to pass over permissions is given up first.
"""

from __future__ import annotations

import ctypes
import json
import lzma
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from observer.core.paths import Home
from observer.local.spool import Spool
from tests.support import Git, Until, put_file

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        os.getuid() == 0 and sys.platform != "linux", reason="root cannot be bound here"
    ),
]
ROOT = Path(__file__).parents[2]
OLD = ROOT / "tests/data/homes/v05-5658d45e.db.xz"
UNWRITABLE = "note: the home {} cannot be written, and nothing new is recorded"
Bound = Callable[..., str]
Close = Callable[[Path, int], None]


def bind() -> None:
    """Heed permissions from the next program on, as all but root do anyway."""
    for capability in (1, 2) if os.getuid() == 0 else ():  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.fixture
def bound() -> Bound:
    """Run a command line that heeds permissions; returns all that it prints."""

    def run(*words: str) -> str:
        ran = subprocess.run(
            [sys.executable, "-m", "observer", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=60,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            preexec_fn=bind,
        )
        assert "Traceback" not in ran.stdout
        return ran.stdout

    return run


@pytest.fixture
def close() -> Iterator[Close]:
    """Set the mode of a file, or of a folder and all that is in it, until the test is over."""
    before: dict[Path, int] = {}

    def set_mode(path: Path, without: int) -> None:
        for each in (*path.rglob("*"), path):
            if not each.is_symlink():
                before.setdefault(each, each.stat().st_mode)
                each.chmod(each.stat().st_mode & ~without)

    yield set_mode
    for path, mode in reversed(before.items()):
        path.chmod(mode)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("status", "degraded     home: {} cannot be written"),
        ("status", "stored       3 events, "),
        ("search login", UNWRITABLE),
        ("context", UNWRITABLE),
        ("remember this", "hint: make it yours and writable, or choose another OBSERVER_HOME"),
        ("backup", "error: the home {} cannot be used: "),
        ("doctor --rebuild", "hint: the home cannot be written: make it yours and writable"),
    ],
)
def test_a_home_that_cannot_be_written_names_itself(
    bound: Bound, filled: Home, home: Home, close: Close, words: str, said: str
) -> None:
    close(home.root, 0o222)
    shown = bound(*words.split())
    assert said.format(home.root) in shown
    assert "git" not in shown


def test_one_of_an_older_observer_counts_its_events(bound: Bound, home: Home, close: Close) -> None:
    put_file(home.database, lzma.decompress(OLD.read_bytes()))
    close(home.root, 0o222)
    assert "stored       5 events, 5 items" in bound("status")
    assert "hint: the home cannot be written: " in bound("search", "invoices")


def test_what_cannot_be_read_is_named(bound: Bound, filled: Home, home: Home, close: Close) -> None:
    close(home.database, 0o666)
    said = f"{home.database}: Permission denied"
    assert said in bound("remember", "this")
    assert f"store: {said}" in bound("status")
    assert "Traceback" not in (home.logs / "daemon.log").read_text()
    bound("down")
    home.root.chmod(0)
    shown = bound("status")
    home.root.chmod(0o700)
    assert f"degraded     home: {home.root}" in shown


def test_a_note_folder_that_is_closed_is_one_line_until_it_is_open(
    bound: Bound, home: Home, until: Until, tmp_path: Path
) -> None:
    inner, closed = tmp_path / "vault/inner", tmp_path / "closed"
    for folder in (inner, closed):
        put_file(folder / "a.md", "a note")
        bound("note", "folder", "add", str(folder.parent if folder == inner else folder))
    inner.chmod(0)
    closed.chmod(0)
    said = f"the note folder {closed} cannot be read: Permission denied (make it readable, or: "
    until(lambda: said in bound("status"))
    until(lambda: "vault: 1 note; not stored: inner/ (Permission denied)\n" in bound("status"))
    inner.chmod(0o700)
    until(lambda: "not stored" not in bound("status"))
    assert said in bound("status")  # that nothing else is wrong makes it no better
    bound("note", "folder", "remove", "closed")
    until(lambda: "degraded" not in bound("status"))
    closed.chmod(0o700)
    assert "Traceback" not in (home.logs / "daemon.log").read_text()


def test_what_closes_beside_a_daemon_is_one_line(
    bound: Bound, home: Home, close: Close, git: Git, until: Until, tmp_path: Path
) -> None:
    root = tmp_path / "app"
    git(root, "init")
    (root / "a.py").write_text("x = 1\n")

    def tell(kind: str, **fields: object) -> None:
        payload = {"kind": kind, "client": "cursor", "session": "s", "cwd": str(root), **fields}
        given = {"client": "generic", "event": kind}
        Spool(home.spool).append(given, json.dumps(payload).encode())

    def shows(said: str) -> Callable[[], bool]:
        return lambda: said in " ".join(bound("status").split())

    bound("up")
    tell("prompt", text="go")
    until(shows(f" watched {root}: 1 file"))
    (root / ".git").chmod(0)
    (root / "a.py").write_text("x = 2\n")
    until(shows(f"not watched {root}: [Errno 13] Permission denied: '{root}/.git/"))
    close(home.context, 0o222)
    tell("command", command="make", exit_code=2, output="error: no rule")
    until(shows(f"context files: [Errno 13] Permission denied: '{home.context}/"))
    close(home.spool, 0o222)
    bound("down")
    assert shows(f"spool: {home.spool} cannot be written, and nothing new is recorded")()
    (root / ".git").chmod(0o700)
    assert "Traceback" not in (home.logs / "daemon.log").read_text()
