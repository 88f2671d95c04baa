"""A note folder with a store of its own, synced at once and in the same thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from observer.core.clock import now_ms
from observer.core.model import Item
from observer.core.paths import Home
from observer.notes.folders import NoteFiles, NoteFolder
from observer.notes.folders.folders import NoteFolders
from observer.notes.folders.note_files import SyncReport
from observer.notes.folders.sync import FolderSync
from observer.store.database import SqliteStore
from observer.store.writer import Writer


class KeeperOf:
    """Keeps one folder in the thread that asks."""

    def __init__(self, sync: FolderSync) -> None:
        self._sync = sync

    def sync(self, _: NoteFolder, paths: Sequence[str]) -> None:
        self._sync.sync(paths)

    def drop(self, _: NoteFolder) -> None:
        self._sync.drop()

    def catch_up(self, _: NoteFolder, *, within_s: float) -> SyncReport:
        return self._sync.catch_up(within_s=within_s, is_over=lambda: False)


class Vault:
    """One note folder, and what is known of it."""

    def __init__(self, home: Home, root: Path, *, exclude: tuple[str, ...] = ()) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.home = home
        self.root = root.resolve()
        self.store = SqliteStore(home.database)
        self.folder: NoteFolder = NoteFolders(home).add(str(root))
        self.later_ms = 0
        self.sync = FolderSync(
            self.store,
            self._write,
            self.folder,
            exclude=exclude,
            now_ms=lambda: now_ms() + self.later_ms,
        )
        self.files = NoteFiles(self.store, home, keeper=KeeperOf(self.sync))

    def _write(self, work: Callable[[Writer], None]) -> None:
        with self.store.write() as writer:
            work(writer)

    def put(self, path: str, text: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def scan(self) -> SyncReport:
        return self.sync.scan()

    def item(self, path: str) -> Item:
        file = self.files.at(self.folder, path)
        assert file is not None, f"no note {path}"
        with self.store.read() as reader:
            item = reader.item(file.item)
        assert item is not None
        return item

    def paths(self) -> dict[str, int]:
        return {file.path: file.item for file in self.files.list(self.folder)}


@pytest.fixture
def vault(home: Home, tmp_path: Path) -> Iterator[Vault]:
    made = Vault(home, tmp_path / "vault")
    yield made
    made.store.close()
