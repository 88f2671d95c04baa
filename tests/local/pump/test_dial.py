from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.errors import DaemonUnavailable
from observer.core.paths import Home
from observer.local import client
from observer.local.pump import (
    PROTOCOL,
    SOCKET_NAME_BYTES,
    UNAVAILABLE,
    KeptAnswers,
    Pump,
    Stopped,
    dial,
    working_folder,
)
from observer.local.pump import socket_path as found
from observer.serve.servers import make_run_folder


def test_the_protocol_is_the_one_of_all_clients() -> None:
    assert PROTOCOL == client.PROTOCOL


def test_its_exit_code_is_the_one_of_all_clients() -> None:
    assert DaemonUnavailable.exit_code == UNAVAILABLE


def test_the_socket_is_where_the_paths_say(home: Home) -> None:
    home.root.mkdir()
    make_run_folder(home)
    assert Path(found(str(home.root))).resolve() == home.mcp_socket.resolve()


def test_a_name_too_long_for_the_kernel_is_reached_through_the_link(tmp_path: Path) -> None:
    home = Home(tmp_path / ("x" * SOCKET_NAME_BYTES))
    home.root.mkdir()
    (home.root / "run").symlink_to(home.run)
    assert found(str(home.root)) == str(home.mcp_socket)


def test_the_folder_of_a_plugin_is_not_where_somebody_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clients of Agent Plugins start a plugin's server in its folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLUGIN_ROOT", str(tmp_path))
    assert working_folder() == ""
    monkeypatch.setenv("PLUGIN_ROOT", "/elsewhere")
    assert working_folder() == str(tmp_path)


def test_a_folder_that_was_deleted_is_not_shown(tmp_path: Path) -> None:
    here = Path.cwd()
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    try:
        gone.rmdir()
        assert working_folder() == ""
    finally:
        os.chdir(here)


@pytest.mark.parametrize(
    ("starter", "reason"),
    [("/bin/true", "does not answer"), ("/bin/false", "could not be started")],
)
def test_a_start_in_vain_says_so(
    home: Home, monkeypatch: pytest.MonkeyPatch, starter: str, reason: str
) -> None:
    monkeypatch.setattr(sys, "executable", starter)
    root = str(home.root)
    pump = Pump(lambda: dial(root), b"", lambda: KeptAnswers(root, cwd="", tools="core"))
    pump._open()
    with pytest.raises(Stopped, match=reason):
        while pump._starting is not None:
            pump._await_start(pump._starting)


def test_a_socket_of_another_user_is_not_spoken_to(
    home: Home, far_end: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon = far_end()
    us = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: us + 1)
    with pytest.raises(OSError, match="another user"):
        dial(str(home.root))
    assert daemon.heard == []


@pytest.mark.slow
def test_a_daemon_that_nobody_started_is_started(home: Home, editor: Any) -> None:
    pump = editor("--tools=core")
    try:
        pump.ask(0, "ping")
        assert pump.hear()["id"] == 0
        assert pump.leave() == 0
    finally:
        client.stop(home)
