"""Clients whose hooks stand in groups as Claude Code's: what is special about each of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from observer.clients.installers import install, perform
from observer.config_files.context import InstallContext, InstallPlan

Run = Callable[[str], InstallPlan]

SETTINGS = {
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
    "droid": ".factory/settings.json",
}
every_client = pytest.mark.parametrize("client", SETTINGS)


@pytest.fixture
def groups(context: InstallContext, put: Run) -> Callable[[str], dict[str, Any]]:
    """Install a client; return its groups by event."""

    def groups(client: str) -> dict[str, Any]:
        put(client)
        text = (context.user_home / SETTINGS[client]).read_text()
        hooks: dict[str, Any] = json.loads(text)["hooks"]
        return hooks

    return groups


Groups = Callable[[str], dict[str, Any]]


def handlers(groups: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for group in groups:
        yield from group["hooks"]


@every_client
def test_a_session_starts_with_the_context(client: str, groups: Groups) -> None:
    post, context = handlers(groups(client)["SessionStart"])
    assert post["command"].endswith(f"/hooks/post {client} SessionStart")
    assert context["command"].endswith(f"/hooks/context {client}")


@every_client
def test_no_client_takes_two_handlers_for_one(client: str, groups: Groups) -> None:
    """Qwen Code runs one handler of those with one name."""
    for found in groups(client).values():
        names = [one.get("name", one["command"]) for one in handlers(found)]
        assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("client", "event", "timeout"),
    [
        pytest.param("gemini", "AfterTool", 5_000, id="gemini-counts-milliseconds"),
        pytest.param("qwen", "PostToolUse", 5, id="qwen-counts-seconds"),
        pytest.param("codex", "SessionEnd", 3, id="codex-waits-three-seconds-at-the-end"),
    ],
)
def test_timeouts_are_in_the_unit_of_the_client(
    client: str, event: str, timeout: int, groups: Groups
) -> None:
    assert {one["timeout"] for one in handlers(groups(client)[event])} == {timeout}


@every_client
def test_what_asks_in_the_foreground_matches_commands_alone(client: str, groups: Groups) -> None:
    asking = [
        group
        for event, found in groups(client).items()
        for group in found
        if "Tool" in event and "/hooks/recall " in group["hooks"][0]["command"]
    ]
    assert asking
    assert all(group["matcher"] not in {"*", ".*", ""} for group in asking)


@pytest.mark.parametrize(
    ("client", "variable", "files"),
    [
        pytest.param("codex", "CODEX_HOME", {"hooks.json", "config.toml"}, id="codex"),
        pytest.param("gemini", "GEMINI_CLI_HOME", {".gemini/settings.json"}, id="gemini"),
        pytest.param("qwen", "QWEN_HOME", {"settings.json"}, id="qwen"),
    ],
)
def test_a_variable_moves_the_settings(
    client: str, variable: str, files: set[str], context: InstallContext, tmp_path: Path
) -> None:
    moved = replace(context, environ={**context.environ, variable: str(tmp_path / "there")})
    perform(install(client, moved), moved.home, at_ms=1)
    there = tmp_path / "there"
    assert {str(path.relative_to(there)) for path in there.rglob("*") if path.is_file()} == files
