"""A real repository with a memory beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from observer.core.events import Command, Commit, Edit, Event, FileWrite, Remember, SessionEnd
from observer.core.filters import Filters
from observer.core.model import Item, Validity
from observer.importers.source import commits
from observer.local.spool import Spool
from observer.staleness.worktree_sync import sync_worktree
from observer.store.database import SqliteStore
from observer.store.writer import Writer
from tests.support import Git, pipeline_over

LOGIN = """\
import os


def login(user):
    return user.check(os.environ)


def logout(user):
    user.leave()


class Shop:
    limit = 3

    def total(self):
        return sum(self.prices)
"""


class Story:
    """What happens in a repository, and what is said of it."""

    def __init__(self, folder: Path, git: Git) -> None:
        self.root = folder / "app"
        self._run = git
        self._clock_s = 1_700_000_000
        self.store = SqliteStore(folder / "observer.db")
        spool = Spool(folder / "spool")
        spool.prepare()
        self._pipeline = pipeline_over(self.store, spool, lambda: self.now_ms)
        self._count = 0
        self.git("init")

    @property
    def now_ms(self) -> int:
        return self._clock_s * 1000

    def git(self, *words: str, at: Path | None = None) -> str:
        self._clock_s += 60
        when = f"{self._clock_s} +0000"
        return self._run(at or self.root, *words, GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)

    def commit(self, message: str = "Work", **files: str | None) -> str:
        """Commit files, by name with `__` for the dot; None deletes one. Returns the hash."""
        for name, text in files.items():
            path = self.root / name.replace("__", ".")
            if text is None:
                path.unlink()
            else:
                path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "--allow-empty", "-m", message)
        return self.head()

    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def tell(self, body: object, *, at: Path | None = None, **fields: Any) -> int:
        """Store an event of now; returns the item that it made."""
        self._count += 1
        self._clock_s += 60
        event = Event(
            id=f"e{self._count}",
            at_ms=self.now_ms,
            client="x",
            cwd=str(at or self.root),
            body=body,  # type: ignore[arg-type]  # any body
            **({"session": "s"} | fields),
        )
        (receipt,) = self._pipeline.ingest([event])
        assert receipt.item or isinstance(body, Command | SessionEnd)  # what only looks is no item
        return receipt.item or 0

    def shown_commit(self, commit: str, *, at: Path | None = None) -> int:
        return self.tell(Commit(hash=commit), at=at)

    def wrote(self, path: str, text: str, *, at: Path | None = None) -> int:
        """Write a file, as an editor tells it."""
        file = (at or self.root) / path
        old = file.read_text() if file.exists() else ""
        file.write_text(text)
        return self.tell(FileWrite(path=str(file), edits=(Edit(old=old, new=text),)), at=at)

    def noted(self, text: str, sort: str = "decision") -> int:
        return self.tell(Remember(content=text, type=sort))

    def imported(self) -> None:
        """Import the history, as day one does."""
        self._pipeline.ingest(list(commits(str(self.root))))

    def rebuild(self) -> None:
        self._pipeline.rebuild()

    def keep(self) -> bool:
        with self.store.read() as reader:
            projects = [project for project in reader.projects() if project.id > 1]
        return any(sync_worktree(self.store, self._write, project) for project in projects)

    def said(self, item: int, *, at: Path | None = None) -> list[Validity]:
        """Follow what is new, and return what is said of an item, from a folder."""
        self.keep()
        return list(self.item(item, at=at).validity)

    def reasons(self, item: int, *, at: Path | None = None) -> list[str]:
        return [validity.reason for validity in self.said(item, at=at)]

    def item(self, item: int, *, at: Path | None = None) -> Item:
        with self.store.read() as reader:
            reader.set_folder(str(at or self.root))
            return reader.items([item])[0]

    def items(self) -> list[Item]:
        with self.store.read() as reader:
            return list(reader.recent(Filters(), limit=1000))

    def _write(self, work: Callable[[Writer], None]) -> None:
        with self.store.write() as writer:
            work(writer)


@pytest.fixture
def story(tmp_path: Path, git: Git) -> Iterator[Story]:
    shown = Story(tmp_path, git)
    yield shown
    shown.store.close()
