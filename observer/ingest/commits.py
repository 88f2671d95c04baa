"""Commits that were made earlier or elsewhere, as events: of an import, and of a pull.

Of a pull, merge, rebase or checkout the hook reports the last commit alone; those of a reset, which
has no hook, come in with what git does next. All have their own authors and times, as in an import,
and no session here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress

from msgspec.structs import replace

from observer.core.errors import ObserverError
from observer.core.events import Checkout, Commit, Custom, Event
from observer.core.model import Place
from observer.git.log import (
    commit_history,
    count_commits,
    head_before_resets,
    head_moves,
    rebased_commits,
)

ROUTE = "git/import"


def import_events(place: Place, commits: Iterable[tuple[int, Commit]]) -> Iterator[Event]:
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


MOST = 200
"""Commits read of one arrival: half a second's work; an import reads any number."""

_HOOKS = "git/"
"""What a script reports of git may be any words."""


def incoming_commits(event: Event, place: Place) -> Iterator[Event]:
    """Yield the commits that an event of git brought in, parents before children.

    Most are known already, as those of a branch that was made here; their `dedup` says so. A last
    event says how many were left out.
    """
    if place.git and event.route.startswith(_HOOKS):
        with suppress(ObserverError):  # the repository is damaged or gone, or git is
            yield from _came(event, place)


def _came(event: Event, place: Place) -> Iterator[Event]:
    since, to = _span(event)
    since = (to and head_before_resets(head_moves(place.root), to)) or since
    if not since:
        return
    came = list(commit_history(place.root, since=since, to=to, at_most=MOST))
    # What a rebase made is known, and the event itself is recorded already.
    known = rebased_commits(place.root) | {
        event.dedup.removeprefix("commit:") if is_reported(event) else ""
    }
    for one in import_events(place, [each for each in came if each[1].hash not in known]):
        yield replace(one, branch=event.branch or None)
    if len(came) == MOST and (total := count_commits(place.root, since=since, to=to)) > MOST:
        yield _rest(event, total, key=f"{since}..{to}")


def without_owner(event: Event, place: Place) -> Event:
    """Return an event, without its session if it is a commit that a pull only moved the branch to.

    Whoever pulls did not make what came in.
    """
    body = event.body
    if not (place.git and event.route.startswith(_HOOKS)):
        return event
    if not isinstance(body, Commit) or body.action != "merge" or not body.parents:
        return event
    if len(body.parents) > 1 and not _is_forward(place.root, body.hash):
        return event
    return replace(event, client="git", session="", turn="", agent="", author="person")


def _is_forward(root: str, to: str) -> bool:
    """Return True if HEAD came to a commit by nothing but a move of its branch."""
    said = ""
    with suppress(ObserverError):
        said = next((move.message for move in head_moves(root) if move.to == to), "")
    return said.endswith("Fast-forward")


def is_reported(event: Event) -> bool:
    """Return True unless an event only marks that commits came in."""
    return not (event.since and isinstance(event.body, Commit) and event.body.action == "import")


def _span(event: Event) -> tuple[str, str]:
    """Return what was checked out before and what is since; the first is "" if nothing came in."""
    body = event.body
    if isinstance(body, Checkout):
        # A new work tree comes from nowhere: its history is for an import to read.
        return (body.old if body.old.strip("0") and body.old != body.new else ""), body.new
    if not isinstance(body, Commit):
        return "", ""
    return event.since or (body.parents[0] if len(body.parents) > 1 else ""), body.hash


def _rest(event: Event, total: int, *, key: str) -> Event:
    said = (
        f"Read the newest {MOST:,} of {total:,} commits that came in by git.\n"
        "`observer import git` reads the older ones, unless they are known."
    )
    return replace(
        event,
        id=f"{event.id}.rest",
        body=Custom(name="pulled", text=said),
        dedup=f"pulled:{key}",
        since="",
    )
