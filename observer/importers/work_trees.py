"""The work trees in which importers look: those of the memory's projects and of found sessions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from observer.core.errors import NotFound
from observer.core.events import Command, Event
from observer.core.paths import Home
from observer.git.process import git_output
from observer.importers.source import FoundSession
from observer.projects import detect_place
from observer.projects.gone import printed_commits
from observer.store.database import SqliteStore

MOST_COMMITS = 3
"""Of a session in a missing folder, so many are looked for in each known repository."""


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


def with_repositories(events: Iterable[Event], roots: Collection[str]) -> list[Event]:
    """Return events, those of missing folders with the work tree that has the commits they made.

    `roots` are the work trees that are known. It stands for the remote that is not known.
    """
    said = list(events)
    made: dict[str, list[str]] = {}
    for one in said:
        if isinstance(one.body, Command) and not one.remote:
            made.setdefault(one.session, []).extend(printed_commits(one.body.output))
    found = {
        session: _with_commits(commits, roots)
        for session, commits in made.items()
        if commits and not any(_around(one.cwd) for one in said if one.session == session)
    }
    return [
        replace(one, remote=remote) if (remote := found.get(one.session)) else one for one in said
    ]


def _with_commits(commits: Sequence[str], roots: Iterable[str]) -> str:
    """Return the work tree that has one of the last commits, "" if none has."""
    for root in sorted(roots):
        for commit in commits[-MOST_COMMITS:]:
            with suppress(NotFound):
                if git_output(root, "cat-file", "-e", f"{commit}^{{commit}}") is not None:
                    return root
    return ""
