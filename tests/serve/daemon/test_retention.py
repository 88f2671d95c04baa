"""What is older than is kept is in no byte of the home after a quiet moment of the daemon."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from observer.core import config
from observer.core.paths import Home
from tests.support import Observer, Until
from tests.upkeep.purge.conftest import holding

CANARY = "zebrafink"


@pytest.fixture
def old(
    home: Home, within: Observer, until: Until, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Home:
    """A memory with the word in events of 40 days ago, and others of today."""
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    monkeypatch.chdir(folder)
    within("up")
    before = int((time.time() - 40 * 86_400) * 1000)
    texts = (
        ("prompt", f"why is the {CANARY} striped?", before, "s1"),
        ("prompt", "make the login page faster", int(time.time() * 1000), "s2"),
    )
    for kind, text, at, session in texts:
        report = {"kind": kind, "text": text, "at": at, "session": session, "cwd": str(folder)}
        assert within("post", stdin=json.dumps(report)).returncode == 0
    write = {"kind": "file-write", "path": "a.py", "content": f"x = '{CANARY}'"}
    write |= {"at": before, "session": "s1", "cwd": str(folder)}
    assert within("post", stdin=json.dumps(write)).returncode == 0
    assert within("remember", "the customer likes tabs").returncode == 0
    # A copy holds what is stored, and what is posted is stored soon.
    until(lambda: json.loads(within("status", "--json").stdout)["events"] == 4)
    for command in ("backup", "down"):
        assert within(command).returncode == 0
    held = holding(home, CANARY)
    assert "observer.db" in held, held
    assert any(name.startswith("backups/") for name in held), held
    return home


@pytest.mark.slow(waits=True)
def test_an_expired_word_stands_in_no_byte_of_the_home(
    old: Home, within: Observer, until: Until
) -> None:
    config.confirm(old, "retention_days", 30)
    within("up", OBSERVER_RETENTION_DAYS="30")
    until(lambda: not holding(old, CANARY), wait_s=50)
    assert "login page" in within("search", "login").stdout
    assert "tabs" in within("search", "--notes", "tabs").stdout
    within("down")
    before = json.loads(within("status", "--json").stdout)["items"]
    within("doctor", "--rebuild")
    assert json.loads(within("status", "--json").stdout)["items"] == before
    assert holding(old, CANARY) == []
    backup = next(old.backups.glob("*.db"))
    backup.replace(old.database)
    within("up", OBSERVER_RETENTION_DAYS="30")
    assert "login page" in within("search", "login").stdout
    within("down")


@pytest.mark.slow(waits=True)
def test_what_is_kept_for_ever_stays(old: Home, within: Observer, until: Until) -> None:
    log = old.logs / "daemon.log"
    assert within("config", "set", "retention_by_type", "file-write=30", "--yes").returncode == 0
    within("up")
    until(lambda: "were taken out that are older" in log.read_text(), wait_s=50)
    within("down")
    assert "striped" in within("search", "striped").stdout
