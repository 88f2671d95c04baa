"""`observer import`: what is found, one question, and everything once."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from observer.core.clock import now_ms
from observer.core.errors import ObserverError
from observer.core.paths import Home
from observer.importers.run import FinishedImports, QueuedImport, QueuedSource, queue
from observer.local import client
from observer.store.database import SqliteStore
from tests.cli.conftest import Run, answered
from tests.importers.played import BEGUN_MS, fixed_bug, fixed_later
from tests.support import Until, put_file

Sessions = Callable[[int], Path]
DAY_MS = 86_400_000
NOTHING = "nothing was found: if it lies elsewhere, name where: observer import SOURCE PATH\n"
EVENTS = 10
"""What one session becomes."""


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    """Let Claude Code have had sessions, a day apart, in one folder."""

    def make(count: int) -> Path:
        shop = Path(os.environ["HOME"]) / "shop"
        put_file(shop / "pyproject.toml")
        for number in range(count):
            played = fixed_bug(shop, f"s{number:02}", begun_ms=BEGUN_MS + number * DAY_MS)
            played.write(Path(os.environ["HOME"]) / ".claude/projects/-home-shop")
        return shop

    return make


def stored(home: Home, name: str = "session") -> list[str]:
    """Return a field of all stored events; none without a database."""
    if not home.database.exists():
        return []
    try:
        with closing(SqliteStore(home.database, read_only=True)) as store, store.read() as reader:
            return [getattr(each.event, name) for each in reader.log(limit=10_000)]
    except (ObserverError, OSError):  # it is just being made
        return []


def fixes(home: Home) -> list[str]:
    """Return what the fixes say."""
    with closing(sqlite3.connect(f"file:{home.database}?mode=ro", uri=True)) as database:
        sql = "SELECT narrative FROM item WHERE type = 'fix' AND deleted_ms IS NULL ORDER BY id"
        return [row[0] for row in database.execute(sql)]


def test_it_shows_what_it_found_and_asks(run: Run, sessions: Sessions) -> None:
    sessions(3)
    ran = run("import")
    assert ran.code == 2
    assert "there is no terminal to ask on" in ran.err
    row = dict(zip(*(re.split(" {2,}", line) for line in ran.out.splitlines()), strict=True))
    shown = [row[name] for name in ("source", "sessions", "known", "to read")]
    assert shown == ["claude-code", "3", "0", "3"]
    assert (row["first"], row["last"], row["folders"]) == ("2026-05-28", "2026-05-30", "shop")


def test_a_client_may_keep_its_files_elsewhere(
    run: Run, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = sessions(2)
    (shop.parent / ".claude").rename(shop.parent / "mine")
    assert run("import", "--dry-run", "--json").json == []
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(shop.parent / "mine"))
    assert [plan["to_read"] for plan in run("import", "--dry-run", "--json").json] == [2]


@pytest.mark.parametrize(
    ("words", "count"),
    [
        pytest.param(("--since", "2026-05-30"), 1, id="since"),
        pytest.param(("--project", "{shop}"), 3, id="its folder"),
        pytest.param(("--project", "{shop}2"), None, id="another folder"),
        pytest.param(("{home}/.claude/projects/-home-shop/s01.jsonl",), 1, id="a file"),
    ],
)
def test_some_sessions_are_chosen(
    run: Run, sessions: Sessions, words: tuple[str, ...], count: int | None
) -> None:
    shop = sessions(3)
    named = [word.format(shop=shop, home=shop.parent) for word in words]
    found = run("import", "claude-code", "--dry-run", "--json", *named).json
    assert [plan["to_read"] for plan in found] == ([] if count is None else [count])


def test_several_clients_are_named_in_one_command(run: Run, sessions: Sessions) -> None:
    home = sessions(1).parent
    meta = {"id": "c1", "timestamp": "2026-05-28T09:00:00.000Z", "cwd": str(home / "shop")}
    row = {"timestamp": meta["timestamp"], "type": "session_meta", "payload": meta}
    put_file(home / ".codex/sessions/2026/rollout-c1.jsonl", json.dumps(row) + "\n")
    found = run("import", "claude-code", "codex", "--dry-run", "--json").json
    assert [plan["source"] for plan in found] == ["claude-code", "codex"]
    refused = run("import", "claude-code", "codex", str(home), "--dry-run")
    assert "import each in its own call" in refused.err


def test_an_import_says_what_it_leaves_for_later(run: Run, sessions: Sessions) -> None:
    shop = sessions(1)
    fixed_bug(shop, "new", begun_ms=now_ms() - 80_000).write(shop.parent / ".claude/projects/-shop")
    assert "the last minute of 1 session is left" in run("import", "claude-code").err


def test_what_is_no_session_is_named(run: Run, sessions: Sessions) -> None:
    """Histories and notes are neither counted as sessions nor said to be some."""
    home = sessions(2).parent
    (home / ".bash_history").write_text("git status\n" * 9_999)
    (home / "CLAUDE.md").write_text("Totals are rounded once.\n")
    for name in ("a/shop", "b/shop"):
        played = fixed_bug(home / name, name[:1])
        played.write(home / ".claude/projects/-home-shop")
    shown = run("import", "--dry-run").out.splitlines()
    rows = {row[0]: row[1:] for row in (re.split(" {2,}", line) for line in shown)}
    assert rows["claude-code"][:3] == ["4", "0", "4"]
    assert rows["claude-code"][-1] == "shop"
    assert (rows["bash"][0], rows["bash"][-1]) == ("yes", "107.4 KiB")
    assert rows["memory-files"][-1] == "25 B"
    asked = answered(b"n\n", "import")
    assert "Import 4 sessions and what bash and memory-files have? [y/N]" in asked.stdout


@pytest.mark.slow
def test_everything_is_imported_once(run: Run, home: Home, sessions: Sessions) -> None:
    shop = sessions(3)
    ran = run("import", "--yes")
    assert f"claude-code: {3 * EVENTS} events of 3 sessions stored, 0 known already" in ran.out
    assert run("import", "--yes").out.endswith("nothing new to import\n")
    home.imports.unlink()
    again = run("import", "claude-code", "--json").json
    fates = {"stored": 0, "known": 3 * EVENTS, "excluded": 0, "purged": 0, "expired": 0}
    assert again[0]["events"] == fates
    assert len(stored(home)) == 3 * EVENTS
    path = shop.parent / ".claude/projects/-home-shop/s01.jsonl"
    path.write_bytes(path.read_bytes() + b"{broken\n")
    (shop.parent / ".bash_history").write_text("git status\n")
    ran = run("import", "--yes")
    assert "0 events of 1 session stored, 10 known already" in ran.out
    assert "bash: 1 event stored, 0 known already\n" in ran.out
    (shop.parent / ".bash_history").write_text("git status\ngit log\n")
    last = run("import", "--yes").out.splitlines()
    assert "bash: 1 event stored, 1 known already" in last
    assert any(line.startswith("bash  ") for line in last)
    assert f"left out: 1 corrupt line, first {path}:" in ran.err


@pytest.mark.slow
def test_a_killed_import_goes_on(run: Run, home: Home, sessions: Sessions, until: Until) -> None:
    """The newest sessions are the first to be there."""
    sessions(60)
    words = [sys.executable, "-m", "observer", "import", "--yes"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        until(lambda: stored(home), wait_s=60.0)
        process.send_signal(signal.SIGKILL)
    first = set(stored(home))
    assert first
    assert first <= {f"s{number}" for number in range(20, 60)}
    assert run("import", "--yes").code == 0
    assert sorted(stored(home)) == sorted(EVENTS * [f"s{number:02}" for number in range(60)])


@pytest.mark.slow
def test_sessions_of_two_groups_are_linked_once_the_import_is_over(
    run: Run, home: Home, sessions: Sessions, until: Until
) -> None:
    """The test fails in a session of the second group, and passes in one of the first."""
    shop = sessions(19)
    for played in fixed_later(shop, begun_ms=BEGUN_MS - DAY_MS):
        played.write(shop.parent / ".claude/projects/-home-shop")
    assert "of 22 sessions stored" in run("import", "--yes").out
    until(lambda: "pytest -q test_cart.py" in " ".join(fixes(home)), wait_s=60.0)
    linked = fixes(home)
    run("down")
    run("doctor", "--rebuild")
    assert fixes(home) == linked


def test_a_damaged_list_of_imports_is_an_empty_one(home: Home) -> None:
    home.root.mkdir()
    for damaged in (b"", b"[]", b'{"claude-code": 1}', b"\xff"):
        home.imports.write_bytes(damaged)
        finished = FinishedImports(home.imports)
        assert not finished.holds("claude-code", "s1", "9:9")
        finished.add("claude-code", {"s1": "9:9"})
        assert FinishedImports(home.imports).holds("claude-code", "s1", "9:9")
        assert json.loads(home.imports.read_bytes()) == {"claude-code": {"s1": "9:9"}}


@pytest.mark.slow
def test_it_goes_on_in_background(run: Run, home: Home, sessions: Sessions, until: Until) -> None:
    """The daemon that comes up finishes what the one before was handed."""
    sessions(60)
    assert run("import", "--yes", "--background").out.splitlines()[-1] == (
        "handed to the daemon: 60 sessions; see: observer status"
    )
    # At once: sixty short sessions are soon stored.
    os.kill(client.daemon_pid(home) or 0, signal.SIGKILL)
    refused = run("import", "--yes", "--background")
    assert "goes on in the background" in refused.err
    assert "of 60 sessions stored, in the background" in run("status").out
    run("up")
    until(lambda: not home.importing.exists(), wait_s=60.0)
    assert sorted(stored(home)) == sorted(EVENTS * [f"s{number:02}" for number in range(60)])
    assert "importing" not in run("status").out
    assert run("import", "--stop").out == "no import goes on\n"
    run("down")


def test_an_import_in_the_background_is_given_up(run: Run, home: Home) -> None:
    home.root.mkdir()
    queue(home, QueuedImport(sources=(QueuedSource(name="codex", paths=("/nowhere",)),)))
    assert run("import", "--stop").out == "the import was given up\n"
    assert not home.importing.exists()


@pytest.mark.parametrize("name", ["vi", "memory-files", "bash"])
def test_a_worker_names_what_it_cannot_follow(run: Run, home: Home, name: str) -> None:
    """Nothing goes on in an export, and a project's files are not the client's."""
    put_file(home.config, f'follow = ["{name}"]\n')
    ran = run("import", "--worker")
    assert ran.code == 2
    assert f"cannot follow '{name}'" in ran.err
    assert run("import", name, "--follow").code == 2


@pytest.mark.slow
def test_the_daemon_follows_the_sessions_of_a_client(run: Run, home: Home, until: Until) -> None:
    """What is older than a minute is stored; the last minute is the hooks'."""
    put_file(home.config, 'follow = ["claude-code"]\n')
    shop = Path(os.environ["HOME"]) / "shop"
    shop.mkdir()
    run("up")
    played = fixed_bug(shop, begun_ms=now_ms() - 170_000)
    played.write(Path(os.environ["HOME"]) / ".claude/projects/-home-shop")
    until(lambda: stored(home), wait_s=60.0)
    assert 0 < len(stored(home)) < EVENTS
    assert "following    claude-code" in run("status").out
    run("down")  # its process ends with it
    assert not client.is_running(home)


@pytest.mark.slow
def test_a_command_follows_until_it_is_interrupted(run: Run, home: Home) -> None:
    shop = Path(os.environ["HOME"]) / "shop"
    shop.mkdir()
    run("up")
    words = [sys.executable, "-m", "observer", "import", "--yes", "--follow"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == NOTHING
        played = fixed_bug(shop, begun_ms=now_ms() - 170_000)
        played.write(Path(os.environ["HOME"]) / ".claude/projects/-home-shop")
        assert " of 1 session stored" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert 0 < len(stored(home)) < EVENTS


def test_what_is_of_no_source_is_an_error_and_another_time_is_none(
    run: Run, sessions: Sessions, home: Home, tmp_path: Path
) -> None:
    (tmp_path / "shopping.txt").write_text("milk\n")
    ran = run("import", "claude-code", str(tmp_path / "shopping.txt"))
    assert (ran.code, ran.out) == (3, "")
    assert "shopping.txt: nothing there is of claude-code" in ran.err

    sessions(1)
    folder = str(Path(os.environ["HOME"]) / ".claude/projects")
    ran = run("import", "claude-code", folder, "--since", "2h")
    assert (ran.code, ran.out) == (0, "nothing was found: leave out an option\n")
