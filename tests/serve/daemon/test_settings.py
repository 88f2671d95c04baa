"""Settings, policies, pauses and private sessions hold in the daemon once a command returned."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from legible import legible

from observer.core.config import Settings
from observer.core.errors import BadInput
from observer.core.paths import Home
from observer.local import client
from observer.tools.asking import CommandRequest, surroundings
from tests.support import Git, Observer, Until

pytestmark = pytest.mark.slow

Run = Callable[..., object]
OTHER = {
    "event_cap_bytes": "4096",
    "session_idle_minutes": "45",
    "context_tokens": "500",
    "rules_chars": "2000",
    "http_port": "",
    "web_proxy_host": "memory.example.org",
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
    "mem0_scope": "team",
    "prices": "opus=5/25/0.5/6.25",
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


POST = Path(__file__).parents[3] / "hooks" / "post"
CANARY = "xylophone-9417"
SEEN = "marimba-2205"


@pytest.fixture
def shop(tmp_path: Path, git: Git, home: Home, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with our git hook, a folder of customers, and a daemon behind it."""
    monkeypatch.setenv("OBSERVER_HOME", str(home.root))
    root = tmp_path / "work" / "shop"
    git(root, "init", "-q")
    (root / "customers").mkdir()
    hook = root / ".git" / "hooks" / "post-commit"
    hook.write_text(f'#!/bin/sh\nexec sh "{POST}" git post-commit "$@"\n')
    hook.chmod(0o755)
    client.ensure_daemon(home)
    return root


def act(shop: Path, name: str, given: dict[str, Any], answer: Any = "", **env: str) -> None:
    """Run the hook as Claude Code does after a tool."""
    payload = {"session_id": "s1", "cwd": str(shop), "hook_event_name": "PostToolUse"}
    payload |= {"tool_name": name, "tool_input": given, "tool_response": answer}
    argv = ["sh", str(POST), "claude-code", "PostToolUse"]
    given_env = os.environ | {"PWD": str(shop)} | env
    subprocess.run(argv, input=json.dumps(payload).encode(), cwd=shop, env=given_env, check=True)


def work(shop: Path, git: Git, word: str, **env: str) -> None:
    """Write, read, print and commit a file of customers that holds a word."""
    path = shop / "customers" / "list.csv"
    path.write_text(f"{word}\n")
    act(shop, "Write", {"file_path": str(path), "content": word}, **env)
    act(shop, "Read", {"file_path": str(path)}, word, **env)
    act(shop, "Bash", {"command": "cat customers/list.csv"}, {"stdout": word}, **env)
    act(shop, "Bash", {"command": "git diff"}, {"stdout": diff_of(word)}, **env)
    git(shop, "add", ".")
    git(shop, "commit", "-q", "-m", "Change the list", **env)


def diff_of(word: str) -> str:
    path = "customers/list.csv"
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n+{word}\n"


def ended(home: Home, shop: Path, until: Until) -> None:
    """Wait until a last event, of another file, is stored, and stop the daemon."""
    act(shop, "Write", {"file_path": str(shop / "main.py"), "content": SEEN})
    until(lambda: not any((home.spool / "new").iterdir()))
    client.stop(home)


def held(home: Home, word: str) -> list[str]:
    wanted = word.encode()
    files = (file for file in home.root.rglob("*") if file.is_file())
    return [str(file) for file in files if wanted in legible(file)]


@pytest.mark.parametrize(
    ("way", "is_kept", "is_committed"),
    [("policy", False, True), ("pause", False, False), ("private", False, False), ("", True, True)],
    ids=["a policy", "a pause", "a private session", "none of them"],
)
def test_what_is_restricted_stands_in_no_byte(
    home: Home,
    shop: Path,
    git: Git,
    until: Until,
    observer: Observer,
    way: str,
    *,
    is_kept: bool,
    is_committed: bool,
) -> None:
    if way == "policy":
        (shop / ".observer.toml").write_text('exclude = ["/customers/"]')
    if way == "pause":
        assert observer("pause", "--project", str(shop), "--for", "1h").returncode == 0
    work(shop, git, CANARY, **({"OBSERVER_PRIVATE": "1"} if way == "private" else {}))
    if way == "pause":
        assert observer("pause", "--end").returncode == 0
    ended(home, shop, until)
    assert bool(held(home, CANARY)) is is_kept
    assert bool(held(home, "Change the list")) is is_committed
    assert held(home, SEEN)


@pytest.mark.parametrize("way", ["exclude", "pause", "policy"])
def test_what_keeps_out_does_so_once_its_command_has_returned(
    home: Home, shop: Path, git: Git, until: Until, observer: Observer, way: str
) -> None:
    if way == "policy":
        (shop / ".observer.toml").write_text('never = ["file-write"]')
    else:
        words = ["config", "set", "exclude"] if way == "exclude" else ["pause", "--project"]
        assert observer(*words, str(shop)).returncode == 0
    act(shop, "Write", {"file_path": str(shop / "diary.md"), "content": CANARY})
    until(lambda: not any((home.spool / "new").iterdir()))
    client.stop(home)
    assert held(home, CANARY) == []
