"""The files from which `observer mcp` answers while the daemon starts follow what they are of."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from observer import __version__
from observer.core.paths import Home
from observer.local.pump import METHODS, KeptAnswers, carried, hello, path_of
from observer.memory.api import Memory
from observer.notes.values import Note
from observer.serve.mcp import server as listening
from observer.serve.mcp.server import Hello, KeptOpenings, McpFront
from tests.serve.services import services_over

CLIENT = {"name": "test", "version": "1"}
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}


class Keeping:
    """A worker over a real front."""

    def __init__(self, memory: Memory, home: Home) -> None:
        self._front = McpFront(memory, rules_chars=1_000)
        self._home = home
        self.start()

    def start(self) -> None:
        self.openings = KeptOpenings(services_over(self._home))
        self.openings.load()

    def greeted(self, folder: Path | str, tools: str = "core", version: str = __version__) -> None:
        self.openings.greeted(Hello(1, version, str(folder), tools))

    def freshen(self) -> None:
        asyncio.run(self.openings.freshen(self._front))

    def files(self) -> set[str]:
        return {path.name for path in (self._home.context / "mcp").glob("*")}

    def path(self, folder: Path | str, tools: str = "core") -> Path:
        return Path(path_of(str(self._home.root), hello(tools, str(folder))))

    def answer(self, folder: Path | str, method: str, **params: Any) -> Any:
        kept = KeptAnswers(str(self._home.root), cwd=str(folder), tools="core")
        for identifier, (name, given) in enumerate([("initialize", OPENING), (method, params)]):
            request = {"jsonrpc": "2.0", "id": identifier, "method": name, "params": given}
            answer = kept.answer(json.dumps(request).encode())
        return json.loads(answer)["result"]

    def instructions(self, folder: Path | str) -> str:
        shown: str = self.answer(folder, "initialize", **OPENING)["instructions"]
        return shown


@pytest.fixture
def keeping(memory: Memory, home: Home) -> Keeping:
    return Keeping(memory, home)


def remember(memory: Memory, content: str, **fields: Any) -> None:
    note = Note(content=content, type="rule", **fields)
    memory.notes.remember(note, project="my-api", author="person")


def test_a_folder_that_nobody_asked_from_is_answered_too(keeping: Keeping, tmp_path: Path) -> None:
    """Also by other toolsets; what did not change is not written."""
    keeping.freshen()
    for method in METHODS:
        assert keeping.answer(tmp_path, method)
    before = keeping.path("").stat().st_mtime_ns
    keeping.greeted(tmp_path / "shop", tools="memex")
    keeping.freshen()
    assert keeping.path("", tools="memex").exists()
    assert keeping.path("").stat().st_mtime_ns == before


@pytest.mark.parametrize("tools", ["core", "core,story", "memory", "basic-memory"])
def test_the_package_carries_what_a_daemon_without_rules_answers(
    memory: Memory, tmp_path: Path, tools: str
) -> None:
    shown = McpFront(memory).opening(tools, McpFront(memory).instructions("", tools))
    assert carried(str(tmp_path / "no home"), tools) == shown


def test_a_rule_is_kept_for_the_folders_where_it_holds(
    keeping: Keeping, memory: Memory, tmp_path: Path
) -> None:
    app = tmp_path / "my-api"
    keeping.greeted(app)
    keeping.freshen()
    assert "Never push" not in keeping.instructions(app)
    remember(memory, "Never push to main.")
    remember(memory, "Tabs.", scope="team")
    keeping.freshen()
    assert "Never push" in keeping.instructions(app)
    assert "Tabs." in keeping.instructions(tmp_path)
    assert "Never push" not in keeping.instructions(tmp_path)


def test_the_next_daemon_goes_on_with_the_files_of_its_version(
    keeping: Keeping, tmp_path: Path
) -> None:
    keeping.greeted(tmp_path)
    keeping.freshen()
    folder = keeping.path("").parent
    (folder / "0000.json").write_text('{"observer":1,"version":"0.0.9","cwd":"/","tools":"core"}\n')
    (folder / "0001.json").write_text("{}")
    keeping.path(tmp_path).write_bytes(hello("core", str(tmp_path)) + b"{}")
    keeping.start()
    keeping.freshen()
    assert keeping.files() == {keeping.path(each).name for each in ("", "/", tmp_path)}
    assert keeping.answer(tmp_path, "tools/list")["tools"]


def test_a_client_with_variables_of_its_own_has_its_own_file(keeping: Keeping) -> None:
    variables = ("BASIC_MEMORY_MCP_PROJECT=notes",)
    keeping.openings.greeted(Hello(1, __version__, "/", "core", variables))
    keeping.freshen()
    root = str(keeping.path("").parents[2])
    own = {Path(path_of(root, hello("core", folder, variables))).name for folder in ("/", "")}
    assert keeping.files() == {keeping.path("").name, *own}


@pytest.mark.parametrize(("tools", "version"), [("core", "0.0.9"), ("theirs", __version__)])
def test_another_version_or_a_toolset_that_is_gone_is_not_kept_for(
    keeping: Keeping, tmp_path: Path, tools: str, version: str
) -> None:
    keeping.greeted(tmp_path, tools, version)
    keeping.freshen()
    assert keeping.files() == {keeping.path("").name}


def test_the_folders_asked_from_last_are_kept(
    keeping: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "MOST_KEPT", 3)
    keeping.freshen()
    for folder in ("/a", "/b", "/c", "/a"):
        keeping.greeted(folder)
        keeping.freshen()
    keeping.greeted("")
    keeping.freshen()
    assert keeping.files() == {keeping.path(each).name for each in ("", "/a", "/c")}
