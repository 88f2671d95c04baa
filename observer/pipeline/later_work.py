"""Finds the sessions whose open work is taken up by what comes later, whoever does it; step 6.

A session that is over learns of a commit of its changes, and that its plan was begun, so that its
summary does not go on naming them as open. What is found does not depend on how the log is cut
into transactions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from observer.events import Commit, Prompt
from observer.interpret import committed, happenings, prompts, state
from observer.interpret.fold import Fold
from observer.interpret.state import State
from observer.model import Item, Recorded, Session
from observer.store.interface import Reader

SESSIONS = 100
"""Sessions of a project that are looked at, the last active ones."""
OLD_MS = 14 * 86_400_000
"""What a session left that ended so long before is not looked for."""

Folds: TypeAlias = Mapping[int | None, Fold]
"""The sessions of a transaction, which know more than what is stored."""


class Left(NamedTuple):
    """A session with what is open in it: files that no commit has, a plan that nobody began."""

    session: Session
    dirty: frozenset[str]
    plan: str


class LaterWork:
    """Looks for sessions within one write transaction."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._stored: dict[int, list[Left]] = {}

    def committed(
        self, recorded: Recorded, made: Collection[Item], folds: Folds
    ) -> Iterator[tuple[int, str, frozenset[str]]]:
        """Yield sessions of which a commit takes in changes, how it is named, and its files.

        Args:
            recorded: any event.
            made: the observations of it.
            folds: the sessions of this transaction.
        """
        body = recorded.event.body
        if not isinstance(body, Commit) or happenings.is_pulled(body):
            return
        paths = frozenset(path for item in made for path in item.files_modified)
        saying = committed.said(body.subject, body.hash)
        for left in self._before(recorded, folds):
            if not left.dirty.isdisjoint(paths):
                yield left.session.id, saying, paths

    def begun(self, recorded: Recorded, folds: Folds) -> Iterator[int]:
        """Yield sessions whose plan is what a prompt asks for."""
        body = recorded.event.body
        heading = prompts.heading_of(body.text) if isinstance(body, Prompt) else ""
        if heading:
            yield from (
                left.session.id for left in self._before(recorded, folds) if left.plan == heading
            )

    def _before(self, recorded: Recorded, folds: Folds) -> Iterator[Left]:
        """Yield the other sessions of the project that were there, and not long over."""
        at_ms, project_id = recorded.event.at_ms, recorded.project_id
        stored = (left for left in self._stored_in(project_id) if left.session.id not in folds)
        for left in [*_in(folds, project_id), *stored]:
            session = left.session
            is_of_time = session.started_ms <= at_ms <= session.last_ms + OLD_MS
            if is_of_time and session.id != recorded.session_id:
                yield left

    def _stored_in(self, project_id: int) -> list[Left]:
        if project_id not in self._stored:
            sessions = self._reader.sessions(project_id=project_id, limit=SESSIONS)
            self._stored[project_id] = [
                _left(session, state.decode(session.state)) for session in sessions
            ]
        return self._stored[project_id]


def _in(folds: Folds, project_id: int) -> Iterator[Left]:
    for fold in folds.values():
        session = fold.standing()
        if session and session.project_id == project_id:
            yield _left(session, fold.known())


def _left(session: Session, known: State) -> Left:
    return Left(session, committed.dirty(known), known.plan)
