"""Vaults as people keep them in Obsidian and its like: what their links and names mean."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.notes.folders.conftest import Vault


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
        [relations] = vault.files.relations([vault.paths()[path]]).values() or [[]]
        found = vault.files.targets(vault.folder, relations)
        assert [found[each.target].path if each.target in found else None for each in relations] \
            == expected, path  # fmt: skip
    for called, paths in shape.called.items():
        assert [file.path for file in vault.files.called(called)] == paths
    for path, expected in shape.links.items():
        for target in set(expected) - {None, path}:
            file = vault.files.at(vault.folder, str(target))
            assert file is not None
            back = {item for item, _ in vault.files.relations_to(file)}
            assert vault.paths()[path] in back, (path, target)
    assert {path: (vault.root / path).read_bytes() for path in shape.files} == {
        path: text.encode() for path, text in shape.files.items()
    }
