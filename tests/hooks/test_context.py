"""`hooks/context` and `hooks/cline`: what a client is to see, in its dialect, or its nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.clients.envelope import Envelope
from observer.core.paths import Home
from tests.support import put_file

from .conftest import HOOKS, ran

Context = Callable[..., str]


@pytest.fixture
def context(sh: list[str]) -> Context:
    """Run `hooks/context`; it succeeds, complains of nothing and reads nothing."""

    def run(client: str, cwd: Path | str = "/", *, script: Path | None = None, **shown: str) -> str:
        argv, env = [*sh, script or HOOKS / "context", client], {"PWD": str(cwd), **shown}
        return ran(argv, cwd=cwd, env={**os.environ, **env}, stdin=subprocess.PIPE)

    return run


@pytest.fixture
def project(home: Home, tmp_path: Path) -> Path:
    """A folder with a context of its own, and one below it without."""
    folder = tmp_path / "my app"
    (folder / "src" / "deep").mkdir(parents=True)
    describe(home, folder, "about my app")
    return folder


def describe(home: Home, folder: Path, text: str) -> None:
    mirror = home.context / "by-path" / folder.relative_to("/")
    put_file(mirror / "CONTEXT.md", text)
    (mirror / "CONTEXT.cursor.json").write_text('{"additional_context": "' + text + '"}')


@pytest.mark.parametrize(
    ("hooks_file", "shown"),
    [
        pytest.param('{"command": "/h/hooks/context cursor"}', "{}", id="ours-in-one-line"),
        pytest.param('{\n"command": "/h/hooks/context cursor"\n}\n', "{}", id="ours"),
        pytest.param('{"command": "/h/hooks/other"}', None, id="others"),
    ],
)
def test_cursor_is_shown_once_where_both_hooks_are_installed(
    context: Context, project: Path, tmp_path: Path, hooks_file: str, shown: str | None
) -> None:
    put_file(tmp_path / "person" / ".cursor" / "hooks.json", hooks_file)
    surroundings = {"CURSOR_VERSION": "3.20.17", "HOME": str(tmp_path / "person")}
    expected = shown or '{"additional_context": "about my app"}'
    assert context("claude-code", project, **surroundings) == expected
    assert context("cursor", project, **surroundings) == '{"additional_context": "about my app"}'


JSON = '{"additional_context": "about my app"}'


@pytest.mark.parametrize(
    ("client", "known", "nothing", "surroundings"),
    [
        *((client, "about my app", "", {}) for client in ("claude-code", "kiro", "codex", "")),
        ("cursor", JSON, "{}", {}),
        ("claude-code", JSON, "{}", {"CURSOR_VERSION": "3.2"}),
    ],
)
def test_what_is_known_is_text_for_all_but_cursor(
    context: Context,
    project: Path,
    tmp_path: Path,
    client: str,
    known: str,
    nothing: str,
    surroundings: dict[str, str],
) -> None:
    assert context(client, project, **surroundings) == known
    assert context(client, tmp_path, **surroundings) == nothing


def test_the_nearest_file_wins(context: Context, project: Path, home: Home, tmp_path: Path) -> None:
    assert context("cursor", "/", CURSOR_PROJECT_DIR=str(project)).startswith("{")
    assert context("kiro", "/", CLAUDE_PROJECT_DIR=f"{project}/", CURSOR_PROJECT_DIR="/") != ""
    (tmp_path / "link").symlink_to(project / "src")
    assert context("kiro", project / "src" / "deep") == "about my app"
    assert context("kiro", tmp_path / "link") == "about my app"
    describe(home, project / "src", "about src")
    assert context("kiro", project / "src" / "deep") == "about src"
    describe(home, Path("/"), "about all")
    assert context("kiro", tmp_path) == "about all"


@pytest.mark.parametrize("shown", ["../../..", "-", ".", "/a/../../../../../..", "no/such"])
def test_no_path_leads_elsewhere(context: Context, home: Home, tmp_path: Path, shown: str) -> None:
    put_file(home.root / "CONTEXT.md", "outside")
    assert context("kiro", tmp_path, CLAUDE_PROJECT_DIR=shown) == ""


def test_an_installed_hook_knows_its_home(
    context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OBSERVER_HOME")
    describe(Home(tmp_path / "h"), tmp_path, "installed")
    installed = shutil.copytree(HOOKS, tmp_path / "h" / "hooks") / "context"
    assert context("kiro", tmp_path, script=installed) == "installed"


def test_a_client_gets_the_file_made_for_it(context: Context, project: Path, home: Home) -> None:
    mirror = home.context / "by-path" / project.relative_to("/")
    (mirror / "CONTEXT.kiro.md").write_text("for kiro")
    (mirror / "CONTEXT.copilot.json").write_text('{"additionalContext": "about my app"}')
    assert context("copilot", project / "src") == '{"additionalContext": "about my app"}'
    shown = {client: context(client, project) for client in ("kiro", "kiro-cli", "claude-code")}
    assert shown == {"kiro": "for kiro", "kiro-cli": "about my app", "claude-code": "about my app"}
    assert context("cursor", project) == '{"additional_context": "about my app"}'


Cline = Callable[..., str]
CONTEXT = '{"cancel":false,"contextModification":"about my app"}'
CALL = {"iteration": 1, "tool_call": {"name": "run_commands"}}


@pytest.fixture
def cline(sh: list[str], home: Home, tmp_path: Path) -> Cline:
    """Run `hooks/cline` in a project with context; it succeeds and complains of nothing."""
    mirror = home.context / "by-path" / tmp_path.relative_to("/")
    put_file(mirror / "CONTEXT.md", "about my app")
    (mirror / "CONTEXT.cline.json").write_text(CONTEXT)

    def run(event: str, payload: str, **environment: str) -> str:
        argv, env = [*sh, HOOKS / "cline", event], {**os.environ, **environment}
        return ran(argv, cwd=tmp_path, env=env, input=payload)

    return run


def text(payload: object) -> str:
    return json.dumps(payload, separators=(",", ":"))


@pytest.mark.parametrize("event", ["TaskStart", "PostToolUse", "TaskComplete"])
def test_an_event_is_whole(cline: Cline, posted: Callable[[], list[Envelope]], event: str) -> None:
    payload = text({"taskId": "1", "said": "100 % of \\n it's é" * 5000})
    assert cline(event, payload) == ""
    (envelope,) = posted()
    assert (envelope.client, envelope.event) == ("cline", event)
    assert envelope.payload == payload.encode()


def test_the_context_comes_before_the_first_call_and_runs_no_program_of_the_folder(
    cline: Cline, posted: Callable[[], list[Envelope]], tmp_path: Path
) -> None:
    for name in ("cat", "post", "context"):
        put_file(tmp_path / name, f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    path = f".:{os.environ['PATH']}"
    assert cline("PreToolUse", text(CALL), PATH=path) == CONTEXT
    assert cline("PreToolUse", text({**CALL, "iteration": 11}), PATH=path) == ""
    assert posted() == []
    cline("PostToolUse", text(CALL), PATH=path)
    assert not (tmp_path / "ran").exists()
