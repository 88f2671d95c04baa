"""What a plugin runs; where `observer install` reports as well, each event is stored once."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import make_plugins
import pytest

from observer.clients.config_files.context import InstallContext, InstallPlan, hook_files
from observer.clients.installers import install, perform
from observer.clients.registry import clients
from observer.core.paths import Home
from observer.store.database import SqliteStore
from tests.support import ended, pipeline_over, put_file

ROOT = Path(__file__).parents[2]
HOOK = ROOT / "plugins" / "source" / "hook"
MCP = ROOT / "plugins" / "source" / "mcp"
SHELLS = [["dash"], ["bash"], ["busybox", "ash"]]
CLIENTS = [plugin.client for plugin in make_plugins.HOOKED]
NOTHING = {"claude-code": b"", "cursor": b"{}", "codex": b"", "gemini": b""}
"""What each client's session-start hook prints where there is nothing to say."""
NOW_MS = 1_790_000_000_000
DEADLINE_S = 20


@pytest.fixture(params=SHELLS, ids=lambda argv: argv[-1])
def sh(request: pytest.FixtureRequest) -> list[str]:
    """Each shell that may be /bin/sh."""
    program = shutil.which(request.param[0]) or pytest.skip(f"{request.param[0]} is not installed")
    return [program, *request.param[1:]]


@pytest.fixture
def context(home: Home, tmp_path: Path) -> InstallContext:
    return InstallContext(
        home=home,
        user_home=home.root.parent,
        observer="/usr/bin/observer",
        environ={},
        folder=tmp_path,
    )


@pytest.fixture
def scripts(context: InstallContext) -> None:
    """Install our scripts and no client, as the daemon does at its start."""
    perform(InstallPlan(edits=tuple(hook_files(context.home))), context.home, at_ms=NOW_MS)
    by_path = context.home.root / "context" / "by-path"
    put_file(by_path / "CONTEXT.md", "what matters")
    (by_path / "CONTEXT.cursor.json").write_text('{"additional_context": "what matters"}')


def run(argv: Sequence[str], payload: bytes = b"{}", **environment: str) -> bytes:
    """Run a hook; whatever happens, it succeeds and complains of nothing."""
    env = os.environ | environment
    done = ended(argv, input=payload, text=False, timeout=DEADLINE_S, env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    return bytes(done.stdout)


@pytest.mark.parametrize("client", CLIENTS)
def test_without_observer_a_hook_does_nothing(sh: list[str], client: str, home: Home) -> None:
    for script in ("post", "recall"):
        assert run([*sh, str(HOOK), script, client, "Stop"]) == b""
    said = run([*sh, str(HOOK), "context", client])
    assert not home.root.exists()
    if client == "claude-code":
        (message,) = json.loads(said).items()
        assert message[0] == "systemMessage"
        assert "uv tool install observer-memory" in message[1]


@pytest.mark.usefixtures("scripts")
@pytest.mark.parametrize(
    ("client", "is_of_project"),
    [(name, False) for name in CLIENTS]
    + [(name, True) for name in CLIENTS if clients()[name].per_project],
)
def test_the_context_is_printed_once(
    sh: list[str], client: str, is_of_project: bool, context: InstallContext, tmp_path: Path
) -> None:
    """By the plugin, or by the installed hooks where there are some."""
    places = {f"{name}_PROJECT_DIR": str(tmp_path) for name in ("CLAUDE", "CURSOR")}
    asked = [*sh, str(HOOK), "context", client]
    assert b"what matters" in run(asked, **places)
    chosen = replace(context, project=tmp_path) if is_of_project else context
    perform(install(client, chosen), context.home, at_ms=NOW_MS)
    assert run(asked, **places) == NOTHING[client]


@pytest.mark.usefixtures("scripts")
def test_nothing_of_the_visited_repository_runs(sh: list[str], tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    os.mkfifo(tmp_path / ".claude" / "settings.local.json")
    said = run([*sh, str(HOOK), "context", "claude-code"], CLAUDE_PROJECT_DIR=str(tmp_path))
    assert said == b"what matters"
    for name in ("grep", "observer", "uvx", "cat"):
        put_file(tmp_path / name, f"#!/bin/sh\ntouch {tmp_path}/trap\n")
    for argv in (
        [str(HOOK), "context", "claude-code", "Stop"],
        [str(HOOK), "recall", "claude-code", "Stop"],
        [str(MCP)],
    ):
        script = f"cd {tmp_path} && exec {shlex.join([*sh, *argv])}"
        env = os.environ | {"PATH": f".:{os.environ['PATH']}"}
        ended(["sh", "-c", script], env=env, input="{}", timeout=DEADLINE_S)
    assert not (tmp_path / "trap").exists()


def stand_in(folder: Path, name: str) -> None:
    put_file(folder / name, f'#!/bin/sh\necho {folder}/{name} "$@"\n')


@pytest.mark.parametrize(
    ("below", "name", "words"),
    [
        pytest.param("bin", "observer", "mcp --tools core,story", id="on-the-path"),
        pytest.param("home/.local/bin", "observer", "mcp --tools core,story", id="uv-or-pipx"),
        pytest.param("home/.observer/venv/bin", "observer", "mcp --tools core,story", id="start"),
        pytest.param("bin", "uvx", "observer-memory mcp --tools core,story", id="uvx"),
    ],
)
def test_the_server_is_found_where_people_install_it(
    sh: list[str], tmp_path: Path, below: str, name: str, words: str
) -> None:
    stand_in(tmp_path / below, name)
    said = run([*sh, str(MCP), "--tools", "core,story"], PATH=f"{tmp_path}/bin:/usr/bin:/bin")
    assert said.decode() == f"{tmp_path / below / name} {words}\n"


def test_without_a_server_the_client_shows_what_to_do(sh: list[str]) -> None:
    env = os.environ | {"PATH": "/usr/bin:/bin"}
    done = ended([*sh, MCP], env=env, timeout=DEADLINE_S)
    assert done.returncode == 127
    assert "uv tool install observer-memory" in done.stderr


DATA = ROOT / "tests" / "data"


def commands(value: Any) -> Iterator[str]:
    match value:
        case {"command": str(command)}:
            yield command
        case dict():
            for each in value.values():
                yield from commands(each)
        case list():
            for each in value:
                yield from commands(each)


def posts(hooks: dict[str, Any]) -> dict[str, str]:
    """Return the command that reports each event."""
    found = {event: list(commands(groups)) for event, groups in hooks["hooks"].items()}
    reporting = {
        event: [line for line in lines if "post" in line] for event, lines in found.items()
    }
    return {event: lines[0] for event, lines in reporting.items() if lines}


def samples() -> Iterator[Any]:
    """Yield a recorded payload of each event that a plugin reports."""
    for plugin in make_plugins.HOOKED:
        hooks = json.loads((ROOT / "plugins" / plugin.client / "hooks/hooks.json").read_text())
        known = {}
        for path in sorted((DATA / plugin.client).glob("*.json")):
            sample = json.loads(path.read_text())
            if sample["becomes"]:
                known.setdefault(sample["fields"]["event"], sample)
        for event, line in posts(hooks).items():
            if event in known:
                yield pytest.param(plugin, line, known[event], id=f"{plugin.client}-{event}")


PROMPTS = {"cursor": "beforeSubmitPrompt", "gemini": "BeforeAgent"}
"""What clients call the event of a prompt, where it is not `UserPromptSubmit`."""


def report(command: str, payload: Any) -> None:
    subprocess.run(["sh", "-c", command], input=json.dumps(payload).encode(), check=True)


def begun(sample: Any, client: str, reporting: dict[str, str], store: Store) -> int:
    """Report a prompt before the end of a session, and return the number of events stored."""
    if not sample["fields"]["event"].endswith("essionEnd"):
        return 0
    event = PROMPTS.get(client, "UserPromptSubmit")
    prompt = {**sample["payload"], "hook_event_name": event, "prompt": "go on"}
    report(reporting[event], prompt)
    return store()


Store = Callable[[], int]


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    """Store what waits in the spool and return the number of events that are stored."""
    with closing(SqliteStore(home.database)) as opened:
        pipeline = pipeline_over(opened, home, NOW_MS)

        def drain() -> int:
            while pipeline.drain().entries:
                pass
            with opened.read() as reader:
                return len(reader.log())

        yield drain


@pytest.mark.parametrize("is_plugin_first", [True, False])
@pytest.mark.parametrize(("plugin", "line", "sample"), list(samples()))
def test_an_event_of_both_is_one(
    plugin: make_plugins.Hooked,
    line: str,
    sample: Any,
    is_plugin_first: bool,
    home: Home,
    context: InstallContext,
    store: Store,
) -> None:
    plan = install(plugin.client, context)
    perform(plan, home, at_ms=NOW_MS)
    written = [
        json.loads(edit.path.read_text()) for edit in plan.edits if edit.path.suffix == ".json"
    ]
    (hooks,) = (each for each in written if "hooks" in each)
    before = begun(sample, plugin.client, posts(hooks), store)
    root = str(ROOT / "plugins" / plugin.client)
    lines = [line.replace(plugin.root, root), posts(hooks)[sample["fields"]["event"]]]
    for command in lines if is_plugin_first else reversed(lines):
        report(command, sample["payload"])
    assert len(list(home.spool.joinpath("new").iterdir())) == 2
    assert store() == before + len(sample["becomes"])
