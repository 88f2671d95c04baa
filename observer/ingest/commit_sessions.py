"""Whose commit it is, where the shell that it was made in does not name a session.

Some agents mark their shells without naming the session (Cline), others do not mark them (Droid).
What the sessions of the project were doing at that moment decides, and where that leaves a choice,
nothing does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from observer.core.events import Command, Commit, Event, Intent
from observer.core.model import Recorded, Session
from observer.core.text import is_within

WORKING_MS = 60 * 60_000
"""As long after its last event a session may still be at work on one command."""
CALL_MS = 5 * 60_000
"""As long a call of git may take, with the hooks that it runs."""
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
