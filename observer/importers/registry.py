"""The importers of sessions: the rows of the modules of `shelf`.

A repository's history as commit events: memory on day one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from observer.core.errors import NotFound
from observer.core.events import Event
from observer.core.plugins import modules_of
from observer.git.log import commit_history
from observer.importers.source import SessionSource
from observer.ingest.commits import import_events
from observer.projects import detect_place


def commits(folder: str) -> Iterator[Event]:
    """Return the events of all commits that HEAD contains, parents before children.

    Importing again, from a clone too, stores nothing twice: the events' ids and `dedup` follow
    from the repository and the commit.

    Raises:
        NotFound: the folder lies in no repository that can be a project.
        ObserverError: while iterating, git found the repository damaged.
    """
    place = detect_place(folder)
    if not place.git:
        raise NotFound(f"no git repository around {folder}", hint="name a folder of one")
    return import_events(place, commit_history(place.root), route=HISTORY_ROUTE)


SHELF = "observer.importers.shelf"
HISTORY_ROUTE = "history/git"
"""Of commits that no hook brought: git's hooks have reported nothing by them."""


@cache
def sources() -> Mapping[str, SessionSource]:
    """Return all importers in the order of their names, those that look in work trees at the end.

    Those before may name work trees; Atuin, which knows more of a command, comes before shells.

    All modules are imported; for one source ask `source_called`.
    """
    found = [source for module in modules_of(SHELF) for source in module.SOURCES]
    return {one.name: one for one in sorted(found, key=lambda one: (bool(one.inside), one.name))}


def source_called(name: str) -> SessionSource | None:
    """Return an importer; of the modules only its own is imported if that is called as it is."""
    module = f"{SHELF}.{name.replace('-', '_')}"
    if name.replace("-", "_").isidentifier() and find_spec(module):
        for source in import_module(module).SOURCES:
            if source.name == name:
                return cast("SessionSource", source)
    return sources().get(name)
