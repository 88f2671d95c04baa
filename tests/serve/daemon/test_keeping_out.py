"""Policy, pause and private sessions from the real hooks to the bytes of the home of a daemon."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from legible import legible

from observer.core.paths import Home
from observer.local import client
from tests.support import Git, Observer, Until

pytestmark = pytest.mark.slow


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


def test_a_policy_keeps_a_file_out_of_every_byte(
    home: Home, shop: Path, git: Git, until: Until
) -> None:
    (shop / ".observer.toml").write_text('exclude = ["/customers/"]')
    work(shop, git, CANARY)
    ended(home, shop, until)
    assert held(home, CANARY) == []
    assert held(home, SEEN)
    assert held(home, "Change the list")


def test_nothing_is_kept_of_what_is_done_during_a_pause(
    home: Home, shop: Path, git: Git, until: Until, observer: Observer
) -> None:
    assert observer("pause", "--project", str(shop), "--for", "1h").returncode == 0
    work(shop, git, CANARY)
    assert observer("pause", "--end").returncode == 0
    ended(home, shop, until)
    assert held(home, CANARY) == []
    assert held(home, "Change the list") == []
    assert held(home, SEEN)


def test_nothing_is_kept_of_what_a_private_session_does(
    home: Home, shop: Path, git: Git, until: Until
) -> None:
    work(shop, git, CANARY, OBSERVER_PRIVATE="1")
    ended(home, shop, until)
    assert held(home, CANARY) == []
    assert held(home, "Change the list") == []
    assert held(home, SEEN)


def test_without_any_of_them_all_is_kept(home: Home, shop: Path, git: Git, until: Until) -> None:
    work(shop, git, CANARY)
    ended(home, shop, until)
    assert held(home, CANARY)
    assert held(home, "Change the list")


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
