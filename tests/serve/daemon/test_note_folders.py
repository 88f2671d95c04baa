"""A note folder, from the command to the search, through a real daemon."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from observer.core.paths import Home
from tests.support import Observer

pytestmark = pytest.mark.slow


def test_a_folder_is_followed_until_it_is_removed(
    within: Observer, until: Callable[..., None], tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    (vault / "old").mkdir(parents=True)
    (vault / "old/Queue.md").write_text("- [decision] Jobs live in a marmalade jar")

    def found(words: str) -> list[str]:
        shown = json.loads(within("search", words, "--json").stdout)
        return [hit["title"] for hit in shown["observations"]]

    added = within("note", "folder", "add", str(vault), "--json")
    made = json.loads(added.stdout)
    assert (made["name"], made["files"], made["unread"]) == ("vault", 1, 0), added.stderr
    assert found("marmalade") == ["Queue"]
    (vault / "new/deep").mkdir(parents=True)
    (vault / "new/deep/Zebra.md").write_text("a zebra crossing, see [[Queue]]")
    until(lambda: found("zebra") == ["Zebra"])
    (vault / "new/deep/Zebra.md").rename(vault / "Horse.md")
    until(lambda: found("zebra") == ["Horse"])
    (vault / "old/large.md").write_bytes(b"\xff")
    until(lambda: "old/large.md (it is not valid UTF-8)" in within("status").stdout)

    [row] = json.loads(within("note", "folder", "--json").stdout)
    assert (row["name"], row["notes"], row["path"]) == ("vault", 2, str(vault.resolve()))
    item = str(json.loads(within("search", "marmalade", "--json").stdout)["observations"][0]["id"])
    for words in (("forget", item, "--yes"), ("note", "history", item), ("undo", item),
                  ("note", "edit", item, "else"), ("purge", item, "--yes")):  # fmt: skip
        refused = within(*words)
        assert refused.returncode == 2, (words, refused.stdout)
        assert "kept as a file" in refused.stderr
        assert str(vault / "old/Queue.md") in refused.stderr

    assert within("note", "folder", "default", str(vault)).stdout == "vault\n"
    assert json.loads(within("note", "folder", "default", "--json").stdout)["default"] == "vault"
    assert within("note", "folder", "default", "--unset").stdout.startswith("none is set")
    assert within("note", "folder", "remove", "vault").returncode == 0
    assert found("zebra") == []
    assert (vault / "Horse.md").exists()
    assert within("note", "folder").stdout.startswith("no note folders")


def test_a_folder_added_while_no_daemon_runs_keeps_its_ids_over_a_rebuild(
    within: Observer, until: Callable[..., None], tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    for number in range(5):
        (vault / f"n{number}.md").write_text(f"zebra {number}")
    within("note", "folder", "add", str(vault))

    def ids() -> list[tuple[int, str]]:
        shown = json.loads(within("search", "zebra", "--json").stdout)["observations"]
        return sorted((hit["id"], hit["title"]) for hit in shown)

    until(lambda: len(ids()) == 5)
    before = ids()
    assert within("down").returncode == 0
    rebuilt = within("doctor", "--rebuild")
    assert rebuilt.returncode == 0, rebuilt.stderr
    within("up")
    until(lambda: ids() == before)


def test_a_note_about_code_that_has_changed_says_so_everywhere(
    within: Observer,
    until: Callable[..., None],
    git: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The note is older than the change of the code, though both are read for the first time."""
    shop = tmp_path / "shop"
    git(shop, "init")
    (shop / "docs").mkdir()
    (shop / "jobs.py").write_text("def take():\n    return 1\n")
    (shop / "docs/Jobs.md").write_text("Marmalade: `take` of `jobs.py` takes one job\n")
    git(shop, "add", ".")
    git(shop, "commit", "-m", "Begin")
    (shop / "jobs.py").write_text("def take():\n    return 2\n")
    git(shop, "commit", "-am", "Take two")
    monkeypatch.chdir(shop)
    within("note", "folder", "add", "docs")
    until(lambda: "take changed in" in within("search", "marmalade").stdout)
    why = within("why", "jobs.py:2").stdout
    assert "Take two" in why
    assert "Jobs" in why
    assert "take changed in" in why

    async def answers() -> list[str]:
        command = ["-m", "observer", "mcp", "--tools", "basic-memory"]
        server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
        async with asyncio.timeout(60), Client(server) as client:
            asked = (("search_notes", {"query": "marmalade"}), ("build_context", {"url": "jobs"}))
            return [str(await client.call_tool(name, arguments)) for name, arguments in asked]

    for answer in asyncio.run(answers()):
        assert "take changed in" in answer


def test_a_restored_home_keeps_its_note_folders(
    within: Observer, until: Callable[..., None], tmp_path: Path, home: Home
) -> None:
    """A folder that is not there keeps its notes and is named; once it is there it is followed."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Zebra.md").write_text("a zebra crossing")
    within("note", "folder", "add", str(vault))

    def found(words: str) -> list[tuple[int, str]]:
        shown = json.loads(within("search", words, "--json").stdout)["observations"]
        return [(hit["id"], hit["title"]) for hit in shown]

    until(lambda: found("zebra"))
    before = found("zebra")
    assert within("backup", "--to", str(tmp_path / "home.tar.gz")).returncode == 0
    within("down")
    vault.rename(tmp_path / "away")
    shutil.rmtree(home.root)
    restored = within("restore", str(tmp_path / "home.tar.gz"))
    assert restored.returncode == 0, restored.stderr
    within("up")
    until(lambda: f"the note folder {vault} cannot be read" in within("status").stdout)
    assert found("zebra") == before
    assert vault.name in within("note", "folder").stdout
    within("down")
    (tmp_path / "away").rename(vault)
    (vault / "Zebra.md").write_text("a zebra crossing, painted")
    within("up")
    until(lambda: found("painted") == before)
