"""From prepared events to the log: project, session, duplicates, append; steps 5 and 7.

Whose a commit is that names no session (Cline, Droid) is said by what the sessions of the project
were doing at that moment, if that leaves no choice. A project whose folder is gone is that of the
repository with the commits it made. Of a client that was started above several repositories the
turns that worked in one, and the end, are copied there as events like any other.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain, filterfalse

from msgspec.structs import replace

from observer.commands.command_line import parse_command_line, printed_commits
from observer.core.errors import NotFound
from observer.core.events import (
    Command,
    Commit,
    Event,
    FileWrite,
    Intent,
    Outcome,
    Prompt,
    Reply,
    SessionEnd,
    kind_of,
)
from observer.core.model import UNASSIGNED, Place, Project, Receipt, Recorded, Session
from observer.core.paths import is_inside
from observer.core.routes import COPIED, first_id, is_imported
from observer.core.text import is_within
from observer.git.process import git_output, uncommitted_paths
from observer.ingest.duplicates import (
    LONGEST_MS,
    SHELLS,
    WINDOW_MS,
    find_duplicate,
    find_typed,
    has_other_hook,
    is_covered,
    is_late,
    may_have_duplicate,
    window_ms,
)
from observer.ingest.projection import Embedder, Projection
from observer.observations.analysis import EventRecord, result_of
from observer.observations.session_commits import written_files
from observer.observations.session_state import SYNTHETIC, continues
from observer.projects import match_project, missing_roots, new_project, place_name, update_project
from observer.projects.fs_probe import gone_root, is_same_or_inside, local_spelling
from observer.store.reader import StoreReader
from observer.store.tombstones import Tombstones, places_of
from observer.store.writer import Writer

JUST_NOW_MS = 120_000
"""The end of a session gets what git says now if it is no older than this."""
WAIT_S = 0.5
NEAR = 100
"""Newest events among which an earlier report of one is looked for."""


class EventAppender:
    """Appends events inside one write transaction and hands them to the projection."""

    def __init__(
        self,
        writer: Writer,
        *,
        prepare: Callable[[Event, int], EventRecord | None],
        stored_ms: int,
        embedder: Embedder | None = None,
        tombstones: Tombstones | None = None,
    ) -> None:
        self._writer = writer
        self._prepare = prepare
        self._stored_ms = stored_ms
        self._tombstones = tombstones
        self.projection = Projection(writer, embedder)
        self._projects = {project.id: project for project in writer.projects()}
        self._recognised: dict[Place, int] = {}
        self._latest: dict[tuple[str, str], dict[int, int]] = {}
        self._seq = writer.next_seq()
        self.touched: set[int] = set()

    def append(self, prepared: EventRecord) -> Receipt:
        """Append one event; one that is known, a duplicate, purged or too old changes nothing."""
        prepared = self._beside_call(self._with_gone_place(prepared))
        event = prepared.event
        if prepared.is_expired:
            return Receipt(is_expired=True)
        # Its project may have been purged as a whole.
        named = self._projects.get(prepared.project_id) or prepared.place
        if (gone := self._tombstones) and gone.names(event.id, event.dedup, places_of(named)):
            return Receipt(is_purged=True)
        project_id = prepared.project_id or self._project_id(prepared.place, event.at_ms)
        event = self._with_session_at_work(event, project_id, prepared.place.root)
        self._bring(event, project_id, prepared.place.root)
        session = self._session(event, project_id)
        session_id = self._session_id(event, session)
        if is_covered(event, session, is_late=is_late(event, now_ms=self._stored_ms)):
            return Receipt(known=event.id)
        event = self._with_uncommitted(event, prepared.place, session_id)
        recorded = replace(
            prepared,
            seq=self._seq,
            event=event,
            project_id=project_id,
            session_id=session_id,
            root=prepared.place.root,
            # The folder may have moved on to another one before the event was read.
            branch=prepared.place.branch if event.branch is None else event.branch,
            # What is checked out now says nothing of the past.
            commit="" if is_imported(event) else prepared.place.commit,
            data=prepared.data if event is prepared.event else "",
        )
        if known := self._duplicate(recorded):
            return Receipt(known=known)
        if not self._writer.append(recorded, stored_ms=self._stored_ms, data=recorded.data):
            return Receipt(known=self._writer.known(recorded))
        self._seq += 1
        if session_id is not None:
            self._latest[event.client, event.session][project_id] = session_id
        self.touched.add(project_id)
        item = self.projection.add(recorded)
        self._spread(recorded)
        return Receipt(seq=recorded.seq, item=item, project_id=recorded.project_id)

    def _with_session_at_work(self, event: Event, project_id: int, root: str) -> Event:
        """Return a commit made here that names no session as of the one that was certainly at it.

        Of a named agent it is the only session at work in the work tree at `root`; of anybody else
        one whose newest event is a call of git that has not ended.
        """
        body, at_ms = event.body, event.at_ms
        is_named = bool(event.session) and event.author == "agent"
        if is_named or not isinstance(body, Commit) or body.action not in _MADE:
            return event
        near = [
            one
            for one in self.projection.sessions_since(project_id, at_ms - WORKING_MS)
            if (not one.cwd or is_within(one.cwd, (root,)))
            and one.started_ms <= at_ms <= one.last_ms + WORKING_MS
            and (one.ended_ms is None or at_ms <= one.ended_ms)
        ]
        if event.author == "agent":
            found = [one for one in near if one.client == event.client]
        else:
            found = [one for one in near if _calls_git(self._newest(one), at_ms)]
        if len(found) != 1:
            return event
        return replace(event, client=found[0].client, session=found[0].external, author="agent")

    def _bring(self, event: Event, project_id: int, root: str) -> None:
        """Append what was said in the turn of an act, where its project has nothing of it."""
        runs = self._runs(event, project_id)
        if _is_work(event) and _is_above(runs, project_id, root):
            self._copy_turn(self._turn(event.at_ms, runs)[0], project_id, root)

    def _spread(self, recorded: Recorded) -> None:
        """Append what an event says of its session for the other projects that it is in."""
        event, body = recorded.event, recorded.event.body
        runs = self._runs(event, recorded.project_id)
        if runs and isinstance(body, Prompt | Reply):
            turn, until_ms = self._turn(event.at_ms, runs)
            since_ms = turn[0].event.at_ms if turn else until_ms
            for project_id, session in runs.items():
                near = self._writer.recorded_near(session.id, from_ms=since_ms, to_ms=until_ms)
                root = next((one.root for one in near if _is_work(one.event)), "")
                if _is_above(runs, project_id, root):
                    self._copy_turn(turn, project_id, root)
        if isinstance(body, SessionEnd) and body.reason != "idle":
            for other, session in runs.items():
                if other != recorded.project_id and session.ended_ms is None:
                    for root in [one.root for one in self._newest(session) if one.root]:
                        self._copy(event, other, root)

    def _copy_turn(self, turn: Sequence[Recorded], project_id: int, root: str) -> None:
        """Append what was said in a turn to a project, if it is not there."""
        there = {first_id(one.event.id) for one in turn if one.project_id == project_id}
        said = {first_id(one.event.id): one.event for one in turn}
        for name in filterfalse(there.__contains__, said):
            self._copy(said[name], project_id, root)

    def _turn(self, at_ms: int, runs: Mapping[int, Session]) -> tuple[Sequence[Recorded], int]:
        """Return the prompt that stood at a time, its replies, with all copies, and its end."""
        near, ever_ms = self._writer.recorded_near, sys.maxsize
        later = (
            one.event.at_ms
            for session in runs.values()
            if session.last_ms > at_ms
            for one in near(session.id, from_ms=at_ms + 1, to_ms=ever_ms, kind="prompt")
        )
        until_ms = min(later, default=ever_ms) - 1
        asked = [
            one
            for session in runs.values()
            for one in near(session.id, from_ms=0, to_ms=at_ms, kind="prompt", newest=1)
        ]
        since_ms = max((one.event.at_ms for one in asked), default=0)
        answered = (
            one
            for session in runs.values()
            if asked
            for one in near(session.id, from_ms=since_ms, to_ms=until_ms, kind="reply")
        )
        return [*(one for one in asked if one.event.at_ms == since_ms), *answered], until_ms

    def _copy(self, said: Event, project_id: int, root: str) -> None:
        """Append something said as it would have been reported from the root of a project."""
        copied = replace(
            said,
            id=f"{first_id(said.id)}{COPIED}{self._projects[project_id].uuid}",
            cwd=root,
            roots=(),
            # What a turn used is counted once, where it was reported.
            body=replace(said.body, usage=None) if isinstance(said.body, Reply) else said.body,
        )
        if prepared := self._prepare(copied, project_id):
            self.append(prepared)

    def _runs(self, event: Event, project_id: int) -> dict[int, Session]:
        """Return what an event's session is in each project, as it stands; nothing if only in one.

        Nor of an event for which no session is named, or which is a copy.
        """
        is_named = bool(event.session) and not event.session.startswith(SYNTHETIC)
        found = self._known_runs(event) if is_named and first_id(event.id) == event.id else {}
        if not found.keys() - {project_id}:
            return {}
        sessions = {each: self.projection.session(number) for each, number in found.items()}
        return {each: session for each, session in sessions.items() if session}

    def _known_runs(self, event: Event) -> dict[int, int]:
        run = event.client, event.session
        if run not in self._latest:
            self._latest[run] = self._writer.runs(*run)
        return self._latest[run]

    def _with_gone_place(self, prepared: EventRecord) -> EventRecord:
        """Return an event whose folder is gone with the repository or project it was in, or it."""
        event = prepared.event
        if prepared.place.root or not event.cwd:
            return prepared
        folder = local_spelling(event.cwd)
        around = [
            root
            for project in self._projects.values()
            for root in project.roots
            if is_same_or_inside(folder, local_spelling(root))
        ]
        root = max(around, key=len, default="") or gone_root(
            folder, [local_spelling(one) for one in event.roots]
        )
        if not root and not event.remote:
            return prepared
        remotes = (event.remote,) if event.remote else ()
        return replace(prepared, place=Place(root=root or folder, remotes=remotes))

    def _beside_call(self, prepared: EventRecord) -> EventRecord:
        """Return a tool's result as of the project in which its call waits for it."""
        body = prepared.event.body
        runs = self._runs(prepared.event, UNASSIGNED) if isinstance(body, Outcome) else {}
        if not isinstance(body, Outcome) or len(runs) < 2:
            return prepared
        calls = {each: result_of(self.projection.state(one.id), body) for each, one in runs.items()}
        waiting = [(call.origin.seq, each) for each, call in calls.items() if call]
        if not waiting:
            return prepared
        _, project_id = min(waiting)
        (last,) = self._newest(runs[project_id])
        place = replace(prepared.place, root=last.root)
        return replace(prepared, project_id=project_id, place=place)

    def _with_uncommitted(self, event: Event, place: Place, session_id: int | None) -> Event:
        """Return the end of a session with what git says of its changes, if it ends just now."""
        body = event.body
        if not isinstance(body, SessionEnd) or session_id in (None, self._seq) or not place.root:
            return event
        is_past = self._stored_ms - event.at_ms > JUST_NOW_MS
        written = () if is_past else sorted(written_files(self.projection.state(session_id)))
        changed = uncommitted_paths(place.root, written, wait_s=WAIT_S) if written else None
        if changed is None:
            return event
        left = tuple(path for path in written if path in changed)
        return replace(event, body=replace(body, uncommitted=left))

    def _project_id(self, place: Place, at_ms: int) -> int:
        if not place.root:
            return UNASSIGNED
        evidence = replace(place, branch="", commit="")
        if evidence not in self._recognised:
            self._recognised[evidence] = self._recognise(evidence, at_ms)
        return self._recognised[evidence]

    def _recognise(self, place: Place, at_ms: int) -> int:
        known = list(self._projects.values())
        gone = missing_roots(place, known)
        project = match_project(place, known, gone=gone)
        if not project and (project := project_of_commits(self._writer, place, known)):
            # The folder that is here gives the name.
            place = replace(place, name=place_name(place))
        current = (
            update_project(project, place, gone=gone)
            if project
            else new_project(place, id=max(self._projects) + 1, at_ms=at_ms)
        )
        if current is not project:
            self._writer.put_project(current)
            self._projects[current.id] = current
        return current.id

    def _session_id(self, event: Event, session: Session | None) -> int | None:
        if not event.session:
            return None
        if session and continues(session, event):
            return session.id
        # An end begins no session: of this one nothing was reported, or nothing is recorded.
        return None if isinstance(event.body, SessionEnd) else self._seq

    def _session(self, event: Event, project_id: int) -> Session | None:
        """Return the newest session with the event's session id, as it stands; None without."""
        if not event.session:
            return None
        session_id = self._known_runs(event).get(project_id)
        return None if session_id is None else self.projection.session(session_id)

    def _newest(self, session: Session) -> list[Recorded]:
        return self._writer.recorded_near(session.id, from_ms=0, to_ms=sys.maxsize, newest=1)

    def _duplicate(self, recorded: Recorded) -> str:
        """Return the id of the event that already reported the same, "" if none did."""
        event = recorded.event
        is_typed = isinstance(event.body, Command) and event.author == "person"
        if is_typed and is_imported(event) and (known := self._typed_live(event)):
            return known
        late = is_late(event, now_ms=self._stored_ms)
        if recorded.session_id is None or not may_have_duplicate(event, is_late=late):
            return ""
        within_ms = window_ms(event, is_by_import=late or is_imported(event))
        from_ms, to_ms = event.at_ms - within_ms, event.at_ms + within_ms
        if (
            late
            and not has_other_hook(event)
            and not self._writer.has_imported(recorded.session_id, from_ms=from_ms, to_ms=to_ms)
        ):
            return ""
        near = self._writer.recorded_near(
            recorded.session_id,
            from_ms=from_ms,
            to_ms=to_ms,
            kind=kind_of(event.body),
            newest=NEAR,  # a flood of events must not take quadratic time
        )
        found = find_duplicate(event, [other.event for other in near])
        return found.id if found else ""

    def _typed_live(self, event: Event) -> str:
        """Return the id of what a shell's hook reported of a typed command, "" if none did."""
        from_ms, to_ms = event.at_ms - WINDOW_MS, event.at_ms + LONGEST_MS
        around = self._writer.sessions_between(from_ms, to_ms, clients=SHELLS)
        reader, kind = self._writer.recorded_near, "command"
        near = (reader(one, from_ms=from_ms, to_ms=to_ms, kind=kind) for one in around)
        found = find_typed(event, [each.event for each in chain.from_iterable(near)])
        return found.id if found else ""


WORKING_MS = 60 * 60_000
"""As long after its last event a session may still be at work on one command."""
CALL_MS = 5 * 60_000
"""As long a call of git may take, with the hooks that it runs."""
COMMITS = 100
"""Newest commits of a repository that are looked for in what sessions of missing folders saw."""
_MADE = frozenset({"commit", "cherry-pick", "revert"})
_GIT = re.compile(r"\bgit\b")


def project_of_commits(
    reader: StoreReader, place: Place, projects: Iterable[Project]
) -> Project | None:
    """Return the project of missing folders where commits of a repository were made.

    That is where git printed one's hash when it was made; None if it was in none of them.
    """
    gone = {
        one.id: one for one in projects if one.roots and not any(map(os.path.lexists, one.roots))
    }
    said: str | None = ""
    if place.git and gone:
        with suppress(NotFound):
            said = git_output(place.root, "log", "--all", f"-{COMMITS}", "--format=%H %at")
    found = (
        session.project_id
        for commit, at_s in map(str.split, (said or "").splitlines())
        for at_ms, to_ms in [(int(at_s) * 1000, int(at_s) * 1000 + CALL_MS)]
        for session in map(reader.session, reader.sessions_between(at_ms, to_ms))
        if session and session.project_id in gone
        for one in reader.recorded_near(session.id, from_ms=at_ms, to_ms=to_ms, kind="command")
        if isinstance(one.event.body, Command)
        and any(map(commit.startswith, printed_commits(one.event.body.output)))
    )
    return gone.get(next(found, 0))


def _calls_git(newest: Sequence[Recorded], at_ms: int) -> bool:
    for recorded in newest:
        body = recorded.event.body
        if isinstance(body, Intent) and isinstance(body.of, Command):
            is_open = 0 <= at_ms - recorded.event.at_ms <= CALL_MS
            return is_open and _GIT.search(body.of.command) is not None
    return False


def _is_work(event: Event) -> bool:
    """Return True if an event is of an act that does more than look."""
    body = event.body.of if isinstance(event.body, Intent) else event.body
    if isinstance(body, Command):
        return not parse_command_line(body.command).is_routine
    return isinstance(body, FileWrite | Commit)


def _is_above(runs: Mapping[int, Session], project_id: int, root: str) -> bool:
    """Return True if a session was in a folder above the root of a project."""
    folders = {one.cwd for other, one in runs.items() if other != project_id and one.cwd}
    return bool(root) and any(is_inside(root, os.path.realpath(folder)) for folder in folders)
