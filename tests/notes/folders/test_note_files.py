"""Notes in a folder, as people keep vaults: found, read, written, moved, deleted."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

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
    with vault.files.store.read() as reader:
        assert reader.claims_of([file.item])[file.item] == [claim]
        stated = reader.relations_of([file.item])[file.item]
    assert stated == [Relation(kind="depends_on", target="Backups")]
    item = vault.item("design/Queue.md")
    assert (item.title, item.tags, item.metadata) == (
        "Queue design",
        ("storage", "db"),
        '{"status":"accepted"}',
    )
    with vault.store.read() as reader:
        assert reader.match("sqlite", Filters(), limit=5) == [file.item]


def test_a_write_is_found_at_once_and_a_move_keeps_note_and_permalink(vault: Vault) -> None:
    made = vault.files.write(vault.folder, "a/Queue.md", QUEUE, expected=NEW).file
    assert vault.item("a/Queue.md").id == made.item
    assert vault.files.read(vault.folder, "a/Queue.md").text == QUEUE
    moved = vault.files.move(vault.folder, "a/Queue.md", "b/Jobs.md")
    assert (moved.item, moved.permalink, moved.path) == (made.item, "a/queue", "b/Jobs.md")
    assert vault.paths() == {"b/Jobs.md": made.item}


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
        vault.files.listed.named(vault.folder.name)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("- supersedes [[Old]]", "superseded"),
        ("It replaces [[the old one]].", "superseded"),
        ("- amends [[Old]]", "amended"),
        ("- relates_to [[Old]]", None),
    ],
)
def test_a_file_says_what_it_does_to_a_note(vault: Vault, said: str, reason: str | None) -> None:
    vault.put("New.md", f"# New\n\n{said}\n")
    vault.put("Old.md", "---\ntitle: Old\naliases: [The old one]\n---\nAs it was.\n")
    vault.scan()
    found = [each.reason for each in vault.item("Old.md").validity]
    assert found == ([reason] if reason else [])


class Shape(NamedTuple):
    """A vault: its files, where the links of one lead (None: to no note), what names mean."""

    files: dict[str, str]
    links: dict[str, list[str | None]]
    called: dict[str, list[str]]


SHAPES = {
    "zettelkasten with aliases": Shape(
        {
            "202611241530 Queue.md": "---\naliases:\n  - Job queue\n  - Jobs, and why\n---\nQ",
            "202611241531 Backups.md": "Of [[Job queue]], [[job QUEUE|it]], [[Jobs, and why#Cost]]",
        },
        {"202611241531 Backups.md": ["202611241530 Queue.md"] * 3},
        {"Job queue": ["202611241530 Queue.md"], "Jobs, and why": ["202611241530 Queue.md"]},
    ),
    "aliases in one line": Shape(
        {
            "Ana.md": "---\naliases: Ana Lind, A. Lind\n---\n",
            "Bo.md": "---\nalias: [Bosse]\n---\n[[A. Lind]] and [[Ana Lind]]",
            "Carl.md": "---\nalias: 12\naliases: {a: b}\n---\n[[Bosse]] [[12]]",
        },
        {"Bo.md": ["Ana.md", "Ana.md"], "Carl.md": ["Bo.md", "Carl.md"]},
        {"bosse": ["Bo.md"]},
    ),
    "one alias of several notes": Shape(
        {
            "a/One.md": "---\naliases: [Plan, Two]\n---\n",
            "b/Two.md": "---\naliases: [Plan]\n---\n",
            "Index.md": "[[Plan]] [[Two]]",
        },
        {"Index.md": ["a/One.md", "b/Two.md"]},
        {"Plan": ["a/One.md", "b/Two.md"], "Two": ["b/Two.md", "a/One.md"]},
    ),
    "titles that differ from the files": Shape(
        {
            "log/2026-11-24 queue.md": "---\ntitle: Queue design\n---\n",
            "Index.md": "[[2026-11-24 queue]] [[Queue design]] [[log/2026-11-24 queue|old]]",
        },
        {"Index.md": ["log/2026-11-24 queue.md"] * 3},
        {"2026-11-24 queue": ["log/2026-11-24 queue.md"]},
    ),
    "daily notes and templates": Shape(
        {
            "daily/2026-11-23.md": "# Monday\n",
            "daily/2026-11-24.md": "<< [[2026-11-23]] | [[2026-11-25]] >>\n- [x] call [[Ana]]",
            "templates/Daily.md": "---\ntitle: {{date}}\n---\n<% tp.date.now() %>[[{{yesterday}}]]",
            ".obsidian/daily-notes.json": "{}",
        },
        {"daily/2026-11-24.md": ["daily/2026-11-23.md", None, None], "templates/Daily.md": [None]},
        {"Daily": ["templates/Daily.md"]},
    ),
    "headings, blocks and embeds": Shape(
        {
            "Queue.md": "## Why\nBecause. ^why\n\nSee [[#Why]]",
            "Index.md": "[[Queue#Why]] [[Queue#^why|reason]] ![[Queue]] ![[pic.png|100]]",
            "pic.png": "x",
            "Board.canvas": "{}",
        },
        {"Index.md": ["Queue.md"] * 3 + [None], "Queue.md": [None]},
        {"Queue": ["Queue.md"]},
    ),
    "folder notes and maps of content": Shape(
        {
            "area/area.md": "- up [[Home]]\n- [[area/sub/sub|Sub]]\n- [[sub.md]]",
            "area/sub/sub.md": "- up [[area]]",
            "Home.md": "- has [[area/area]]",
        },
        {
            "area/area.md": ["Home.md", "area/sub/sub.md", "area/sub/sub.md"],
            "area/sub/sub.md": ["area/area.md"],
            "Home.md": ["area/area.md"],
        },
        {"area/area": ["area/area.md"]},
    ),
    "one name in several folders": Shape(
        {
            "api/README.md": "of the api, beside [[web/README]]",
            "web/README.md": "of the web, beside [[api/README|that]] and [[README]]",
        },
        {"api/README.md": ["web/README.md"], "web/README.md": ["api/README.md"] * 2},
        {"README": ["api/README.md", "web/README.md"]},
    ),
    "plugins: Dataview, Tasks, Kanban, Excalidraw": Shape(
        {
            "Tasks.md": "- [ ] ship [[Board]] by 2026-11-24\nowner:: [[Ana]]\n%% [[Sketch]] %%",
            "Board.md": "---\nkanban-plugin: board\n---\n## Todo\n\n- [ ] [[Tasks]]\n",
            "Sketch.excalidraw.md": "---\nexcalidraw-plugin: parsed\n---\n![[Sketch.excalidraw]]",
            "Ana.md": "```dataview\nLIST FROM [[Tasks]]\n```\n> [!note] [[Board]]",
        },
        {
            "Tasks.md": ["Board.md", "Ana.md", None],
            "Board.md": ["Tasks.md"],
            "Sketch.excalidraw.md": ["Sketch.excalidraw.md"],
            "Ana.md": [],
        },
        {"Sketch.excalidraw": ["Sketch.excalidraw.md"]},
    ),
    "names of many scripts": Shape(
        {
            "笔记/设计.md": "\ufeff---\r\naliases: [設計, Дизайн]\r\n---\r\n见 [[Café]]\r\n",
            "Cafe\u0301.md": "[[設計]] [[дизайн]] [[笔记/设计]]",
            "🎉 Party.md": "[[cafe\u0301]]",
        },
        {
            "笔记/设计.md": ["Cafe\u0301.md"],
            "Cafe\u0301.md": ["笔记/设计.md"] * 3,
            "🎉 Party.md": ["Cafe\u0301.md"],
        },
        {"🎉 party": ["🎉 Party.md"]},
    ),
    "a graph of Logseq": Shape(
        {
            "journals/2026_11_24.md": "- met [[Ana Lind]] #meeting\n\t- about [[shop/cart]]\n",
            "pages/Ana Lind.md": "alias:: Ana\n- [[2026_11_24]]\n",
            "pages/shop___cart.md": "title:: shop/cart\n- text ((62f1-a))\n",
            "logseq/config.edn": "{}",
        },
        {"journals/2026_11_24.md": ["pages/Ana Lind.md", None]},
        {"Ana Lind": ["pages/Ana Lind.md"]},
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_links_lead_where_they_lead_for_people(vault: Vault, name: str) -> None:
    shape = SHAPES[name]
    for path, text in shape.files.items():
        vault.put(path, text)
    vault.scan()
    assert set(vault.paths()) == {path for path in shape.files if path.endswith(".md")}
    for path, expected in shape.links.items():
        with vault.files.store.read() as reader:
            [relations] = reader.relations_of([vault.paths()[path]]).values() or [[]]
        found = vault.files.targets(vault.folder, relations)
        assert [found[each.target].path if each.target in found else None for each in relations] \
            == expected, path  # fmt: skip
    for called, paths in shape.called.items():
        assert [file.path for file in vault.files.called(called)] == paths
    for path, expected in shape.links.items():
        for target in set(expected) - {None, path}:
            file = vault.files.at(vault.folder, str(target))
            assert file is not None
            with vault.files.store.read() as reader:
                back = {item for item, _ in reader.relations_to(file)}
            assert vault.paths()[path] in back, (path, target)
    assert {path: (vault.root / path).read_bytes() for path in shape.files} == {
        path: text.encode() for path, text in shape.files.items()
    }
