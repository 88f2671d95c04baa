"""Whose commit it is, where nothing names a session, or no folder the repository.

Some agents mark their shells without naming the session (Cline), others do not mark them (Droid).
What the sessions of the project were doing at that moment decides, and where that leaves a choice,
nothing does. A project whose folder is gone is that of the repository with the commits it made.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from observer.core.errors import NotFound
from observer.core.events import Command, Commit, Event, Intent
from observer.core.model import Place, Project, Recorded, Session
from observer.core.text import is_within
from observer.git.process import git_output
from observer.projects.gone import printed_commits
from observer.store.reader import StoreReader

WORKING_MS = 60 * 60_000
"""As long after its last event a session may still be at work on one command."""
CALL_MS = 5 * 60_000
"""As long a call of git may take, with the hooks that it runs."""
COMMITS = 100
"""Newest commits of a repository that are looked for in what sessions of missing folders saw."""
_MADE = frozenset({"commit", "cherry-pick", "revert"})
_GIT = re.compile(r"\bgit\b")

Newest = Callable[[Session], Sequence[Recorded]]
"""Returns the newest event of a session, or none."""


def lacks_session(event: Event) -> bool:
    """Return True for a commit made here that no agent's session is named for."""
    body = event.body
    is_named = bool(event.session) and event.author == "agent"
    return isinstance(body, Commit) and body.action in _MADE and not is_named


def with_session_at_work(
    event: Event, root: str, sessions: Iterable[Session], newest: Newest
) -> Event:
    """Return a commit as of the session that was making it, if that is certain.

    Of a named agent that is its only session at work in the work tree at `root`; of anybody else
    one whose newest event is a call of git that has not ended.
    """
    near = [one for one in sessions if _is_at_work(one, event.at_ms) and _is_in(one, root)]
    if event.author == "agent":
        found = [one for one in near if one.client == event.client]
    else:
        found = [one for one in near if _calls_git(newest(one), event.at_ms)]
    if len(found) != 1:
        return event
    return replace(event, client=found[0].client, session=found[0].external, author="agent")


def project_of_commits(
    reader: StoreReader, place: Place, projects: Iterable[Project]
) -> Project | None:
    """Return the project of missing folders where commits of a repository were made.

    That is where git printed one's hash when it was made; None if it was in none of them.
    """
    gone = {
        one.id: one for one in projects if one.roots and not any(map(os.path.lexists, one.roots))
    }
    found = (
        session.project_id
        for commit, at_ms in (_commits(place.root) if place.git and gone else ())
        for session in map(reader.session, reader.sessions_between(at_ms, at_ms + CALL_MS))
        if session and session.project_id in gone
        for one in reader.recorded_near(
            session.id, from_ms=at_ms, to_ms=at_ms + CALL_MS, kind="command"
        )
        if isinstance(one.event.body, Command)
        and any(map(commit.startswith, printed_commits(one.event.body.output)))
    )
    return gone.get(next(found, 0))


def _commits(root: str) -> list[tuple[str, int]]:
    """Return the newest commits of a repository, each with when it was written, in ms."""
    try:
        said = git_output(root, "log", "--all", f"-{COMMITS}", "--format=%H %at")
    except NotFound:
        return []
    pairs = map(str.split, (said or "").splitlines())
    return [(commit, int(at_s) * 1000) for commit, at_s in pairs]


def _is_at_work(session: Session, at_ms: int) -> bool:
    is_begun = session.started_ms <= at_ms <= session.last_ms + WORKING_MS
    return is_begun and (session.ended_ms is None or at_ms <= session.ended_ms)


def _is_in(session: Session, root: str) -> bool:
    return not session.cwd or is_within(session.cwd, (root,))


def _calls_git(newest: Sequence[Recorded], at_ms: int) -> bool:
    for recorded in newest:
        body = recorded.event.body
        if isinstance(body, Intent) and isinstance(body.of, Command):
            is_open = 0 <= at_ms - recorded.event.at_ms <= CALL_MS
            return is_open and _GIT.search(body.of.command) is not None
    return False
