"""Where things are, sockets whose names the kernel accepts, and what reaches the disk."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.core.paths import (
    SOCKET_NAME_BYTES,
    Home,
    flush,
    home,
    is_inside,
    make_private,
    open_plain,
    read_plain,
    working_folder,
)


def test_the_home_is_a_hidden_folder_of_the_user_or_where_the_variable_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("OBSERVER_HOME")
    monkeypatch.setenv("HOME", "/u")
    assert home() == Home(Path("/u/.observer"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OBSERVER_HOME", "mine")
    assert home().root == tmp_path / "mine"


def test_socket_names_fit_the_kernel() -> None:
    homes = [Home(Path("/", *["d" * 50] * count, "x" * 10)) for count in (0, 1, 6)]
    for deep in homes:
        assert len(os.fsencode(deep.socket)) <= SOCKET_NAME_BYTES
        assert deep.mcp_socket.parent == deep.socket.parent == deep.run
    assert homes[-1].run != Home(Path("/" + "a" * 200)).run


def test_a_private_folder_is_private(tmp_path: Path) -> None:
    made = make_private(tmp_path / "a" / "b")
    assert [stat.S_IMODE(each.stat().st_mode) for each in (made, made.parent)] == [0o700, 0o700]
    assert make_private(made) == made


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give folders away")
def test_another_users_folder_is_refused(tmp_path: Path) -> None:
    os.chown(tmp_path, 12345, 12345)
    with pytest.raises(PermissionError, match="another user") as refused:
        make_private(tmp_path)
    assert refused.value.filename == str(tmp_path)
    assert refused.value.strerror == "it belongs to another user"


def test_inside_means_below_or_the_same() -> None:
    pairs = [("/a/b", "/a"), ("/a", "/a"), ("/ab", "/a"), ("/a", "/")]
    assert [is_inside(*pair) for pair in pairs] == [True, True, False, True]


def test_a_deleted_working_folder_is_what_the_shell_calls_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for shown in ("/nowhere/gone", ""):
        monkeypatch.setenv("PWD", shown)
        assert working_folder() == Path(shown or "/")


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY, os.O_RDWR])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["FIFO", "folder"])
def test_what_is_no_plain_file_is_refused_at_once(
    tmp_path: Path, make: Callable[[Path], None], flags: int
) -> None:
    make(tmp_path / "it")
    with pytest.raises(OSError, match=r"plain file|Is a directory") as refused:
        os.close(open_plain(tmp_path / "it", flags))
    assert refused.value.filename in {str(tmp_path / "it"), tmp_path / "it"}


@pytest.mark.parametrize(("target", "content"), [("there", b"a = 1"), (os.devnull, b"")])
def test_a_link_to_a_plain_file_is_followed(tmp_path: Path, target: str, content: bytes) -> None:
    (tmp_path / "there").write_bytes(b"a = 1")
    (tmp_path / "link").symlink_to(target)
    assert read_plain(tmp_path / "link") == content


@pytest.mark.parametrize(
    "request_number", [None, fcntl.F_GETFD, 10_000], ids=["Linux", "macOS", "a disk without it"]
)
def test_a_file_is_flushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request_number: int | None
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    if request_number is None:
        monkeypatch.delattr(fcntl, "F_FULLFSYNC", raising=False)
    else:
        monkeypatch.setattr(fcntl, "F_FULLFSYNC", request_number, raising=False)
    with (tmp_path / "file").open("wb") as file:
        flush(file.fileno())
        assert bool(synced) == (request_number != fcntl.F_GETFD)
