"""A purge and the notes of note folders: the memory lets go of the text, the files are left."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from legible import legible

from observer.core.clock import now_ms
from observer.core.paths import Home
from observer.notes.folders import NoteFolder
from observer.notes.folders.writing import NoteVersions
from tests.support import Observer

pytestmark = pytest.mark.slow

CANARY = "Zebrafink-77"
NOTE = f"""---
title: Ask {CANARY}
aliases: [{CANARY}]
owner: {CANARY}
---
- [fact] {CANARY} pays #{CANARY} ({CANARY})
- about [[{CANARY}]]
"""


def _held(home: Home) -> list[str]:
    return [
        str(path.relative_to(home.root))
        for path in sorted(home.root.rglob("*"))
        if path.is_file() and CANARY.lower().encode() in legible(path).lower()
    ]


def test_a_purged_text_of_a_note_comes_back_only_from_its_file(
    within: Observer, until: Callable[..., None], home: Home, tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    (vault / "deep").mkdir(parents=True)
    (vault / "deep/Customer.md").write_text(NOTE)
    (vault / f"{CANARY}.md").write_text("nothing else")
    (vault / "Other.md").write_text("of badgers")

    def found(words: str) -> list[str]:
        shown = json.loads(within("search", words, "--json").stdout)
        return sorted(hit["title"] for hit in shown["observations"])

    within("note", "folder", "add", str(vault))
    until(lambda: "Other" in found("badgers") and {CANARY, f"Ask {CANARY}"} <= {*found(CANARY)})
    (vault / f"{CANARY}.md").unlink()  # of a file that is gone, the title stays
    until(lambda: CANARY not in found(CANARY))
    within("remember", "it is Zebrafink-77 who pays", "--title", "Said")
    assert within("backup").returncode == 0
    within("down")
    changed = NoteFolder(name="vault", path=str(vault))
    NoteVersions(home, now_ms).keep(changed, "deep/Customer.md", NOTE.encode(), "replaced")
    assert _held(home)

    preview = within("purge", "--text", CANARY, "--dry-run")
    for line in (2, 3, 4, 6, 7):
        assert f"{vault}/deep/Customer.md:{line}" in preview.stdout
    assert "change these files" in preview.stdout
    customer = f"{vault}/deep/Customer.md"
    for words in (("--query", "pays"), ("--file", customer), ("--file", str(vault / "deep"))):
        shown = json.loads(within("purge", *words, "--dry-run", "--json").stdout)
        assert shown["note_files"] == [customer], words
    receipt = json.loads(within("purge", "--text", CANARY, "--yes", "--json").stdout)
    assert receipt["events"] == 1
    assert receipt["left"] == []
    assert receipt["note_files"] == [f"{vault}/deep/Customer.md:{line}" for line in (2, 3, 4, 6, 7)]
    assert _held(home) == []
    assert (vault / "deep/Customer.md").read_text() == NOTE

    (vault / "deep/Customer.md").write_text(NOTE.replace(CANARY, "The heron"))
    within("up")
    until(lambda: "Ask The heron" in found("heron"))
    assert "Other" in found("badgers")
    within("down")
    assert _held(home) == []


def test_a_folder_that_is_not_there_is_named(
    within: Observer, until: Callable[..., None], home: Home, tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Customer.md").write_text(NOTE)
    within("note", "folder", "add", str(vault))
    until(lambda: CANARY in within("search", CANARY).stdout)
    within("down")
    shutil.move(vault, tmp_path / "unmounted")
    receipt = json.loads(within("purge", "--text", CANARY, "--yes", "--json").stdout)
    assert receipt["note_files"] == [
        f"the note folder {vault} cannot be read: No such file or directory"
    ]
    assert _held(home) == []
