"""The last sessions of a project: what each was about, and what it left unfinished.

Failing checks and uncommitted files are the state of the project, whichever session left them.
Checks come from the project's failure tracker; for a file its newest event counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from observer.core.filters import Filters
from observer.core.model import Item, Session, item_id
from observer.observations import project_state
from observer.observations.open_failures import OpenFailure, worth_showing
from observer.observations.session_digest import Unfinished, unfinished
from observer.store.interface import StoreReader

SESSIONS = 40
"""Sessions that are looked at, the last active ones."""
OLD_MS = 14 * 86_400_000
"""What another session left not committed so long before the last is nobody's next step."""
MOST_EVENTS = 200
"""Of one session, searched for the item that describes an edit."""
ASKED = 100
"""Files that git is asked about: it answers as soon as for ten; for 200 it takes twice as long."""
COMMITS = 100
"""The newest, looked through for files that somebody committed since."""

PEOPLE = frozenset({"bash", "zsh", "fish", "git"})
"""Clients in which nobody resumes a session."""

Uncommitted = Callable[[Sequence[str]], "frozenset[str] | None"]
"""Says which of some paths differ from the last commit; None if unknown."""


class PastSession(NamedTuple):
    """A session that did something, its summary, and what it left open."""

    session: Session
    summary: Item
    left: Unfinished


class FailingCheck(NamedTuple):
    """A check that is red, the session that saw it last (None if it is not looked at), its item."""

    past: PastSession | None
    failure: OpenFailure
    item: Item


class UncommittedFile(NamedTuple):
    """A file that no commit took in, the session that wrote it last, the item that describes it.

    Where git could not be asked it `is_certain` of none: no commit of it is known.
    """

    past: PastSession
    path: str
    item: Item
    is_certain: bool


class RecentSessions:
    """The last sessions of a project that did something, the last active first."""

    def __init__(self, reader: StoreReader, project_id: int) -> None:
        self._reader = reader
        self._project_id = project_id
        self._events: dict[int, list[Item]] = {}
        self._all = list(self._read())

    def last(self, client: str) -> PastSession | None:
        """Return the session to resume: the last of a client, else of any that has an agent.

        One that was only a question or a greeting is it only where there is no other.
        """
        alone = [past for past in self._all if not past.session.parent]
        worked = [past for past in alone if not past.left.is_trivial]
        groups = (
            [past for past in among if chosen(past.session.client)]
            for among in (worked, alone)
            for chosen in (client.__eq__, lambda name: name not in PEOPLE)
        )
        return next(chain.from_iterable((*groups, alone)), None)

    def since(self, last: PastSession) -> list[PastSession]:
        """Return the other sessions that were active after one began, and changed files."""
        return [
            past
            for past in self._all
            if past is not last
            and not past.session.parent
            and past.session.last_ms >= last.session.started_ms
            and past.summary.files_modified
        ]

    def red(self, *, now_ms: int) -> Iterator[FailingCheck]:
        """Yield the checks that fail as far as anybody knows, the last run first.

        Raises:
            StoreUnavailable: the state of the project is damaged, or of another version.
        """
        known = project_state.decode(self._reader.project_state(self._project_id))
        pasts = {past.session.id: past for past in self._all}
        for failure in worth_showing(known.failures, now_ms=now_ms, shown=known.shown_branches):
            past = pasts.get(failure.sessions[-1] or 0)
            item = next(iter(self._reader.items([failure.item])), past and past.summary)
            if item:
                yield FailingCheck(past, failure, item)

    def dirty(
        self, last: PastSession, uncommitted: Uncommitted | None
    ) -> Iterator[UncommittedFile]:
        """Yield files that are not committed, those of the session to resume first.

        git is asked about the newest `ASKED` that sessions wrote: what they saw of commits may have
        been taken back. Where it does not answer, what is known is that no commit was seen.
        """
        written: dict[str, PastSession] = {}
        for past in self._recent(last):
            for path in past.left.written:
                written.setdefault(path, past)
        asked = tuple(written)[:ASKED]
        differ = uncommitted(asked) if uncommitted and asked else None
        found = differ
        if found is None:
            # Outside git nothing is ever committed, and every file would be listed for ever.
            left = {
                path: past
                for path, past in written.items()
                if past.session.branch and path in past.left.dirty
            }
            found = frozenset(left) - self._committed(left)
        for path, past in sorted(written.items(), key=lambda pair: pair[1] is not last):
            if path in found:
                yield UncommittedFile(past, path, self._writing(past, path), differ is not None)

    def steps(self, last: PastSession) -> Iterator[tuple[PastSession, str]]:
        """Yield what the to-do lists and the plan of the session to resume still have to do."""
        for step in last.left.steps:
            yield last, step

    def _read(self) -> Iterator[PastSession]:
        sessions = self._reader.sessions(project_id=self._project_id, limit=SESSIONS)
        ids = [item_id(session.id, "summary") for session in sessions]
        summaries = {item.id: item for item in self._reader.items(ids)}
        for session, summary in zip(sessions, map(summaries.get, ids), strict=True):
            if summary:
                yield PastSession(session, summary, unfinished(session))

    def _recent(self, last: PastSession) -> list[PastSession]:
        oldest_ms = last.session.started_ms - OLD_MS
        return [past for past in self._all if past.session.last_ms >= oldest_ms]

    def _committed(self, left: Mapping[str, PastSession]) -> frozenset[str]:
        """Return which files a commit took in after they were written, whoever made it."""
        since_ms = min((past.session.started_ms for past in left.values()), default=0)
        filters = Filters(project_id=self._project_id, types=("commit",), since_ms=since_ms)
        newest: dict[str, int] = {}
        for commit in self._reader.recent(filters, limit=COMMITS):
            for path in commit.files_modified:
                newest.setdefault(path, commit.created_ms)
        written = {path: self._writing(past, path).updated_ms for path, past in left.items()}
        return frozenset(path for path in left if newest.get(path, -1) >= written[path])

    def _writing(self, past: PastSession, path: str) -> Item:
        """Return the item that describes the last write of a file, or the summary."""
        writes = (each for each in self._events_of(past) if path in each.files_modified)
        return next(writes, past.summary)

    def _events_of(self, past: PastSession) -> list[Item]:
        """Return a session's newest commands and edits, the newest first."""
        session = past.session
        if session.id not in self._events:
            filters = Filters(
                project_id=self._project_id,
                session_id=session.id,
                types=("command", "file-write"),
                since_ms=session.started_ms,  # both bound what is looked through
                until_ms=session.last_ms + 1,
            )
            self._events[session.id] = self._reader.recent(filters, limit=MOST_EVENTS)
        return self._events[session.id]
