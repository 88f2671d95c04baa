"""Notes of a repository that name its code: as of which commit they hold, and where they show."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from observer.core.clock import now_ms
from observer.core.paths import Home
from observer.notes.folders import NoteFolder, folders
from observer.notes.folders.sync import FolderSync
from tests.notes.folders.conftest import Vault

NOTE = "Jobs live in `queue.py`, see `take`\n"
DAY_S = 86_400
Git = Callable[..., str]


class Repository:
    """A repository with a note folder `docs`; each commit is a day after the one before."""

    def __init__(self, home: Home, root: Path, git: Git) -> None:
        self.root, self._git = root, git
        self._at_s = int(time.time()) - 30 * DAY_S
        git(root, "init")
        self.vault = Vault(home, root / "docs")

    def commit(self, **texts: str) -> str:
        for name, text in texts.items():
            self.put(name.replace("__", "/"), text)
        self._at_s += DAY_S
        when = f"{self._at_s} +0000"
        dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        self._git(self.root, "add", "-A")
        self._git(self.root, "commit", "-m", "Work", **dates)
        return self._git(self.root, "rev-parse", "HEAD").strip()

    def put(self, name: str, text: str, *, later_s: int | None = None) -> None:
        """Write a file, so many seconds after the last commit; now without."""
        path = self.root / (name if "." in name else f"{name}.md")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        if later_s is not None:
            os.utime(path, (self._at_s + later_s,) * 2)


@pytest.fixture
def repository(home: Home, tmp_path: Path, git: Git) -> Iterator[Repository]:
    made = Repository(home, tmp_path / "shop", git)
    yield made
    made.vault.store.close()


@pytest.mark.parametrize("many", [1, 20], ids=["one by one", "all of the folder"])
def test_a_note_holds_as_of_the_commit_that_has_it(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(folders, "MANY", many)
    repository.put(".gitignore", "/docs/ignored.md\n")
    first = repository.commit(docs__old=NOTE, docs__edited=NOTE, docs__späte=NOTE)
    second = repository.commit(docs__new=NOTE, docs__späte=f"{NOTE} more")
    head = repository.commit(docs__plain="of nothing")
    repository.put("docs/edited", f"{NOTE} again")
    repository.put("docs/draft", NOTE, later_s=60 - DAY_S)
    repository.put("docs/ignored", NOTE, later_s=60 - 2 * DAY_S)
    repository.put("docs/ancient", NOTE, later_s=-100 * DAY_S)
    repository.vault.scan()
    names = {first: "first", second: "second", head: "head"}
    found = {path: names[repository.vault.item(path).commit] for path in repository.vault.paths()}
    assert found == {
        "ancient.md": "first",
        "draft.md": "second",
        "edited.md": "head",
        "ignored.md": "first",
        "new.md": "second",
        "old.md": "first",
        "plain.md": "head",
        "späte.md": "second",
    }


def test_a_note_beside_its_repository_holds_as_of_when_it_was_written(
    repository: Repository, tmp_path: Path
) -> None:
    store, outside = repository.vault.store, tmp_path / "vault"
    first, _ = repository.commit(docs__a="words"), repository.commit(queue="b")
    repository.vault.scan()
    with store.read() as reader:
        [project] = [each for each in reader.projects() if each.name == "shop"]
    repository.put("../vault/Jobs.md", NOTE, later_s=60 - DAY_S)
    beside = NoteFolder(name="beside", path=str(outside), project=project.uuid)
    FolderSync(store, repository.vault._write, beside, exclude=(), now_ms=now_ms).scan()
    with store.read() as reader:
        [file] = reader.note_files(str(outside))
        item = reader.item(file.item)
    assert item
    assert (item.commit, item.project_id) == (first, project.id)


def test_without_commits_a_note_is_of_none(repository: Repository) -> None:
    repository.put("docs/old", NOTE)
    repository.vault.scan()
    assert repository.vault.item("old.md").commit == ""
