"""Notes in a folder: found, read, written with compare-and-swap, moved, deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from observer.core.errors import BadInput, NoteConflict, NotFound
from observer.core.filters import Filters
from observer.core.note_file import Claim, Relation
from observer.core.paths import Home
from observer.notes.folders.folders import NoteFolders
from observer.notes.folders.note_files import NEW
from tests.notes.folders.conftest import Vault

QUEUE = """---
title: Queue design
tags: [storage]
status: accepted
---
# Queue

- [decision] Jobs live in SQLite #db (no broker)
- depends_on [[Backups]]
"""


def test_a_file_is_a_note_with_claims_and_relations(vault: Vault) -> None:
    vault.put("design/Queue.md", QUEUE)
    assert vault.scan().changed == 1
    [file] = vault.files.called("Queue design")
    assert (file.path, file.permalink) == ("design/Queue.md", "design/queue")
    claim = Claim(
        category="decision", text="Jobs live in SQLite #db", tags=("db",), context="no broker"
    )
    assert vault.files.claims([file.item])[file.item] == [claim]
    assert vault.files.relations([file.item])[file.item] == [
        Relation(kind="depends_on", target="Backups")
    ]
    item = vault.item("design/Queue.md")
    assert (item.title, item.tags, item.metadata) == (
        "Queue design",
        ("storage", "db"),
        '{"status":"accepted"}',
    )
    with vault.store.read() as reader:
        assert reader.match("sqlite", Filters(), limit=5) == [file.item]


def test_a_write_is_found_at_once(vault: Vault) -> None:
    made = vault.files.write(vault.folder, "a/New.md", QUEUE, expected=NEW).file
    assert vault.item("a/New.md").id == made.item
    assert vault.files.read(vault.folder, "a/New.md").text == QUEUE


def test_who_read_another_version_replaces_nothing(vault: Vault) -> None:
    vault.put("Queue.md", QUEUE)
    before = vault.files.read(vault.folder, "Queue.md")
    vault.put("Queue.md", "what a person wrote meanwhile")
    with pytest.raises(NoteConflict, match="changed meanwhile") as refused:
        vault.files.write(vault.folder, "Queue.md", "an agent's text", expected=before.checksum)
    assert vault.files.read(vault.folder, "Queue.md").text == "what a person wrote meanwhile"
    [kept] = vault.root.glob(".Queue.md.conflict-*")
    assert kept.name in refused.value.hint
    assert kept.read_text() == "an agent's text"


def test_a_move_keeps_the_note_and_its_permalink(vault: Vault) -> None:
    made = vault.files.write(vault.folder, "a/Queue.md", QUEUE, expected=NEW).file
    moved = vault.files.move(vault.folder, "a/Queue.md", "b/Jobs.md")
    assert (moved.item, moved.permalink, moved.path) == (made.item, "a/queue", "b/Jobs.md")
    assert vault.paths() == {"b/Jobs.md": made.item}


def test_a_deleted_note_is_not_found_and_comes_back_as_itself(vault: Vault) -> None:
    made = vault.files.write(vault.folder, "Queue.md", QUEUE, expected=NEW).file
    vault.files.delete(vault.folder, "Queue.md", expected=made.checksum)
    assert vault.paths() == {}
    with vault.store.read() as reader:
        assert reader.match("sqlite", Filters(), limit=5) == []
        gone = reader.item(made.item, deleted=True)
    assert gone is not None
    assert gone.narrative == ""
    vault.put("Queue.md", QUEUE)
    vault.scan()
    assert vault.paths() == {"Queue.md": made.item}


@pytest.mark.parametrize(
    "path", ["../x.md", "/etc/x.md", "a/../../x.md", ".obsidian/x.md", "", "a\0.md"]
)
def test_no_path_leads_out_of_the_folder(vault: Vault, path: str) -> None:
    with pytest.raises(BadInput):
        vault.files.read(vault.folder, path)
    with pytest.raises(BadInput):
        vault.files.write(vault.folder, path, "x", expected=NEW)


@pytest.mark.parametrize("path", ["/proc", "/proc/self", "/sys", "/dev", "~", "~/..", "/", ""])
def test_what_is_no_folder_of_notes_is_none(path: str, tmp_path: Path) -> None:
    """Neither with a memory in the user's home nor with one beside it."""
    listed = NoteFolders(Home(tmp_path / "elsewhere"))
    with pytest.raises(BadInput):
        listed.add(str(Path(path).expanduser()) if path else "")
    assert listed.all() == ()


def test_a_folder_that_is_removed_leaves_its_files(vault: Vault) -> None:
    vault.put("Queue.md", QUEUE)
    vault.scan()
    vault.files.remove(vault.folder.name)
    assert vault.paths() == {}
    assert (vault.root / "Queue.md").read_text() == QUEUE
    with pytest.raises(NotFound):
        vault.files.folder(vault.folder.name)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("- supersedes [[Old]]", "superseded"),
        ("It replaces [[the old one]].", "superseded"),
        ("- amends [[Old]]", "amended"),
        ("- relates_to [[Old]]", None),
    ],
)
def test_a_file_says_what_it_does_to_a_note_that_it_names(
    vault: Vault, said: str, reason: str | None
) -> None:
    vault.put("New.md", f"# New\n\n{said}\n")
    vault.put("Old.md", "---\ntitle: Old\naliases: [The old one]\n---\nAs it was.\n")
    vault.scan()
    found = [each.reason for each in vault.item("Old.md").validity]
    assert found == ([reason] if reason else [])
