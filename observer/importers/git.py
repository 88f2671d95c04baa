"""A repository's history as commit events: memory on day one."""

from __future__ import annotations

from collections.abc import Iterator

from observer.core.errors import NotFound
from observer.core.events import Event
from observer.git.log import commit_history
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
    return import_events(place, commit_history(place.root))
