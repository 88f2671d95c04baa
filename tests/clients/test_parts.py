"""Clients whose hooks stand in groups as Claude Code's: what is special about each of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from observer.clients.config_files.context import InstallContext
from observer.clients.installers import install, perform
from observer.clients.registry import clients
from observer.core.errors import ConfigInvalid
from tests.clients.conftest import Run
from tests.support import put_file

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
    """Qwen Code runs one handler of those with one name."""
    events = groups(client)
    post, context = handlers(events["SessionStart"])
    assert post["command"].endswith(f"/hooks/post {client} SessionStart")
    assert context["command"].endswith(f"/hooks/context {client}")
    for found in events.values():
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
def test_timeouts_are_in_its_unit(client: str, event: str, timeout: int, groups: Groups) -> None:
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
        pytest.param("claude-code", "CLAUDE_CONFIG_DIR", {"settings.json", ".claude.json"}, id="c"),
        pytest.param("codex", "CODEX_HOME", {"hooks.json", "config.toml"}, id="codex"),
        pytest.param("gemini", "GEMINI_CLI_HOME", {".gemini/settings.json"}, id="gemini"),
        pytest.param("qwen", "QWEN_HOME", {"settings.json"}, id="qwen"),
        pytest.param("zsh", "ZDOTDIR", {".zshrc"}, id="zsh"),
    ],
)
def test_a_variable_moves_the_settings(
    client: str, variable: str, files: set[str], context: InstallContext, tmp_path: Path
) -> None:
    moved = replace(context, environ={**context.environ, variable: str(tmp_path / "there")})
    perform(install(client, moved), moved.home, at_ms=1)
    there = tmp_path / "there"
    assert {str(path.relative_to(there)) for path in there.rglob("*") if path.is_file()} == files


def state(context: InstallContext, *handlers: str) -> str:
    """Return what Codex CLI writes down of handlers that its user has trusted."""
    path = context.user_home / ".codex" / "hooks.json"
    return "".join(
        f'\n[hooks.state."{path}:{one}"]\ntrusted_hash = "sha256:0"\n' for one in handlers
    )


OURS_IN_CODEX = [
    *("session_start:0:0", "session_start:0:1", "user_prompt_submit:0:0"),
    *("pre_tool_use:0:0", "post_tool_use:0:0", "post_tool_use:1:0"),
    *("stop:0:0", "subagent_stop:0:0", "post_compact:0:0", "session_end:0:0"),
]


def problem(client: str, context: InstallContext) -> str:
    try:
        clients()[client].check_hooks(context)
    except ConfigInvalid as error:
        return f"{error.message}; {error.hint}"
    return ""


@pytest.mark.parametrize(
    ("trusted", "found"),
    [
        pytest.param([], "10 of 10 hooks are not trusted.*/hooks", id="new"),
        pytest.param(OURS_IN_CODEX[1:], "1 of 10 hooks are not trusted.*/hooks", id="one"),
        pytest.param(OURS_IN_CODEX, r"\Z", id="all"),
    ],
)
def test_hooks_that_codex_skips_are_found(
    trusted: list[str], found: str, context: InstallContext, put: Run
) -> None:
    put("codex")
    with (context.user_home / ".codex" / "config.toml").open("a") as file:
        file.write(state(context, *trusted))
    assert re.match(found, problem("codex", context))


SOMEBODYS = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}'
ELSEWHERE = '[hooks.state."/elsewhere/hooks.json:stop:0:0"]\ntrusted_hash = "a"\n'


@pytest.mark.parametrize(
    ("others", "kept"),
    [
        pytest.param("", [], id="ours-alone"),
        pytest.param(SOMEBODYS, ["stop:0:0"], id="beside-somebody-elses"),
    ],
)
def test_what_codex_trusts_of_ours_goes_with_the_hooks(
    others: str, kept: list[str], context: InstallContext, put: Run, drop: Run
) -> None:
    """Everything else stays; a table that Codex made for our hooks alone goes too."""
    folder = context.user_home / ".codex"
    folder.mkdir(parents=True)
    if others:
        (folder / "hooks.json").write_text(others)
    # A line that begins like a table's name may be a row of a list.
    rows = "matrix = [\n[1, 2],\n]\n"
    theirs = f'model = "x" # large\n{rows}\n{ELSEWHERE}{state(context, *kept)}'
    (folder / "config.toml").write_text(theirs)
    put("codex")
    with (folder / "config.toml").open("a") as file:
        ours = [one for one in OURS_IN_CODEX if one not in kept]
        file.write(state(context, *ours, *(["stop:1:0"] if kept else [])))
    drop("codex")
    assert (folder / "config.toml").read_text() == theirs
    (folder / "config.toml").unlink()
    put("codex")
    written = (folder / "config.toml").read_text()
    ours = [*ours, "stop:1:0"] if kept else ours
    (folder / "config.toml").write_text("\n[hooks.state]\n" + state(context, *ours) + written)
    drop("codex")
    assert not (folder / "config.toml").exists()


def test_a_text_like_trust_is_not_cut(context: InstallContext, put: Run, drop: Run) -> None:
    put("codex")
    row = state(context, "stop:0:0")
    (context.user_home / ".codex" / "config.toml").write_text(f"note = '''{row}'''\n{row}")
    with pytest.raises(ConfigInvalid, match=r"hooks\.state"):
        drop("codex")


@pytest.mark.parametrize(
    ("client", "path", "text"),
    [
        pytest.param(
            "claude-code", ".claude/settings.json", '{"disableAllHooks": true}', id="claude-code"
        ),
        pytest.param("qwen", ".qwen/settings.json", '{"disableAllHooks": true}', id="qwen"),
        pytest.param(
            "gemini", ".gemini/settings.json", '{"hooksConfig": {"enabled": false}}', id="gemini"
        ),
        pytest.param("codex", ".codex/config.toml", "[features]\nhooks = false\n", id="codex"),
    ],
)
def test_hooks_that_are_switched_off_are_found(
    client: str, path: str, text: str, context: InstallContext, put: Run
) -> None:
    put_file(context.user_home / path, text)
    put(client)
    assert re.search(f"switched off.*{re.escape(path)}", problem(client, context))


@pytest.mark.parametrize("client", ["claude-code", "qwen", "gemini", "cursor"])
def test_settings_that_say_nothing_let_hooks_run(client: str, context: InstallContext) -> None:
    assert problem(client, context) == ""


def test_a_broken_configuration_of_codex_is_named(context: InstallContext, put: Run) -> None:
    put("codex")
    (context.user_home / ".codex" / "config.toml").write_text("[features\n")
    assert re.search(r"\.codex: .*; correct", problem("codex", context))
