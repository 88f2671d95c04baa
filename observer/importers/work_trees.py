"""The work trees in which importers look: those of the memory's projects and of found sessions."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from functools import cache
from pathlib import Path

from observer.core.paths import Home
from observer.importers.source import FoundSession
from observer.projects import detect_place
from observer.store.sqlite.database import SqliteStore


def known_roots(home: Home) -> set[str]:
    """Return the roots of the projects that are in the memory, of those that exist."""
    if not home.database.exists():
        return set()
    with closing(SqliteStore(home.database, read_only=True)) as store, store.read() as reader:
        roots = [root for project in reader.projects() for root in project.roots]
    return {root for root in roots if Path(root).is_dir()}


def work_trees(folders: Iterable[str]) -> set[str]:
    """Return the roots of the projects around folders, of those that exist."""
    return {root for folder in set(folders) if folder and (root := _around(folder))}


@cache
def _around(folder: str) -> str:
    if not Path(folder).is_dir():
        return ""
    place = detect_place(folder)
    return place.root if place.git or place.marker else ""


def placed(found: FoundSession, roots: Iterable[str]) -> FoundSession:
    """Return what a project's name stands for with the root of that name, if there is just one."""
    if not found.folder or found.folder.startswith("/"):
        return found
    called = [root for root in roots if Path(root).name == found.folder]
    return found._replace(folder=called[0] if len(called) == 1 else "")
