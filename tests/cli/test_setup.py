"""`observer install` without a client: finds, shows, asks once, installs; and `--list`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.core.paths import Home
from tests.cli.conftest import Run, answered
from tests.support import put_file

SETTINGS = b'{\n  "model": "opus"\n}\n'
BROKEN = b'{"hooks": {'


@pytest.fixture(autouse=True)
def user(home: Home, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user of bash and Claude Code, in no repository."""
    user = Path.home()
    (user / ".bashrc").write_text("alias l=ls\n")
    put_file(user / ".claude/settings.json", SETTINGS)
    monkeypatch.setenv("PATH", f"{user / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.chdir(user)
    return user


def everything(user: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in user.rglob("*") if path.is_file()}


def test_nothing_is_changed_by_a_dry_run_or_before_somebody_says_yes(run: Run, user: Path) -> None:
    before = everything(user)
    shown = run("install", "--dry-run")
    assert shown.code == 0
    assert f"+++ {user}/.bashrc\n" in shown.out
    assert f"+++ {user}/.claude/settings.json\n" in shown.out
    assert re.search("claude-code +~/.claude +~/.claude/settings.json, ~/.claude.json\n", shown.out)
    assert "not found: antigravity, cline" in shown.err
    refused = run("install")
    assert refused.code == 2
    assert "no terminal" in refused.err
    assert "--yes" in refused.err
    assert everything(user) == before


@pytest.mark.slow
def test_yes_installs_what_was_found_and_says_what_to_restart(run: Run, user: Path) -> None:
    done = run("install", "--yes")
    assert done.code == 0
    assert "Restart Claude Code." in done.out
    assert "claude-code probe  stored after " in done.out
    assert "2 fake keys were sent; no file of the home has one" in done.out
    assert "Undo with: observer uninstall bash claude-code\n" in done.out
    after = {path for path in everything(user) if ".observer" not in path.parts}
    assert "Nothing was changed." in run("install", "--yes").out
    assert {path for path in everything(user) if ".observer" not in path.parts} == after
    run("uninstall", "bash", "claude-code")
    assert (user / ".claude/settings.json").read_bytes() == SETTINGS


@pytest.mark.slow
def test_a_person_is_asked_once(user: Path) -> None:
    before = everything(user)
    done = answered(b"n\n", "install")
    assert "Make these changes for 2 clients?" in done.stdout
    assert done.returncode != 0
    assert everything(user) == before
    done = answered(b"y\n", "install")
    assert (done.returncode, done.stdout.count("[y/N]")) == (0, 1)
    assert b"hooks/post" in (user / ".claude/settings.json").read_bytes()


@pytest.mark.slow
def test_a_file_that_does_not_parse_stops_its_client_only(run: Run, user: Path) -> None:
    put_file(user / ".cursor/hooks.json", BROKEN)
    done = run("install", "--yes")
    assert done.code == 1
    assert "cursor was not installed" in done.err
    assert ".cursor/hooks.json" in done.err
    assert [path.name for path in (user / ".cursor").iterdir()] == ["hooks.json"]
    assert (user / ".cursor/hooks.json").read_bytes() == BROKEN
    assert b"hooks/post" in (user / ".claude/settings.json").read_bytes()


@pytest.mark.slow
def test_scripts_get_the_outcome_of_each_client(run: Run, user: Path) -> None:
    done = run("install", "--yes", "--json").json
    rows = {row["client"]: row for row in done["clients"]}
    assert [*rows] == ["bash", "claude-code", "git"]
    assert [probe["is_well"] for probe in done["probes"]] == [True, True, True]
    changed = [str(user / name) for name in (".claude/settings.json", ".claude.json")]
    assert rows["claude-code"]["changed"] == changed
    assert run("install", "--json").code == 0  # nothing is left to ask about


def test_a_repository_gets_files_of_its_own(run: Run, user: Path) -> None:
    (user / "shop").mkdir()
    before = everything(user)
    done = run("install", "claude-code", "--project", "shop")
    assert "out of git" in done.out
    made = {path.relative_to(user) for path in set(everything(user)) - set(before)}
    others = {str(path) for path in made if path.parts[0] != ".observer"}
    assert others == {"shop/.claude/settings.local.json", "shop/.mcp.json"}
    assert (user / ".claude/settings.json").read_bytes() == SETTINGS
    run("uninstall", "claude-code", "--project", "shop")
    assert not (user / "shop/.mcp.json").exists()


@pytest.mark.parametrize("lines", [SETTINGS, b'{"model":"opus"}'])
def test_the_list_shows_what_is_installed(run: Run, user: Path, lines: bytes) -> None:
    (user / ".claude/settings.json").write_bytes(lines)
    (user / ".claude.json").write_bytes(b'{"mcpServers":{}}')
    before = {row["client"]: row for row in run("install", "--list", "--json").json}
    assert before["claude-code"]["installed"] == []
    assert before["claude-code"]["found"] == str(user / ".claude")
    run("install", "claude-code", "bash")
    after = {row["client"]: row for row in run("install", "--list", "--json").json}
    assert after["claude-code"]["installed"] == after["claude-code"]["offers"] == ["hooks", "MCP"]
    assert after["bash"]["installed"] == ["hooks"]
    assert after["cursor"]["installed"] == []


def test_the_list_shows_the_last_event_who_was_not_verified_and_who_has_no_hooks(
    run: Run, fill: Callable[..., None]
) -> None:
    row = {"kind": "prompt", "text": "why?", "session": "s", "cwd": "/tmp"}
    at = "2026-11-20T10:00:00Z"
    fill([{**row, "client": "kiro-cli", "at": at}])
    rows = (re.split(" {2,}", line) for line in run("install", "--list").out.split("\n"))
    lines = {row[0]: row for row in rows}
    assert lines["kiro"][-2] == "unverified"
    assert lines["kiro"][-1].startswith("2026-11-20")
    assert lines["cursor"][-1] == "-"

    offers = {row["client"]: row["offers"] for row in run("install", "--list", "--json").json}
    assert offers["zed"] == ["MCP"]
    assert offers["fish"] == ["hooks", "Ctrl-R"]
    assert offers["cline"] == ["hooks", "MCP"]
