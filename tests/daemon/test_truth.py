"""The daemon follows the code by itself."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Observer = Callable[..., "subprocess.CompletedProcess[str]"]
Until = Callable[..., None]
Git = Callable[..., str]


def _commit(git: Git, folder: Path, text: str, message: str) -> None:
    (folder / "auth.py").write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-m", message)


def test_what_the_code_moved_on_from_is_said(
    tmp_path: Path, git: Git, observer: Observer, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = tmp_path / "app"
    git(app, "init")
    _commit(git, app, "def login():\n    return 1\n", "Let people sign in")
    monkeypatch.chdir(app)
    assert observer("up").returncode == 0
    assert observer("import", "git", str(app)).returncode == 0

    def standing() -> list[str]:
        found = json.loads(observer("search", "people sign in", "--json").stdout)
        return [label for row in found["observations"] for label in row.get("standing", ())]

    assert standing() == []
    _commit(git, app, "def login():\n    return 2\n", "Count twice")
    until(standing, wait_s=60)
    assert standing()[0].startswith("stale: login changed in ")
    assert observer("down").returncode == 0
