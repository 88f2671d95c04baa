"""What agents are given by files becomes notes that follow those files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.core.config import Settings
from observer.core.events import Event, Forget
from observer.core.model import Item
from observer.core.paths import Home
from observer.importers.run import FinishedImports
from observer.importers.shelf.memory_files import MOST_BYTES, NAME, SOURCES, find, read
from observer.importers.source import Problems
from observer.projects.policy import FILE
from observer.search.start import StartRequest, start
from observer.serve.unreported import MemoryFileWorker
from tests.importers.conftest import Filled, Memories
from tests.serve.services import services_over

AWS_KEY = "AKIA" + "QYLPMN5HFIQR7XYA"
Followed = tuple[Filled, Callable[[], None]]


def write(folder: Path, **texts: str) -> None:
    """Write files named by their paths, with `__` for a slash."""
    for name, text in texts.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def notes(filled: Filled) -> dict[str, Item]:
    return {item.title: item for item in filled.items()}


@pytest.fixture
def person() -> Path:
    return Path(os.environ["HOME"])


def test_a_memory_file_is_a_note_where_it_is(memory: Memories, shop: Path, person: Path) -> None:
    """In a project, of the person, or Claude's memory of a project; a copy by a link is one."""
    slug = str(shop).replace("/", "-").replace("_", "-")
    auto = person / f".claude/projects/{slug}/memory"
    files = {"CLAUDE.md": "Use tabs.", ".cursor/rules/api/http.mdc": f"Key {AWS_KEY}."}
    for name, text in files.items():
        write(shop, **{name.replace("/", "__"): text})
    (shop / "AGENTS.md").symlink_to("CLAUDE.md")
    write(person, **{".codex__AGENTS.md": "Answer in Danish."})
    write(auto, **{"MEMORY.md": "The cart rounds once."})
    write(shop, **{"notes.md": "no client reads this", ".kiro__steering__empty.md": " \n"})
    filled = memory("files")
    filled.imported(*SOURCES[0].paths({}, [str(shop)]), source=NAME)
    found = notes(filled)
    with filled.store.read() as reader:
        project = next(one.id for one in reader.projects() if str(shop) in one.roots)
    assert {title: item.project_id for title, item in found.items()} == {
        "CLAUDE.md": project,
        "api/http.mdc": project,
        "memory/MEMORY.md": project,
        ".codex/AGENTS.md": None,
    }
    assert found[".codex/AGENTS.md"].scope == "personal"
    assert json.loads(found["CLAUDE.md"].metadata)["file"] == str(shop / "CLAUDE.md")
    assert AWS_KEY not in found["api/http.mdc"].narrative


def test_a_memory_file_is_not_shown_unasked(memory: Memories, shop: Path) -> None:
    write(shop, **{"CLAUDE.md": "Use tabs."})
    filled = memory("start")
    filled.imported(shop, source=NAME)
    (note,) = filled.items()
    with filled.store.read() as reader:
        shown = start(reader, StartRequest(note.project_id or 0, 2000), lambda _: 1)
    assert shown.lines == ()


def test_what_leads_elsewhere_or_is_excluded_is_left_out(shop: Path, person: Path) -> None:
    write(person, **{"secret.txt": "of another place"})
    (shop / "CLAUDE.md").symlink_to(person / "secret.txt")
    (shop / "GEMINI.md").symlink_to("gone")
    write(shop, **{"AGENTS.md": "private", "QWEN.md": "x" * (MOST_BYTES + 1), ".cursorrules": "y"})
    os.mkfifo(shop / ".windsurfrules")
    write(shop, **{FILE: 'exclude = ["AGENTS.md"]\n'})
    problems = Problems()
    found = find([shop], problems)
    settings = Settings(exclude=(str(shop / ".cursorrules"),))
    assert [event for one in found for event in read(one, settings, problems)] == []
    assert problems.counts == {
        "memory file that leads elsewhere": 1,
        "memory file larger than 1 MB": 1,
    }
    write(shop, **{FILE: "capture = 7"})
    assert find([shop], problems) == []


@pytest.fixture
def followed(memory: Memories, shop: Path) -> Followed:
    """Return a memory that has the memory files of a project, and what looks at them again."""
    write(shop, **{"CLAUDE.md": "Use tabs.", ".cursorrules": "Use types."})
    filled = memory("files")
    home = Home(shop.parent / ".observer")
    home.root.mkdir()
    worker = MemoryFileWorker(services_over(home, filled.store, pipeline=filled.pipeline))
    worker.look()
    assert filled.items() == []
    found = find([shop], Problems())
    filled.imported(shop, source=NAME)
    FinishedImports(home.imports).add(NAME, {one.id: one.fingerprint() for one in found})
    return filled, worker.look


def test_a_note_changes_with_its_file_and_goes_with_it(followed: Followed, shop: Path) -> None:
    """A new file comes too, as one does that a checkout brings back."""
    filled, look = followed
    before = notes(filled)["CLAUDE.md"]
    write(shop, **{"CLAUDE.md": "Use spaces.", "AGENTS.md": "Test first."})
    (shop / ".cursorrules").unlink()
    look()
    assert {title: item.narrative for title, item in notes(filled).items()} == {
        "CLAUDE.md": "Use spaces.",
        "AGENTS.md": "Test first.",
    }
    assert notes(filled)["CLAUDE.md"].id == before.id
    write(shop, **{".cursorrules": "Use types."})
    look()
    assert notes(filled).keys() == {"CLAUDE.md", "AGENTS.md", ".cursorrules"}
    kinds = filled.kinds()
    look()
    assert filled.kinds() == kinds
    for name in notes(filled):
        (shop / name).unlink()
        look()
    assert filled.items() == []


def test_a_note_that_was_forgotten_comes_back_only_with_another_text(
    followed: Followed, shop: Path
) -> None:
    filled, look = followed
    note = notes(filled)["CLAUDE.md"]
    filled.pipeline.ingest([Event("f1", note.updated_ms, "observer", Forget(item=note.id))])
    write(shop, **{".cursorrules": "Use more types."})
    look()
    assert notes(filled).keys() == {".cursorrules"}
    write(shop, **{"CLAUDE.md": "Use spaces."})
    look()
    assert notes(filled).keys() == {".cursorrules", "CLAUDE.md"}


def test_notes_stay_with_a_folder_that_is_away_and_go_with_their_files(
    followed: Followed, shop: Path
) -> None:
    filled, look = followed
    shop.rename(shop.with_name("away"))
    look()
    assert len(filled.items()) == 2
    shop.with_name("away").rename(shop)
    for name in notes(filled):
        (shop / name).unlink()
    home = Home(shop.parent / ".observer")
    MemoryFileWorker(services_over(home, filled.store, pipeline=filled.pipeline)).look()
    assert filled.items() == []
