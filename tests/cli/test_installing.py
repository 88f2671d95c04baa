"""`observer install` and `uninstall` tell what they did to each file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.paths import Home

Run = Callable[..., Any]


def test_a_file_that_goes_is_shown_as_removed(run: Run, home: Home) -> None:
    bashrc = Path.home() / ".bashrc"
    assert f"  wrote {bashrc}\n" in run("install", "bash").out
    assert f"  removed {bashrc}\n" in run("uninstall", "bash").out
    assert not bashrc.exists()


def test_a_file_that_stays_is_shown_as_written(run: Run, home: Home) -> None:
    bashrc = Path.home() / ".bashrc"
    bashrc.write_text("alias l=ls\n")
    run("install", "bash")
    assert f"  wrote {bashrc}\n" in run("uninstall", "bash").out


def test_the_diff_of_a_file_with_line_ends_of_windows_can_be_read(run: Run, home: Home) -> None:
    settings = Path.home() / ".claude/settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_bytes(b'{\r\n  "model": "opus"\r\n}\r\n')
    shown = run("install", "claude-code", "--dry-run").out
    assert '+  "model": "opus",\n' in shown
    assert "\N{REPLACEMENT CHARACTER}" not in shown


def test_toolsets_are_chosen_and_kept_by_the_next_installation(run: Run, home: Home) -> None:
    run("install", "cursor", "--tools", "basic-memory, mem0")
    run("install", "cursor")
    servers = json.loads((Path.home() / ".cursor/mcp.json").read_text())["mcpServers"]
    assert servers["observer"]["args"] == ["mcp", "--tools", "basic-memory,mem0"]


def test_a_pasted_entry_names_the_chosen_toolsets(run: Run, home: Home) -> None:
    assert "mcp --tools memex" in run("mcp", "list", "memex", "--snippets").out


def test_a_toolset_that_there_is_not_is_refused_before_any_file(run: Run, home: Home) -> None:
    assert "no toolset 'memx'" in run("install", "cursor", "--tools", "memx").err
    assert not (Path.home() / ".cursor").exists()


def test_a_server_that_is_given_no_toolset_lists_them(observer: Run) -> None:
    assert "basic-memory" in observer("mcp", "--tools").stdout


@pytest.mark.slow
def test_doctor_tells_whose_hooks_are_gone(run: Run, home: Home) -> None:
    run("install", "bash", "claude-code")
    shutil.rmtree(home.hooks)
    hooks = next(
        check for check in json.loads(run("doctor", "--json").out)["checks"]
        if check["name"] == "hooks"
    )  # fmt: skip
    assert hooks["found"] == f"{home.hooks} is gone, and nothing is recorded of bash claude-code"
    assert hooks["hint"] == "get them back with: observer install bash claude-code"
    run("install", "bash", "claude-code")
    assert str(home.hooks) in run("doctor").out


@pytest.mark.measured
def test_doctor_misses_no_hooks_of_who_registered_only_the_server(run: Run, home: Home) -> None:
    (Path.home() / ".claude").mkdir()
    (Path.home() / ".claude/settings.json").write_text("{")
    run("install", "cursor")
    (Path.home() / ".cursor/hooks.json").unlink()
    shutil.rmtree(home.hooks)
    assert "none installed" in run("doctor").out
