"""A repository's history as commit events: memory on day one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from msgspec.structs import replace

from observer.capture.project import look
from observer.capture.repository import count, history
from observer.errors import NotFound
from observer.events import Event

__all__ = ["commits", "count"]

ROUTE = "git/import"


def commits(folder: str) -> Iterator[Event]:
    """Return the events of all commits that HEAD contains, parents before children.

    Importing again, from a clone too, stores nothing twice: the events' ids and `dedup` follow
    from the repository and the commit.

    Raises:
        NotFound: the folder lies in no repository that can be a project.
        ObserverError: while iterating, git found the repository damaged.
    """
    place = look(folder)
    if not place.git:
        raise NotFound(f"no git repository around {folder}", hint="name a folder of one")
    # Forks share commits but not projects, and an event's id must be unique in the whole log.
    identity = place.remotes[0] if place.remotes else place.common_dir
    prefix = f"git-{hashlib.sha256(identity.encode('utf-8', 'replace')).hexdigest()[:12]}"
    return (
        Event(
            id=f"{prefix}-{commit.hash}",
            at_ms=committed_ms,
            client="git",
            body=replace(commit, action="import"),
            cwd=place.root,
            route=ROUTE,
            dedup=f"commit:{commit.hash}",
            author="person",
        )
        for committed_ms, commit in history(place.root)
    )
