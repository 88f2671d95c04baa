"""One daemon a home, decided by the kernel."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from observer.core.errors import StoreUnavailable
from observer.core.paths import Home
from observer.local.client import daemon_pid, is_running
from observer.upkeep.home_guard import delete, hold
from observer.upkeep.restore import unshown

HOLDER = """
import sys, time
from observer.upkeep.home_guard import hold
from observer.core.paths import home
with hold(home()) as is_ours:
    print(is_ours, flush=True)
    time.sleep(60)
"""


def test_a_lock_has_one_holder_whom_it_names_until_the_end_of_its_block(home: Home) -> None:
    assert (is_running(home), daemon_pid(home)) == (False, None)
    with hold(home) as is_ours:
        assert is_ours
        assert daemon_pid(home) == os.getpid()
        with hold(home) as is_ours_too:
            assert not is_ours_too
    assert not is_running(home)


def test_the_kernel_frees_the_lock_of_a_killed_process(home: Home) -> None:
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, cwd=root, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        assert daemon_pid(home) == holder.pid
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert not is_running(home)


def test_a_home_that_cannot_exist_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable, match="cannot be written"), hold(Home(tmp_path / "file")):
        pass


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_named(
    home: Home, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """As some network file systems are: two daemons could not tell each other apart."""

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(StoreUnavailable, match=r"cannot be locked.*local file system"), hold(home):
        pass
    assert not is_running(home)


@pytest.mark.parametrize("name", ["confirmed.new", "config.new", ".seen", "observer.db-wal"])
def test_what_was_not_written_to_its_end_is_deleted_with_the_home(home: Home, name: str) -> None:
    home.root.mkdir(exist_ok=True)
    (home.root / name).write_bytes(b"x")
    own = home.root / "observer.db.my-notes.txt"  # which only begins like the database
    own.write_text("mine")
    assert delete(home, progress=unshown) == [own]
    own.unlink()
    assert delete(home, progress=unshown) == []
    assert not home.root.exists()
