"""Writes a memory as Markdown files, into a folder that is new, empty or its own."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from observer.core import config
from observer.core.errors import BadInput
from observer.core.paths import Home
from observer.memory.opening import refuse_unsettled
from observer.store.sqlite.database import SqliteStore
from observer.views.vault import vault

MARK = ".observer-vault"
"""A file that says that a folder is a vault, whose files may be replaced."""


def write_vault(home: Home, folder: Path) -> int:
    """Write all files of a memory; return how many. Files that somebody added stay.

    Raises:
        BadInput: the folder holds other files.
        StoreUnavailable: the memory cannot be read.
        OSError: a file cannot be written.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).is_file():
        raise BadInput(f"{folder} holds other files", hint="name a new folder")
    refuse_unsettled(home)
    owner = config.owner(config.load(home))
    count = 0
    with closing(SqliteStore(home.database, read_only=True)) as store, store.read() as reader:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / MARK).touch(mode=0o600)
        for file in vault(reader, owner=owner):
            path = folder / file.path
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # never through a link that somebody put there
            path.touch(mode=0o600)
            path.write_text(file.text, encoding="utf-8", errors="replace")
            count += 1
    return count
