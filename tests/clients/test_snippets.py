"""What is pasted by hand is what the installer would have written."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from observer.clients.config_files.context import InstallContext
from observer.clients.config_files.json_entries import Snippet, snippets
from observer.core.paths import Home


def made(home: Path, tmp_path: Path) -> dict[str, Snippet]:
    context = InstallContext(
        home=Home(home), user_home=tmp_path, observer="/o/observer", environ={}, folder=tmp_path
    )
    return {one.client: one for one in snippets(context)}


def test_the_usual_home_needs_no_environment(tmp_path: Path) -> None:
    found = made(tmp_path / ".observer", tmp_path)
    assert found["any other"].text == "/o/observer mcp"
    assert shlex.split(found["claude-code"].text)[-3:] == ["--", "/o/observer", "mcp"]
    entry = json.loads(found["cursor"].text)["mcpServers"]["observer"]
    assert entry == {"command": "/o/observer", "args": ["mcp"]}


@pytest.mark.parametrize("client", ["cursor", "kiro", "claude-code", "any other"])
def test_another_home_travels_with_the_entry(tmp_path: Path, client: str) -> None:
    assert str(tmp_path / "my memory") in made(tmp_path / "my memory", tmp_path)[client].text
