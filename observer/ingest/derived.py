"""What one write transaction derives beside observations: fixes, later work, notes; step 6.

`ProjectHistory` carries the state of each project, from which fixes follow. `LaterWork` finds the
sessions whose open work is taken up later: one that is over learns of a commit of its changes, and
that its plan was begun. `NoteProjection` applies events to notes: a live event makes of a note what
a fold of its whole history does, so that a rebuild, an undo and a look into the past agree. Nothing
depends on how the log is cut into transactions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from observer.core.events import Command, Commit, FileWrite, Prompt, Remember, Undo
from observer.core.filters import RECORDED_KINDS, Filters
from observer.core.model import Item, Link, Recorded, Session
from observer.core.paths import is_inside
from observer.core.text import is_within, relative
from observer.observations import (
    event_text,
    git_commands,
    inverse_edits,
    project_state,
    prompts,
    session_commits,
    session_state,
)
from observer.observations.analysis import analysis_of
from observer.observations.git_commands import GitOperation, PrintedStatus
from observer.observations.note_reducer import OnNote, changed, folded, note
from observer.observations.open_failures import OpenFailure
from observer.observations.project_reducer import ProjectReducer
from observer.observations.session_reducer import SessionReducer
from observer.observations.session_state import SessionState
from observer.store.interface import StoreReader, Writer

_OF_COMMITS = frozenset({"reverts", "replaces", "makes"})


def out_of_order(reader: StoreReader) -> list[int]:
    """Return the projects in which something came after what happened later: derive them anew."""
    states = ((one.id, reader.project_state(one.id)) for one in reader.projects())
    return [one for one, state in states if project_state.decode(state).is_out_of_order]


class ProjectHistory:
    """Carries the state of each project from event to event; `finish` stores them."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._arcs: dict[int, ProjectReducer] = {}
        self._before = project_state.ProjectState()

    def add(self, recorded: Recorded, made: Sequence[Item]) -> tuple[Item, ...]:
        """Take an event with its observations, as `ProjectReducer.add` does.

        Links to commits have targets.
        """
        arcs = self._arc(recorded.project_id)
        self._before = arcs.state
        fixes = arcs.add(recorded, tuple(made))
        return tuple(self._resolved(item, recorded) for item in fixes)

    def is_late(self, recorded: Recorded) -> bool:
        """Take the time of the next event; see `ProjectReducer.is_late`."""
        return self._arc(recorded.project_id).is_late(recorded)

    def _arc(self, project_id: int) -> ProjectReducer:
        if project_id not in self._arcs:
            self._arcs[project_id] = ProjectReducer(self._writer.project_state(project_id))
        return self._arcs[project_id]

    def of_procedure(self, made: Item) -> tuple[int, ...]:
        """See `ProjectReducer.of_procedure`; of an item of an event that was added."""
        return self._arcs[made.project_id or 0].of_procedure(made)

    def failures(self, project_id: int) -> tuple[OpenFailure, ...]:
        """Return the checks of a project, of which an event was added, that are red."""
        return self._arcs[project_id].state.failures

    def wrote_back(self, recorded: Recorded) -> str:
        """Return the file that a write, which was added, took back to its commit; "" for none."""
        body = recorded.event.body
        if not isinstance(body, FileWrite) or body.error:
            return ""
        path = relative(body.path, recorded.root, recorded.event.cwd)
        known = self._arcs[recorded.project_id].state
        return path if inverse_edits.is_all_undone(known, recorded.root, path) else ""

    def taken_back(self, recorded: Recorded) -> dict[int, set[str]]:
        """Return what the event that was added took back; see `inverse_edits.taken_back`.

        Of a write nothing: of a commit it takes back, the change back is left.
        """
        if isinstance(recorded.event.body, FileWrite):
            return {}
        return inverse_edits.taken_back(self._before, self._arcs[recorded.project_id].state)

    def finish(self) -> None:
        """Store the states of the projects."""
        for project_id, arcs in self._arcs.items():
            state = arcs.changed_state()
            if state is not None:
                self._writer.put_project_state(project_id, state)

    def _resolved(self, item: Item, recorded: Recorded) -> Item:
        hashes = [link.title for link in item.links if link.kind in _OF_COMMITS and link.title]
        if not hashes:
            return item
        # What came later into the log is unknown, so that a rebuild derives the same.
        known = self._writer.commits(recorded.project_id, hashes, before=recorded.seq)
        return replace(item, links=tuple(_to(link, known.get(link.title)) for link in item.links))


def _to(link: Link, item_id: int | None) -> Link:
    return link if item_id is None or link.target else replace(link, target=item_id)


def discarding(whole: Recorded, wrote_back: str) -> list[GitOperation]:
    """Return what an event discards of the work tree.

    Args:
        whole: any event, a tool's result completed.
        wrote_back: the file of which it took back all that was not committed, if one.
    """
    body = whole.event.body
    if wrote_back:
        return [GitOperation(kind=kind, paths=(wrote_back,)) for kind in ("restore", "clean")]
    if not isinstance(body, Command) or not whole.root:
        return []
    is_ok = analysis_of(whole).result.ok is not False
    done = git_commands.operations_of(whole, body, is_ok=is_ok)
    return [one for one, _ in done if one.kind in session_commits.DISCARDING]


SESSIONS = 100
"""Sessions of a project that are looked at, the last active ones."""
OLD_MS = 14 * 86_400_000
"""What a session left that ended so long before is not looked for."""

Folds: TypeAlias = Mapping[int | None, SessionReducer]
"""The sessions of a transaction, which know more than what is stored."""


class OpenWork(NamedTuple):
    """A session with what is open in it: files that no commit has, a plan that nobody began.

    `commits` are the beginnings of the hashes of those that it made, or that took its work in.
    """

    session: Session
    dirty: frozenset[str]
    plan: str
    commits: frozenset[str]


class LaterWork:
    """Looks for sessions within one write transaction."""

    def __init__(self, reader: StoreReader) -> None:
        self._reader = reader
        self._stored: dict[int, list[OpenWork]] = {}

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
        if not isinstance(body, Commit) or event_text.is_pulled(body):
            return
        paths = frozenset(path for item in made for path in item.files_modified)
        saying = session_commits.commit_text(body.subject, body.hash)
        for left in self._before(recorded, folds):
            if not left.dirty.isdisjoint(paths):
                yield left.session.id, saying, paths

    def discarded(
        self, whole: Recorded, operations: Collection[GitOperation], folds: Folds
    ) -> Iterator[int]:
        """Yield sessions whose changes are among those that an event discards.

        Args:
            whole: the event.
            operations: what it discards, as `discarding` returns.
            folds: the sessions of this transaction.
        """
        for left in self._before(whole, folds) if operations else ():
            if is_inside(left.session.cwd, whole.root) and any(
                is_within(path, one.paths) for one in operations for path in left.dirty
            ):
                yield left.session.id

    def listed(self, whole: Recorded, folds: Folds) -> Iterator[tuple[int, PrintedStatus]]:
        """Yield sessions that left files open where `git status` was printed, and what it says."""
        shown = session_commits.listed_in(whole) if whole.root else None
        for left in self._before(whole, folds) if shown else ():
            if left.dirty and shown and is_inside(left.session.cwd, whole.root):
                yield left.session.id, shown

    def rewritten(self, recorded: Recorded, became: Collection[str], folds: Folds) -> Iterator[int]:
        """Yield sessions that name one of the commits that an event replaces or takes back."""
        gone = {commit[: session_commits.HASH_CHARS] for commit in became}
        for left in self._before(recorded, folds) if gone else ():
            if not left.commits.isdisjoint(gone):
                yield left.session.id

    def begun(self, recorded: Recorded, folds: Folds) -> Iterator[int]:
        """Yield sessions whose plan is what a prompt asks for."""
        body = recorded.event.body
        heading = prompts.heading_of(body.text) if isinstance(body, Prompt) else ""
        if heading:
            yield from (
                left.session.id for left in self._before(recorded, folds) if left.plan == heading
            )

    def _before(self, recorded: Recorded, folds: Folds) -> Iterator[OpenWork]:
        """Yield the other sessions of the project that were there, and not long over."""
        at_ms, project_id = recorded.event.at_ms, recorded.project_id
        stored = (left for left in self._stored_in(project_id) if left.session.id not in folds)
        for left in [*_in(folds, project_id), *stored]:
            session = left.session
            is_of_time = session.started_ms <= at_ms <= session.last_ms + OLD_MS
            if is_of_time and session.id != recorded.session_id:
                yield left

    def _stored_in(self, project_id: int) -> list[OpenWork]:
        if project_id not in self._stored:
            sessions = self._reader.sessions(project_id=project_id, limit=SESSIONS)
            self._stored[project_id] = [
                _left(session, session_state.decode(session.state)) for session in sessions
            ]
        return self._stored[project_id]


def _in(folds: Folds, project_id: int) -> Iterator[OpenWork]:
    for fold in folds.values():
        session = fold.current()
        if session and session.project_id == project_id:
            yield _left(session, fold.state())


def _left(session: Session, known: SessionState) -> OpenWork:
    dirty = frozenset(session_commits.open_files(known))
    named = map(session_commits.hash_of, (*known.commits, *known.later_commits))
    return OpenWork(session, dirty, known.plan, frozenset(named))


class NoteProjection:
    """The notes of one write transaction; each is put before the next event may ask for it.

    The last one is not: it is put with all else that the transaction made.

    Args:
        writer: the transaction.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._waiting: list[Item] = []

    def put(self) -> None:
        """Put what waits for it."""
        if self._waiting:
            self._writer.put_items(self._waiting)
            self._waiting = []

    def remembered(self, recorded: Recorded, body: Remember) -> Item:
        """Return the note, in the place of the one with the same key or the same words."""
        made = note(recorded, None, owner=body.owner)
        where = Filters(project_id=made.project_id, owner=made.owner)
        existing = self._same(made, where)
        item = note(recorded, existing, owner=body.owner) if existing else made
        return self._put(item, recorded)

    def changed(self, recorded: Recorded, body: OnNote) -> Item | None:
        """Return the note as the event leaves it; None if there is no such note."""
        before = self._writer.item(body.item, deleted=True)
        if before is None or before.kind not in RECORDED_KINDS:
            return None
        if not isinstance(body, Undo):
            return self._put(changed(before, recorded), recorded)
        history = [*self._writer.history(before.id), recorded]
        return self._put(folded(history) or before, recorded)

    def _same(self, made: Item, where: Filters) -> Item | None:
        """Return the note whose place a new one takes; an inference takes nobody's."""
        if made.kind == "inference":
            return None
        if made.key:
            return self._writer.keyed(made.key, where)
        return self._writer.same_content(made.content_hash, where)

    def _put(self, item: Item, recorded: Recorded) -> Item:
        self._writer.put_history(item.id, recorded.seq)
        self._waiting.append(item)
        return item
