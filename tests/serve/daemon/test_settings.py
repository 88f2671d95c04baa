"""Every setting holds in the daemon once `observer config set` has returned."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator

import msgspec
import pytest

from observer.core.config import Settings
from observer.core.errors import BadInput
from observer.core.paths import Home
from observer.local import client
from observer.tools.asking import CommandRequest, surroundings

pytestmark = pytest.mark.slow

Run = Callable[..., object]
OTHER = {
    "event_cap_bytes": "4096",
    "session_idle_minutes": "45",
    "context_tokens": "500",
    "rules_chars": "2000",
    "http_port": "",
    "exclude": "/srv/diary",
    "owner": "ben",
    "flashback_days": "30",
    "flashback_distance": "0.5",
    "semantic_min_similarity": "0.2",
    "flashback_limit": "1",
    "recall_hooks": "false",
    "model": "instant",
    "model_url": "http://127.0.0.1:9/",
    "llm_url": "http://127.0.0.1:9/v1",
    "llm_model": "small",
    "llm_key_env": "KEY_OF_MINE",
    "llm_daily_tokens": "1000",
    "watch": "false",
    "watch_max_files": "100",
    "follow": "codex",
    "backup_hours": "48",
    "backup_disk_percent": "1",
    "retention_days": "365",
    "retention_by_type": "command=90",
    "retention_by_folder": "/srv/shop=90",
    "max_home_mb": "5000",
    "forget_grace_hours": "1",
    "log_level": "debug",
}
"""A value of each setting that is not its default; of `http_port` one that is free."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home whose daemon runs, for all tests here."""
    made = Home(tmp_path_factory.mktemp("held") / ".observer")
    client.ensure_daemon(made)
    yield made
    client.stop(made)


def asks_with_its_own_settings(home: Home) -> bool:
    """Return whether the daemon has the settings that the files say now."""
    asked = CommandRequest(
        question="projects",
        arguments={},
        folder="/",
        is_json=True,
        is_local=False,
        surroundings=surroundings(),
    )
    try:
        client.call(home, "POST", "/ask", msgspec.to_builtins(asked))
    except BadInput as error:
        return error.message != "the settings have changed"
    return True


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_a_value_is_there_for_every_setting() -> None:
    assert OTHER.keys() == set(Settings.__struct_fields__)


@pytest.mark.parametrize("name", OTHER)
def test_a_setting_holds_once_its_command_has_returned(
    running: Home, within: Run, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("OBSERVER_HOME", str(running.root))
    within("config", "set", name, OTHER[name] or str(free_port()))
    assert f"{name} = " in running.config.read_text()
    assert asks_with_its_own_settings(running)


def test_a_setting_that_is_written_by_hand_does_not(
    running: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OBSERVER_HOME", str(running.root))
    before = running.config.read_bytes() if running.config.exists() else b""
    running.config.write_bytes(b'owner = "carla"\n')
    is_known = asks_with_its_own_settings(running)
    running.config.write_bytes(before)
    assert not is_known


def test_a_file_that_no_daemon_starts_with_leaves_the_one_that_runs(
    running: Home, within: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OBSERVER_HOME", str(running.root))
    before, pid = running.config.read_bytes(), client.daemon_pid(running)
    running.config.write_bytes(b"wacth = true\n")
    within("config", "set", "watch", "false")
    assert running.config.read_bytes() == b"wacth = true\n"
    running.config.write_bytes(before)
    assert client.daemon_pid(running) == pid
