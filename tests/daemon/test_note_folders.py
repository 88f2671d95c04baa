"""A note folder, from the command to the search, through a real daemon."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

Observer = Callable[..., "subprocess.CompletedProcess[str]"]


def test_a_folder_is_followed_until_it_is_removed(
    observer: Observer, until: Callable[..., None], tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    (vault / "old").mkdir(parents=True)
    (vault / "old/Queue.md").write_text("- [decision] Jobs live in a marmalade jar")

    def found(words: str) -> list[str]:
        shown = json.loads(observer("search", words, "--json").stdout)
        return [hit["title"] for hit in shown["observations"]]

    added = observer("note", "folder", "add", str(vault), "--json")
    assert json.loads(added.stdout)["name"] == "vault", added.stderr
    until(lambda: found("marmalade") == ["Queue"])
    (vault / "new/deep").mkdir(parents=True)
    (vault / "new/deep/Zebra.md").write_text("a zebra crossing, see [[Queue]]")
    until(lambda: found("zebra") == ["Zebra"])
    (vault / "new/deep/Zebra.md").rename(vault / "Horse.md")
    until(lambda: found("zebra") == ["Horse"])
    (vault / "old/large.md").write_bytes(b"\xff")
    until(lambda: "old/large.md (it is not valid UTF-8)" in observer("status").stdout)

    [row] = json.loads(observer("note", "folder", "list", "--json").stdout)
    assert (row["name"], row["notes"], row["path"]) == ("vault", 2, str(vault.resolve()))
    item = str(
        json.loads(observer("search", "marmalade", "--json").stdout)["observations"][0]["id"]
    )
    for words in (("forget", item), ("note", "history", item), ("note", "undo", item),
                  ("note", "edit", item, "else"), ("purge", item, "--yes")):  # fmt: skip
        refused = observer(*words)
        assert refused.returncode == 2, (words, refused.stdout)
        assert "kept as a file" in refused.stderr
        assert str(vault / "old/Queue.md") in refused.stderr

    assert observer("note", "folder", "remove", "vault").returncode == 0
    until(lambda: found("zebra") == [])
    assert (vault / "Horse.md").exists()
    assert observer("note", "folder", "list").stdout.startswith("no note folders")


def test_a_folder_added_while_no_daemon_runs_keeps_its_ids_over_a_rebuild(
    observer: Observer, until: Callable[..., None], tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    for number in range(5):
        (vault / f"n{number}.md").write_text(f"zebra {number}")
    observer("note", "folder", "add", str(vault))

    def ids() -> list[tuple[int, str]]:
        shown = json.loads(observer("search", "zebra", "--json").stdout)["observations"]
        return sorted((hit["id"], hit["title"]) for hit in shown)

    until(lambda: len(ids()) == 5)
    before = ids()
    assert observer("down").returncode == 0
    rebuilt = observer("rebuild")
    assert rebuilt.returncode == 0, rebuilt.stderr
    observer("up")
    until(lambda: ids() == before)
