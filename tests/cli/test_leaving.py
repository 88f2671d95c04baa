"""`observer install` and `uninstall`: what is done to each file, and leaving without a trace."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from observer.clients.installers import installable
from observer.core.paths import Home
from observer.local import client
from observer.local.spool import Spool
from observer.upkeep.home_guard import delete
from tests.cli.conftest import Run, answered
from tests.support import Git, put_file

GIVEN = {
    ".bashrc": b"alias l=ls\n",
    ".zshrc": b"bindkey -v",
    ".config/fish/config.fish": b"set -x EDITOR vi\n",
    ".claude/settings.json": b'{\n  "model": "opus",\n  "hooks": {}\n}\n',
    ".claude.json": b'{"mcpServers": {"docs": {"command": "docs"}}, "projects": {}}',
    ".cursor/mcp.json": b'{"mcpServers":{}}',
    ".cursor/hooks.json": b'{"version": 1, "hooks": {}}\n',
    ".kiro/settings/mcp.json": b'{\n\t"mcpServers": {}\n}',
    ".codex/config.toml": b'# mine\nmodel = "o4"\n\n[mcp_servers.docs]\ncommand = "docs"\n',
    ".gemini/settings.json": b'{"theme": "dark"}',
    ".qwen/settings.json": b"{}",
    ".factory/settings.json": b"{}\n",
    ".copilot/config.json": b'{"banner": "never"}\n',
    ".copilot/mcp-config.json": b'{"mcpServers": {}}\n',
    ".config/opencode/opencode.json": b'{"$schema": "https://opencode.ai/config.json"}\n',
    ".config/kilo/kilo.json": b"{}\n",
    ".pi/agent/settings.json": b"{}\n",
    ".config/zed/settings.json": b'// mine\n{\n  "vim_mode": true,\n}\n',
    ".continue/config.yaml": b"name: mine\nversion: 0.0.1\n",
    ".config/Code/User/mcp.json": b'{"servers": {}}\n',
    ".codeium/windsurf/mcp_config.json": b"{}\n",
    ".gitconfig": b"[user]\n\tname = Ana\n",
}
"""What a user has in the files of every client."""
UNTOUCHED = {
    ".config/fish/config.fish", ".continue/config.yaml", ".copilot/config.json", ".gitconfig",
    ".pi/agent/settings.json",
}  # fmt: skip
"""Those of them that no installer changes: ours are files beside."""


@pytest.fixture
def user(home: Home, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user of every client, in no repository."""
    for name in [name for name in os.environ if name.endswith(("_CONFIG_DIR", "_CONFIG_HOME"))]:
        monkeypatch.delenv(name)
    for name, content in GIVEN.items():
        put_file(Path.home() / name, content)
    monkeypatch.chdir(Path.home())
    return Path.home()


def tree(folder: Path) -> dict[str, bytes | None]:
    """Return every file below a folder with its bytes, and every folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def hooked(git: Git, run: Run, root: Path) -> Path:
    """Make a repository with a commit and our hooks, which were installed twice."""
    git(root, "init", "-q")
    git(root, "commit", "-q", "--allow-empty", "-m", "Begin")
    for _ in range(2):
        assert run("install", "git", "--project", str(root)).code == 0
    return root


@pytest.mark.slow
def test_nothing_is_left_of_it(run: Run, user: Path, git: Git) -> None:
    shop = user / "shop"
    git(shop, "init", "-q")
    git(shop, "commit", "-q", "--allow-empty", "-m", "Begin")
    before = tree(user)
    clients = [name for name in installable() if name != "git"]
    assert run("install", *clients, "systemd", "launchd").code == 0
    for name in ("git", "claude-code", "cursor", "kiro"):
        assert run("install", name, "--project", str(shop)).code == 0
    client.ensure_daemon(Home(user / ".observer"))
    git(shop, "commit", "-q", "--allow-empty", "-m", "Go on")
    changed = {name for name in before if before[name] != tree(user)[name]}
    assert set(GIVEN) - changed == UNTOUCHED
    git(shop, "reset", "-q", "--soft", "HEAD~1")
    assert run("uninstall", "--all", "--yes", "--memory").code == 0
    after = tree(user)
    assert {n: v for n, v in after.items() if ".git/" not in n} == {
        n: v for n, v in before.items() if ".git/" not in n
    }
    hooks = {n for n in after if "/hooks/" in n}
    assert hooks == {n for n in before if "/hooks/" in n}
    assert not (user / ".observer").exists()


@pytest.mark.measured
def test_without_names_it_lists_what_is_there(run: Run, user: Path, git: Git, home: Home) -> None:
    shop = hooked(git, run, user / "shop")
    run("install", "bash", "codex")
    before = tree(user)
    shown = run("uninstall")
    rows = [line.split() for line in shown.out.splitlines()]
    assert ["bash", f"{user}/.bashrc"] in rows
    assert ["git", f"{shop}/.git/hooks/post-commit"] in rows
    assert "observer uninstall --all" in shown.err
    assert {"client": "codex", "path": f"{user}/.codex/config.toml"} in run(
        "uninstall", "--json"
    ).json
    assert "-# >>> observer >>>" in run("uninstall", "--dry-run").out
    shown = run("uninstall", "--all", "--memory", "--dry-run").out
    assert f"the memory would be deleted: {home.root} with 0 events" in shown
    assert home.root.exists()
    assert tree(user) == before


def test_all_is_refused_to_agents(run: Run, user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("install", "bash")
    refused = run("uninstall", "--all")
    assert (refused.code, refused.err.splitlines()[-1]) == (2, "hint: add --yes")
    assert run("uninstall", "--all", "bash").code == 2
    assert "--all" in run("uninstall", "--memory", "--yes").err
    assert "--all" in run("uninstall", "bash", "--memory").err
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "an agent does not" in run("uninstall", "--all", "--yes").err
    assert b"observer" in (user / ".bashrc").read_bytes()


def test_the_memory_goes_before_the_program_that_deletes_it(user: Path, home: Home) -> None:
    Spool(home.spool).prepare()
    put_file(home.root / "venv/bin/observer")
    seen = []

    @contextmanager
    def shown(name: str, total: int) -> Iterator[Callable[[int], None]]:
        yield lambda _: seen.append((home.spool.exists(), (home.root / "venv/bin").exists()))
        assert (name, total) == ("deleting", len(seen))

    assert delete(home, progress=shown) == []
    assert (False, True) in seen
    assert (True, False) not in seen


@pytest.mark.parametrize("line", ["status", "policy", "search x", "doctor --quick"])
def test_who_looks_after_leaving_makes_no_home(run: Run, user: Path, git: Git, line: str) -> None:
    shop = hooked(git, run, user / "shop")
    run("uninstall", "--all", "--yes", "--memory")
    os.chdir(shop)
    run(*line.split())
    assert not (user / ".observer").exists()


def test_hooks_in_other_repositories_go_with_those_of_git(run: Run, user: Path, git: Git) -> None:
    shops = [hooked(git, run, user / name) for name in ("one", "two")]
    assert "still reads commits" in run("uninstall", "git").err
    for shop in shops:
        git(shop, "commit", "-q", "--allow-empty", "-m", "Unseen")
        assert not (shop / ".git/hooks/post-commit").exists()
    assert list((user / ".observer/spool/new").iterdir()) == []


@pytest.mark.slow
def test_a_commit_is_not_stored_afterwards_even_by_a_hook_that_nobody_found(
    run: Run, user: Path, git: Git, home: Home
) -> None:
    shop = hooked(git, run, user / "shop")
    kept = (shop / ".git/hooks/post-commit").read_bytes()
    assert "left: " in run("uninstall", "--all", "--yes").out
    put_file(shop / ".git/hooks/post-commit", kept)
    git(shop, "commit", "-q", "--allow-empty", "-m", "Unseen")
    assert list((home.spool / "new").iterdir()) == []
    assert run("status", "--json").json["paused"][0]["where"] == "everywhere"
    assert "observer pause --end" in run("install", "bash").err


def test_what_somebody_else_put_into_the_home_stays(run: Run, user: Path, home: Home) -> None:
    assert run("uninstall").out == f"nothing is installed; the memory is in {home.root}\n"
    run("install", "bash")
    (home.root / "thesis.md").write_text("mine")
    left = run("uninstall", "--all", "--yes", "--memory", "--json").json["left"]
    assert left == [str(home.root / "thesis.md")]
    assert [path.name for path in home.root.iterdir()] == ["thesis.md"]


@pytest.mark.parametrize(("answers", "is_there"), [(b"y\ny\n", False), (b"y\nn\n", True)])
def test_the_memory_is_asked_for_separately(
    run: Run, user: Path, home: Home, answers: bytes, *, is_there: bool
) -> None:
    run("install", "bash")
    assert "Delete the memory too" in answered(answers, "uninstall", "--all").stdout
    assert home.root.exists() == is_there


def test_a_file_that_goes_is_said_removed_one_that_stays_written(run: Run, home: Home) -> None:
    bashrc = Path.home() / ".bashrc"
    assert f"  wrote {bashrc}\n" in run("install", "bash").out
    assert f"  removed {bashrc}\n" in run("uninstall", "bash").out
    assert not bashrc.exists()
    bashrc.write_text("alias l=ls\n")
    run("install", "bash")
    assert f"  wrote {bashrc}\n" in run("uninstall", "bash").out


def test_the_diff_of_a_file_with_line_ends_of_windows_can_be_read(run: Run, home: Home) -> None:
    put_file(Path.home() / ".claude/settings.json", b'{\r\n  "model": "opus"\r\n}\r\n')
    shown = run("install", "claude-code", "--dry-run").out
    assert '+  "model": "opus",\n' in shown
    assert "\N{REPLACEMENT CHARACTER}" not in shown


def test_toolsets_are_chosen_and_kept_by_the_next_installation(run: Run, home: Home) -> None:
    assert "no toolset 'memx'" in run("install", "cursor", "--tools", "memx").err
    assert not (Path.home() / ".cursor").exists()
    assert "mcp --tools memex" in run("mcp", "list", "memex", "--snippets").out
    run("install", "cursor", "--tools", "basic-memory, mem0")
    run("install", "cursor")
    servers = json.loads((Path.home() / ".cursor/mcp.json").read_text())["mcpServers"]
    assert servers["observer"]["args"] == ["mcp", "--tools", "basic-memory,mem0"]


def test_a_server_that_is_given_no_toolset_lists_them(observer: Run) -> None:
    assert "basic-memory" in observer("mcp", "--tools").stdout


@pytest.mark.slow
def test_doctor_tells_whose_hooks_are_gone(run: Run, home: Home) -> None:
    run("install", "bash", "claude-code")
    shutil.rmtree(home.hooks)
    hooks = run("doctor", "--json").check("hooks")
    assert hooks["found"] == f"{home.hooks} is gone, and nothing is recorded of bash claude-code"
    assert hooks["hint"] == "get them back with: observer install bash claude-code"
    run("install", "bash", "claude-code")
    assert str(home.hooks) in run("doctor").out


@pytest.mark.measured
def test_doctor_misses_no_hooks_of_who_registered_only_the_server(run: Run, home: Home) -> None:
    put_file(Path.home() / ".claude/settings.json", "{")
    run("install", "cursor")
    (Path.home() / ".cursor/hooks.json").unlink()
    shutil.rmtree(home.hooks)
    assert "none installed" in run("doctor").out
