"""What `up` needs beside a database: folders to write to, a socket, tombstones it can read."""

from __future__ import annotations

import os
from pathlib import Path

from observer.errors import ObserverError
from observer.paths import SET_ASIDE, Home
from observer.store.sqlite.salvage import damaged_pages
from observer.store.tombstones import Tombstones


def folders(here: Home) -> str:
    """Return that every folder that is there can be used.

    Raises:
        ObserverError: one is no folder, another user's, or cannot be written.
    """
    for path in (here.spool, here.spool / "new", here.spool / "tmp", here.logs, here.backups):
        _usable(path)
    return "spool, log and backups can be written"


def sockets(here: Home) -> str:
    """Return where the daemon's sockets are.

    Raises:
        ObserverError: as `folders`.
    """
    _usable(here.run)
    return str(here.run)


def tombstones(here: Home) -> str:
    """Return how many marks of purged events there are.

    Raises:
        StoreUnavailable: they cannot be read.
    """
    return f"{len(Tombstones(here.tombstones))} marks of purged events"


def backups(here: Home) -> str:
    """Return how many copies of the database there are, all of them whole.

    Raises:
        ObserverError: one is not.
    """
    found = [path for path in sorted(here.backups.glob("*.db")) if SET_ASIDE not in path.name]
    damaged = [path.name for path in found if _has_checksums(path) and damaged_pages(path)]
    if damaged:
        raise ObserverError(
            f"damaged: {' '.join(damaged)}",
            hint="delete them, and make another copy with: observer backup",
        )
    return f"{len(found)} copies of the database"


def _has_checksums(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(21)[20:] == b"\x08"


def _usable(path: Path) -> None:
    if not os.path.lexists(path):
        return
    if not path.is_dir():
        raise ObserverError(f"{path} is no folder", hint="move it away; it is made anew")
    if path.stat().st_uid != os.getuid():
        raise ObserverError(
            f"{path} belongs to another user", hint="make it yours, or move it away"
        )
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        raise ObserverError(f"{path} cannot be written", hint=f"run: chmod 700 {path}")
