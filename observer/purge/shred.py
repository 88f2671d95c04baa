"""Deletes what stands in the home's files beside the database, overwriting it first."""

from __future__ import annotations

import mmap
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from observer.core.paths import Home, flush
from observer.spool.files import settle
from observer.spool.logs import ShellLogs

YOUNG_S = 2.0
"""A hook that lives makes a name for its file long before."""
_CHUNK_BYTES = 1 << 20
_REASON = ".reason"
PROGRAM = "venv"
"""Where `scripts/start` installs observer in its home."""


def shred(path: Path, *, keep: bool = False) -> None:
    """Overwrite a file and delete it, or with `keep` empty it; one that is gone is not an error."""
    with suppress(FileNotFoundError):
        if path.is_symlink() or not path.is_file():
            path.unlink()
            return
        with path.open("r+b") as file:
            _overwrite(file)
        if not keep:
            path.unlink()


def supersede(path: Path, by: Path) -> None:
    """Put a file that is on the disk in place of another one, and overwrite that.

    Whoever is killed meanwhile leaves either of them, whole.
    """
    with path.open("r+b") as file:
        by.replace(path)
        # Else a power failure could bring the name back to bytes that are gone.
        settle(path.parent)
        _overwrite(file)


def _overwrite(file: BinaryIO) -> None:
    left = os.fstat(file.fileno()).st_size
    while left > 0:
        left -= file.write(bytes(min(left, _CHUNK_BYTES)))
    file.flush()
    flush(file.fileno())
    file.truncate(0)


def clear_derived(home: Home) -> None:
    """Delete index, contexts, stand-ins of repositories, side derivations, reminders, and logs.

    All of it is made anew where it is needed.
    """
    for folder in (home.index, home.context, home.run / "git", home.expiring):
        discard(folder)
    shred(home.reminders)
    for path in _files(home.logs):
        if path != home.refused:
            # Hooks and a daemon go on appending to these two.
            shred(path, keep=path.name in {"daemon.log", "hooks.log"})
    ShellLogs(home.spool / "shell").blank()


def clear_text(home: Home, text: re.Pattern[bytes]) -> dict[str, int]:
    """Delete what holds a text in the spool and beside the copies of the database; count it.

    So is the list of what was imported: without it everything is read, and nothing stored, again.
    What has a name in `spool/new` came after the purge had begun, and is an event of its own.
    """
    gone = {"spool/bad": 0, "spool/tmp": 0, "backups": 0, home.imports.name: 0}
    for path in _files(home.spool / "bad"):
        whole = path.with_name(path.name.removesuffix(_REASON))
        if path.exists() and holds(path, text):
            shred(whole)
            shred(whole.with_name(whole.name + _REASON))
            gone["spool/bad"] += 1
    for path in _files(home.spool / "tmp"):
        if is_abandoned(path, home.spool / "new") and holds(path, text):
            shred(path)
            gone["spool/tmp"] += 1
    for path in _files(home.backups):
        if path.suffix != ".db" and holds(path, text):
            shred(path)
            gone["backups"] += 1
    gone[home.note_versions.name] = _clear_versions(home.note_versions, text)
    if holds(home.imports, text):
        shred(home.imports)
        gone[home.imports.name] += 1
    return {name: count for name, count in gone.items() if count}


def _clear_versions(folder: Path, text: re.Pattern[bytes]) -> int:
    """Delete what was in note folders and holds a text; return how many changes these were of."""
    found = [
        place
        for place in sorted(folder.glob("*"))
        if any(holds(path, text) for path in _files(place))
    ]
    for place in found:
        discard(place)
    return len(found)


def left(home: Home, text: re.Pattern[bytes]) -> list[str]:
    """Return the files of the home that hold a text, or are called so, by name.

    An observer that is installed there is not of the memory.
    """
    names = (str(path.relative_to(home.root)) for path in _files(home.root) if path != home.purging)
    return [
        name
        for name in names
        if not name.startswith(f"{PROGRAM}/") and holds(home.root / name, text)
    ]


def holds(path: Path, text: re.Pattern[bytes]) -> bool:
    """Return True if a text stands in a file's bytes or in its name."""
    if text.search(os.fsencode(path.name)):
        return True
    if path.is_symlink():
        return text.search(os.fsencode(path.readlink())) is not None
    try:
        with path.open("rb") as file:
            if not os.fstat(file.fileno()).st_size:
                return False
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
                return text.search(held) is not None
    except FileNotFoundError:
        return False


def is_abandoned(path: Path, names: Path) -> bool:
    """Return True if no hook will make an event of a file any more."""
    with suppress(FileNotFoundError):
        age_s = time.time() - path.stat().st_mtime
        if 0 <= age_s < YOUNG_S:
            time.sleep(YOUNG_S - age_s)
    return not (names / path.name).exists()


def discard(folder: Path) -> None:
    """Overwrite and delete a folder with its files; one that is not there is not an error."""
    for path in _files(folder):
        shred(path)
    shutil.rmtree(folder, ignore_errors=True)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or path.is_file():
            yield path
