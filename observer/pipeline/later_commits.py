"""Finds the sessions whose uncommitted changes a commit takes in, whoever made it; step 6.

A session that is over learns of the commit so that its summary does not go on naming files as not
committed. What is found does not depend on how the log is cut into transactions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from observer.events import Commit
from observer.interpret import committed, happenings, state
from observer.interpret.fold import Fold
from observer.model import Item, Recorded, Session
from observer.store.interface import Reader

SESSIONS = 100
"""Sessions of a project that are looked at, the last active ones."""
OLD_MS = 14 * 86_400_000
"""Changes of a session that ended so long before a commit are not looked for in it."""


class Stored(NamedTuple):
    """A session as stored, with the files that no commit has taken in."""

    session: Session
    dirty: frozenset[str]


class LaterCommits:
    """Looks for sessions within one write transaction."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._stored: dict[int, list[Stored]] = {}

    def taken_in(
        self, recorded: Recorded, made: Collection[Item], folds: Mapping[int | None, Fold]
    ) -> Iterator[tuple[int, str, frozenset[str]]]:
        """Yield sessions of which a commit takes in changes, how it is named, and its files.

        Args:
            recorded: any event.
            made: the observations of it.
            folds: the sessions of this transaction, which know more than what is stored.
        """
        body = recorded.event.body
        if not isinstance(body, Commit) or happenings.is_pulled(body):
            return
        paths = frozenset(path for item in made for path in item.files_modified)
        saying = committed.said(body.subject, body.hash)
        for session, dirty in [*self._in(folds, recorded), *self._of(recorded, folds)]:
            is_of_time = session.started_ms <= recorded.event.at_ms <= session.last_ms + OLD_MS
            if is_of_time and session.id != recorded.session_id and not dirty.isdisjoint(paths):
                yield session.id, saying, paths

    def _in(self, folds: Mapping[int | None, Fold], recorded: Recorded) -> Iterator[Stored]:
        for fold in folds.values():
            session = fold.standing()
            if session and session.project_id == recorded.project_id:
                yield Stored(session, fold.dirty())

    def _of(self, recorded: Recorded, folds: Mapping[int | None, Fold]) -> Iterator[Stored]:
        project_id = recorded.project_id
        if project_id not in self._stored:
            sessions = self._reader.sessions(project_id=project_id, limit=SESSIONS)
            self._stored[project_id] = [
                Stored(session, committed.dirty(state.decode(session.state)))
                for session in sessions
            ]
        yield from (one for one in self._stored[project_id] if one.session.id not in folds)
