"""Another user of the machine reaches nothing of a home, however it was made."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from observer.core.paths import Home
from observer.local import client
from observer.local.spool import Spool
from tests.support import Until

STRANGER = 12345
HOOK = Path(__file__).parents[2] / "hooks/post"
pytestmark = [
    pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user"),
    pytest.mark.slow,
]


@pytest.fixture
def open_home(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A home in a folder that all may enter, made by hook and daemon without any mask."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        made = Home(Path(folder) / "observer")
        monkeypatch.setenv("OBSERVER_HOME", str(made.root))
        before = os.umask(0)
        try:
            subprocess.run([HOOK, "bash", "command"], input=b"text=make\0.\0", check=True)
            client.ensure_daemon(made, wait_s=60)
        finally:
            os.umask(before)
        yield made
        client.stop(made)


def test_no_file_and_no_socket_of_a_home_lets_another_user_in(
    open_home: Home, until: Until
) -> None:
    until(lambda: Spool(open_home.spool).depth() == 0, wait_s=60)
    paths = [open_home.root, *open_home.root.rglob("*"), open_home.socket, open_home.mcp_socket]
    assert len(paths) > 10
    child = os.fork()
    if not child:
        code = 2
        with suppress(BaseException):
            os.setgid(STRANGER)
            os.setuid(STRANGER)
            code = 1 if any(reached(path) for path in paths) else 0
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def reached(path: Path) -> bool:
    """Try to read, write, list, delete and call something."""
    with socket.socket(socket.AF_UNIX) as caller:
        ways: tuple[Callable[[], object], ...] = (
            lambda: os.close(os.open(path, os.O_RDONLY)),
            lambda: os.close(os.open(path, os.O_WRONLY)),
            lambda: next(path.iterdir(), None),
            (path / "planted").touch,
            path.unlink,
            lambda: caller.connect(str(path)),
        )
        for way in ways:
            with suppress(OSError):
                way()
                return True
    return False
