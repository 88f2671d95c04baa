"""`observer install` and `uninstall` tell what they did to each file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from observer.paths import Home

Run = Callable[..., Any]


def test_a_file_that_goes_is_told_as_removed(run: Run, home: Home) -> None:
    bashrc = Path.home() / ".bashrc"
    assert f"  wrote {bashrc}\n" in run("install", "bash").out
    assert f"  removed {bashrc}\n" in run("uninstall", "bash").out
    assert not bashrc.exists()


def test_a_file_that_stays_is_told_as_written(run: Run, home: Home) -> None:
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
