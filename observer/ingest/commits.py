"""Commits that were made earlier or elsewhere, as events: of an import, and of a pull.

Of a pull, merge, rebase or checkout the hook reports the last commit alone; those of a reset, which
has no hook, come in with what git does next. All have their own authors and times, and no session.

Where no hook runs, as in a shell whose git has no configuration, `unreported_commits` finds what
HEAD moved over since it was last seen; the reflog says which were made here. A hook's report of the
same commit has the same `dedup`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise, takewhile
from typing import Literal, TypeAlias

from msgspec.structs import replace

from observer.core.errors import ObserverError
from observer.core.events import Checkout, Command, Commit, Custom, Event, Rewrite
from observer.core.model import Place, Recorded
from observer.git.log import (
    RESET,
    HeadMove,
    commit_history,
    count_commits,
    head_before_resets,
    head_moves,
    is_related,
    rebased_commits,
)
from observer.git.process import git_output

ROUTE = "git/import"


def import_events(
    place: Place, commits: Iterable[tuple[int, Commit]], *, route: str = ROUTE
) -> Iterator[Event]:
    """Yield commits, each with its `committed_ms`, as events; of one they are always the same."""
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
            route=route,
            dedup=f"commit:{commit.hash}",
            author="person",
        )


MOST = 200
"""Commits read of one arrival: half a second's work; an import reads any number."""

_HOOKS = "git/"
"""What a script reports of git may be any words."""


def incoming_commits(event: Event, place: Place) -> Iterator[Event]:
    """Yield the commits that an event of git brought in, parents before children.

    Known ones have a known `dedup`. A last event says how many were left out.
    """
    if not (place.git and event.route.startswith(_HOOKS)):
        return
    with suppress(ObserverError):  # the repository is damaged or gone, or git is
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
            said = (
                f"Read the newest {MOST:,} of {total:,} commits that came in by git.\n"
                "`observer import git` reads the older ones, unless they are known."
            )
            body = Custom(name="pulled", text=said)
            dedup = f"pulled:{since}..{to}"
            yield replace(event, id=f"{event.id}.rest", body=body, dedup=dedup, since="")


def without_owner(event: Event, place: Place) -> Event:
    """Return an event, without its session if it is a commit that a pull only moved HEAD to."""
    body = event.body
    if not (place.git and event.route.startswith(_HOOKS)):
        return event
    if not isinstance(body, Commit) or body.action != "merge" or not body.parents:
        return event
    is_moved = len(body.parents) == 1
    with suppress(ObserverError):
        moves = () if is_moved else head_moves(place.root)
        said = next((move.message for move in moves if move.to == body.hash), "")
        is_moved = is_moved or said.endswith("Fast-forward")
    nobodys = {"client": "git", "session": "", "turn": "", "agent": "", "author": "person"}
    return replace(event, **nobodys) if is_moved else event


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


REFLOG_ROUTE = "git/reflog"
NO_COMMIT = "0" * 40
"""Where HEAD is before the first commit."""

_Action: TypeAlias = Literal["commit", "merge", "cherry-pick", "revert"]
_AMENDED = re.compile(r"commit \(amend\): ")
_REBASED = re.compile(r"[^:]*\((?:pick|squash|fixup|reword|edit|continue)\): ")
_BROUGHT = re.compile(r"(?:pull|merge)\b")
_MADE: tuple[tuple[re.Pattern[str], _Action], ...] = (
    (re.compile(r"(?:commit|am)(?: \(\w+\))?: "), "commit"),
    (_REBASED, "commit"),
    (re.compile(r"cherry-pick: "), "cherry-pick"),
    (re.compile(r"revert: "), "revert"),
    (re.compile(r"(?:pull|merge)\b.*: Merge made"), "merge"),
)
_HASH = re.compile(r"\b[0-9a-f]{7,64}\b")


def unreported_commits(place: Place, since: str) -> list[Event]:
    """Return what HEAD of a work tree gained since a commit (or `NO_COMMIT`), parents first.

    The newest `MOST` commits, and one event for those that others replaced or a reset took off.
    Nothing of what was only checked out, or where that commit is not in the repository any more.
    Raises ObserverError: the repository cannot be read.
    """
    if since != NO_COMMIT and not is_related(place.root, since, place.commit):
        return []
    moves = head_moves(place.root)
    made = {
        move.to: how
        for move in moves
        for pattern, how in reversed(_MADE)
        if pattern.match(move.message)
    }
    later = takewhile(lambda move: move.to != since, moves)
    is_brought = any(_BROUGHT.match(move.message) for move in later)
    came = [
        each
        for each in commit_history(place.root, since=since, to=place.commit, at_most=MOST)
        if is_brought or each[1].hash in made
    ]
    amended, rebased = _replaced(place, since, moves, [commit for _, commit in came])
    events = []
    for event in import_events(place, came):
        commit = event.dedup.removeprefix("commit:")
        if commit not in rebased.values():
            body = replace(event.body, action=made[commit]) if commit in made else event.body
            events.append(replace(event, body=body, route=REFLOG_ROUTE, branch=place.branch))
    pairs = {"amend": amended, "rebase": rebased}
    events += [_rewrite(place, came[-1][0], *each) for each in pairs.items() if each[1]]
    return [*_dropped(place, since, moves, {**amended, **rebased}), *events]


def _dropped(
    place: Place, since: str, moves: Sequence[HeadMove], replaced: Container[str]
) -> Iterator[Event]:
    """Yield the rewrite of the commits that a reset took off HEAD, and that no branch has."""
    later = takewhile(lambda move: move.to != since, moves)
    reset = next((move for move in later if move.message.startswith(RESET)), None)
    if reset is None or since == NO_COMMIT:
        return
    kept = ("--not", "HEAD", "--branches", "--tags", "--remotes", "--")
    lost = (git_output(place.root, "rev-list", f"-{MOST}", since, *kept) or "").split()
    if dropped := {commit: "" for commit in lost if commit not in replaced}:
        # The reflog has no milliseconds, a hook's report of the commit before has.
        yield _rewrite(place, reset.at_s * 1000 + 999, "reset", dropped)


def with_session(event: Event, commands: Sequence[Recorded]) -> Event:
    """Return a commit as of the session whose command printed its hash, as `git commit` does."""
    body = event.body
    if isinstance(body, Commit) and body.action != "import":
        for by in (recorded.event for recorded in commands if recorded.event.session):
            ran = by.body if isinstance(by.body, Command) and "git" in by.body.command else None
            if ran and any(map(body.hash.startswith, _HASH.findall(ran.output))):
                return replace(event, client=by.client, session=by.session, author=by.author)
    return event


def _replaced(
    place: Place, since: str, moves: Sequence[HeadMove], came: Sequence[Commit]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return which commits replaced which that HEAD had, by amending and by rebasing."""
    if since == NO_COMMIT:
        return {}, {}
    lost = {
        (commit.author, commit.authored_ms, commit.subject): commit.hash
        for _, commit in commit_history(place.root, since=place.commit, to=since, at_most=MOST)
    }
    before = {new.to: old.to for new, old in pairwise(moves)}
    amended, rebased = dict[str, str](), dict[str, str]()
    for commit in came:
        how = [move.message for move in moves if move.to == commit.hash]
        old = lost.get((commit.author, commit.authored_ms, commit.subject), "")
        if old and any(map(_REBASED.match, how)):
            rebased[old] = commit.hash
        elif any(map(_AMENDED.match, how)) and before.get(commit.hash) in lost.values():
            amended[before[commit.hash]] = commit.hash
    return amended, rebased


def _rewrite(place: Place, at_ms: int, reason: str, pairs: Mapping[str, str]) -> Event:
    old, new = list(pairs.items())[-1]
    return Event(
        id=f"rewrite-{old}-{new}",
        at_ms=at_ms,
        client="git",
        body=Rewrite(reason=reason, pairs=tuple(pairs.items())),
        cwd=place.root,
        route=REFLOG_ROUTE,
        dedup=f"rewrite:{old}:{new}",
        author="person",
        branch=place.branch,
    )
