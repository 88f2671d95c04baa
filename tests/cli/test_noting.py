"""Notes on the command line, with a daemon of its own where something is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from observer.core.paths import Home
from observer.local import client

Run = Callable[..., Any]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is a project, and a shell that is a person's."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    monkeypatch.chdir(folder)
    for name in ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "AI_AGENT", "AGENT"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def daemon(home: Home, here: Path) -> Iterator[Home]:
    yield home
    client.stop(home, wait_s=30.0)


@pytest.mark.slow
def test_the_life_of_a_note(run: Run, daemon: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run("remember", "Tests need Redis, see [[CI]]", "--tag", "ci", "--title", "Redis")
    assert first.code == 0, first.err
    assert "no note is called so yet: CI" in first.err
    item = first.out.split("#")[1].split()[0]
    assert run("note", "edit", item, "Tests need Redis 7").out == f"changed #{item} Redis\n"
    assert "Tests need Redis 7" in run("show", item).out
    assert run("note", "edit", item).code == 2
    assert run("undo", item).code == 0
    shown = run("note", "history", item).out.splitlines()
    assert [line.split(" by ")[0].split()[-1] for line in shown] == [
        "remember",
        "revise",
        "undo",
    ]
    scope = "in shop (--all: in all projects)\n"
    assert run("note", "--tag", "ci").out.startswith(f"{scope}#{item} fact · Redis")
    assert (
        run("note", "--layer", "rule").out
        == f"{scope}no notes like that: leave out an option, or ask in all projects: --all\n"
    )
    assert run("note", "link", item).out == "-> wiki (nothing yet) CI\n"
    assert run("forget", item).err.endswith("there is no terminal to ask on\nhint: add --yes\n")
    forgotten = run("forget", f"#{item}", "--yes")
    assert forgotten.out.startswith(f"forgot #{item} fact · Redis")
    assert f"observer undo {item}" in forgotten.err
    assert f"observer undo {item}" in run("show", item).err
    assert run("undo", item, "--json").json["content"] == "Tests need Redis, see [[CI]]"
    second = run("remember", "Tests need Redis 8", "--json", "--supersedes", item).json["id"]
    assert f"<- supersedes #{second}" in run("note", "link", item).out
    assert run("note", "link", str(second), item, "--kind", "supersedes", "--remove").code == 0
    assert (
        run("note", "link", str(second)).out
        == f"no links: observer note link {second} OTHER makes one\n"
    )
    assert run("note", "link", str(second), item).code == 0
    assert run("note", "link", str(second), "x", "--remove").code == 3
    links = run("note", "link", str(second), "--json").json
    assert links["out"] == [{"kind": "explicit", "title": "Redis", "id": int(item)}]
    monkeypatch.setenv("CLAUDECODE", "1")
    rule = run("remember", "Never push", "--type", "rule")
    assert "observer note approve" in rule.err
    number = rule.out.split("#")[1].split()[0]
    assert run("note", "approve", number).code == 2
    assert f"#{number}" in run("note", "--waiting").out
    monkeypatch.delenv("CLAUDECODE")
    assert "(approved)" in run("note", "approve", number).out
    assert (
        run("note", "--waiting").out
        == f"{scope}no notes like that: leave out an option, or ask in all projects: --all\n"
    )
    assert [v["action"] for v in run("note", "history", number, "--json").json] == [
        "remember",
        "approve",
    ]
    assert run("note", "--json").json[0]["approval"] == "approved"
    assert run("show", number, "--json").json["observations"][0]["layer"] == "rule"


@pytest.mark.parametrize("words", [("",), ("notes", "--name", "")], ids=["folder", "name"])
def test_a_note_folder_without_a_name_is_refused(run: Run, app: Path, words: tuple[str]) -> None:
    (app / "notes").mkdir()
    ran = run("note", "folder", "add", *words)
    assert (ran.code, "is empty" in ran.err) == (2, True)
