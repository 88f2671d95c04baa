"""Commits that were made earlier or elsewhere, as events: of an import, and of a pull."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from observer.events import Commit, Event
from observer.model import Place

ROUTE = "git/import"


def imported(place: Place, commits: Iterable[tuple[int, Commit]]) -> Iterator[Event]:
    """Yield commits, each with its `committed_ms`, as events of the project at `place`.

    However often and on whichever way one comes, its `id` and `dedup` are the same.
    """
    # Forks share commits but not projects, and an event's id must be unique in the whole log.
    identity = place.remotes[0] if place.remotes else place.common_dir
    prefix = f"git-{hashlib.sha256(identity.encode('utf-8', 'replace')).hexdigest()[:12]}"
    for committed_ms, commit in commits:
        yield Event(
            id=f"{prefix}-{commit.hash}",
            at_ms=committed_ms,
            client="git",
            body=replace(commit, action="import"),
            cwd=place.root,
            route=ROUTE,
            dedup=f"commit:{commit.hash}",
            author="person",
        )
