"""Folders that an installation made in somebody else's home, so that a removal can take them away.

A folder is known by its inode too: one of the same name that somebody made since is not ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from observer.config_files.file_edits import FileEdit
from observer.core.paths import Home, read_plain
from observer.core.value import decode_json
from observer.spool.files import replace


def missing_folders(edits: Iterable[FileEdit]) -> list[Path]:
    """Return the folders that the edits will make, outermost first; nothing is touched."""
    written = [edit.path.resolve() for edit in edits if edit.is_change and edit.after is not None]
    around = {folder for path in written for folder in path.parents if not folder.exists()}
    return sorted(around)


def keep_made(home: Home, folders: Sequence[Path]) -> None:
    """Record folders that were made; those of the home itself go with the home."""
    made = {str(path): _identity(path) for path in folders if not path.is_relative_to(home.root)}
    if made:
        _write(home, _made(home) | made)


def remove_made(home: Home, edits: Iterable[FileEdit]) -> None:
    """Remove the folders of deleted files that an installation made and that are empty."""
    made = before = _made(home)
    gone = {
        folder for edit in edits if edit.after is None for folder in edit.path.resolve().parents
    }
    for folder in sorted(gone, reverse=True):
        if str(folder) in made and _is_removed(folder, made[str(folder)]):
            made = {path: known for path, known in made.items() if path != str(folder)}
    if made != before:
        _write(home, made)


def _is_removed(folder: Path, known: str) -> bool:
    with suppress(OSError):  # it is not empty, not ours to remove, or gone
        if _identity(folder) == known:
            folder.rmdir()
            return True
    return False


def _identity(folder: Path) -> str:
    status = folder.lstat()
    return f"{status.st_dev}:{status.st_ino}"


def _made(home: Home) -> dict[str, str]:
    """Return the folders, each with what it is known by; none where the record is unreadable."""
    with suppress(OSError, msgspec.DecodeError):
        return decode_json(read_plain(home.made_folders), dict[str, str])
    return {}


def _write(home: Home, made: dict[str, str]) -> None:
    replace(home.made_folders, msgspec.json.encode(made))
