from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest

from observer.core import client_variables
from observer.core.clock import now_ms
from observer.core.errors import ObserverError
from observer.core.paths import Home
from observer.notes.folders import NoteFiles, NoteFolder
from observer.notes.folders.note_files import SyncReport
from observer.notes.folders.sync import FolderSync
from observer.store.database import SqliteStore
from observer.store.writer import Writer
from observer.tools import render
from observer.tools.basic_memory.tools import BasicMemory
from tests.support import memory_over

SAMPLES = Path(__file__).parents[2] / "data" / "basic-memory"

Call = Callable[..., Any]


class Folders:
    """A memory over note folders, as a daemon keeps it, without the daemon's threads."""

    def __init__(self, home: Home) -> None:
        self.store = SqliteStore(home.database)
        self.files = NoteFiles(self.store, home, keeper=self)
        self.memory = memory_over(self.store, home, now_ms, files=self.files)
        self.here = ""
        self.variables: tuple[str, ...] = ()
        self.within_s = 60.0
        self._keepers: dict[NoteFolder, FolderSync] = {}
        self.tools = {tool.name: tool for tool in BasicMemory.of(self.memory, lambda: self.here)}

    def add(self, path: Path, name: str) -> NoteFolder:
        folder = self.files.listed.add(str(path), name=name)
        self._keeper(folder).scan()
        return folder

    def call(self, name: str, **arguments: Any) -> Any:
        def run() -> Any:
            client_variables.enter(self.variables)
            return self.tools[name].call(arguments)

        return copy_context().run(run)

    def result(self, name: str, **arguments: Any) -> Any:
        return self.call(name, **arguments).result

    def said(self, name: str, **arguments: Any) -> str:
        """Return the text of an answer; an error as it is shown."""
        try:
            text: str = self.call(name, **arguments).text
        except ObserverError as error:
            return f"error: {render.error(error)}"
        return text

    def sync(self, folder: NoteFolder, paths: Sequence[str]) -> None:
        self._keeper(folder).sync(paths)

    def drop(self, folder: NoteFolder) -> None:
        self._keepers.pop(folder).drop()

    def catch_up(self, folder: NoteFolder, *, within_s: float) -> SyncReport:
        keeper = self._keeper(folder)
        return keeper.catch_up(within_s=min(within_s, self.within_s), is_over=lambda: False)

    def _keeper(self, folder: NoteFolder) -> FolderSync:
        made = FolderSync(self.store, self._write, folder, exclude=(), now_ms=now_ms)
        return self._keepers.setdefault(folder, made)

    def _write(self, work: Callable[[Writer], None]) -> None:
        with self.store.write() as writer:
            work(writer)


@pytest.fixture
def folders(home: Home) -> Iterator[Folders]:
    home.root.mkdir(exist_ok=True)
    made = Folders(home)
    yield made
    made.store.close()


@pytest.fixture
def vault(folders: Folders, tmp_path: Path) -> Path:
    """A note folder `main` with the notes of the recordings, a minute of age between two."""
    return lay_out(folders, tmp_path)


def lay_out(folders: Folders, root: Path, *, with_files: bool = False) -> Path:
    vault = root / "vault"
    shutil.copytree(SAMPLES / "vault", vault)
    if with_files:
        shutil.copytree(SAMPLES / "files", vault, dirs_exist_ok=True)
    files = sorted(path for path in vault.rglob("*") if path.is_file())
    for ago, path in enumerate(reversed(files), start=60):
        at_s = time.time() - ago * 60
        os.utime(path, (at_s, at_s))
    folders.add(vault, "main")
    folders.here = str(vault)
    return vault
