"""Accounts of sessions, what models read and wrote in them, and the store as of one worktree."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import msgspec

from observer.core.errors import NotFound
from observer.core.filters import HIDE, Filters, is_visible
from observer.core.model import Item, Project, Recorded, Session
from observer.core.paths import is_inside
from observer.git.log import commit_patch
from observer.git.process import uncommitted_paths
from observer.local.given import Giving
from observer.memory.work import (
    Branch,
    CheckHistory,
    GivenToSession,
    branches,
    check_histories,
    used,
)
from observer.projects.fs_probe import from_windows
from observer.projects.policy import Policies
from observer.search.handles import LARGEST_ID, SearchOptions, filters_of, named
from observer.search.query import plan
from observer.search.recent_sessions import (
    FailingCheck,
    RecentSessions,
    Uncommitted,
    UncommittedFiles,
)
from observer.search.reminder import Reminder, standing
from observer.search.timeline import (
    Account,
    SessionRun,
    SessionTimeline,
    TimelineEntry,
    account,
    as_of_now,
    course,
    events_of,
    reads_by_id,
    reads_naming,
    stand_ins,
    steps_around,
    with_summaries,
)
from observer.store.interface import Store
from observer.store.reader import Spent, StoreReader


class UnfinishedWork(NamedTuple):
    """The checks of a project that fail, the last run first, and its files not committed."""

    red: tuple[FailingCheck, ...]
    dirty: tuple[UncommittedFiles, ...]


class Accounts:
    """Reads of what happened, since a time or in one session."""

    def __init__(self, store: Store, *, owner: str, now_ms: Callable[[], int]) -> None:
        self._store = store
        self._owner = owner
        self._now_ms = now_ms

    def since(self, since_ms: int, *, project: str | None = None) -> Account:
        """Return what happened since a time. Raises: NotFound, Ambiguous (the project)."""
        with self._store.read() as reader:
            asked = named(reader.projects(), from_windows(project)).id if project else None
            return account(reader, since_ms, project_id=asked, owner=self._owner)

    def of_session(self, handle: str, *, limit: int) -> SessionTimeline:
        """Return what a session left in the memory. Raises: NotFound (there is no such one)."""
        with self._store.read() as reader:
            return course(reader, handle, owner=self._owner, limit=limit)

    def unfinished(self, project: Project, folder: str = "") -> UnfinishedWork:
        """Return what of a project's work is red or not committed, as git says now.

        git is asked in the worktree around the folder, else in the newest one.
        """
        with self._store.read() as reader:
            recent = RecentSessions(reader, project.id)
            last = recent.last("")
            dirty = recent.dirty(last, uncommitted_at(project, folder)) if last else ()
            return UnfinishedWork(tuple(recent.red(now_ms=self._now_ms())), tuple(dirty))

    def branches(self, project: Project) -> list[Branch]:
        """Return the branches that a project was worked on; see `work.branches`."""
        with self._store.read() as reader:
            return branches(reader, project)

    def checks(self, project: Project) -> list[CheckHistory]:
        """Return how the checks of a project ended lately; see `work.check_histories`."""
        with self._store.read() as reader:
            return check_histories(reader, project.id)

    def used(
        self, given: Iterable[Giving], *, project: Project | None, limit: int
    ) -> list[GivenToSession]:
        """Return the first of what sessions were given and what of it they used; see `used`."""
        with self._store.read() as reader:
            return used(reader, given, project=project, owner=self._owner, limit=limit)

    def standing_reminders(self, project: Project) -> list[Reminder]:
        """Return what a session of a project may be reminded of; see `reminder.standing`."""
        with self._store.read() as reader:
            here = Filters(project_id=project.id, owner=self._owner)
            found = list(standing(reader, here, now_ms=self._now_ms()))
            given = reader.chosen("given")
        return [one for one in found if given.get(one.item) != HIDE]

    def events(
        self, handle: str, *kinds: str, from_ms: int = 0, to_ms: int = sys.maxsize
    ) -> list[Recorded]:
        """Return the events of a session and its sub-agents, by time. Raises: NotFound (none)."""
        with self._store.read() as reader:
            return events_of(reader, handle, kinds, from_ms=from_ms, to_ms=to_ms)

    def spent(
        self, since_ms: int, *, project: str | None, sessions: int
    ) -> tuple[list[Spent], dict[int, Session]]:
        """Return what turns used, and their sessions. Raises: NotFound, Ambiguous (the project)."""
        with self._store.read() as reader:
            asked = named(reader.projects(), from_windows(project)).id if project else None
            found = reader.spent(since_ms, project_id=asked, sessions=sessions)
            ids = {one.place for one in found if one.by == "session"}
            return found, {one.id: one for one in map(reader.session, filter(None, ids)) if one}

    def patch(self, commit: Item) -> str:
        """Return what a commit changed, as git's patch; empty where its repository is gone."""
        with self._store.read() as reader:
            homes = [one for one in reader.projects() if one.id == commit.project_id]
        hash_ = commit.commit
        roots = reversed(homes[0].roots if homes and hash_ else ())
        return next(filter(None, (commit_patch(root, hash_) for root in roots)), "")

    def recent(self, *types: str, project: str | None, limit: int) -> list[Item]:
        """Return items of some types, newest first. Raises: NotFound, Ambiguous (the project)."""
        with self._store.read() as reader:
            asked = named(reader.projects(), from_windows(project)).id if project else None
            filters = Filters(project_id=asked, types=types, owner=self._owner)
            return reader.recent(filters, limit=limit)

    def happened(self, narrow: SearchOptions, *, project: str | None, limit: int) -> list[Item]:
        """Return what fits some options, newest first; records only where their kind is named.

        Raises: NotFound, Ambiguous (the project, or the session).
        """
        with self._store.read() as reader:
            asked = scoped(self._store, reader, narrow, project=project, owner=self._owner)
            kinds = narrow.kinds or ("observation", "note")
            return reader.recent(msgspec.structs.replace(asked, kinds=kinds), limit=limit)

    def titles(self, sessions: Sequence[Session]) -> dict[int, str]:
        """Return by their ids how a person named sessions, or what they were about.

        That is "" for one that has neither a name nor a summary yet.
        """
        return {
            ran.session.id: ran.named or (ran.summary.title if ran.summary else "")
            for ran in self.runs(sessions)
        }

    def runs(self, sessions: Sequence[Session]) -> list[SessionRun]:
        """Return sessions with what they are called and their summaries, in the same order."""
        with self._store.read() as reader:
            return with_summaries(reader, sessions)

    def as_of_now(self, items: Sequence[Item]) -> list[Item]:
        """Return items, summaries among them without next steps that are done."""
        with self._store.read() as reader:
            ran = {one.session_id: reader.session(one.session_id or 0) for one in items}
            return [
                as_of_now(reader, session, one)
                if one.kind == "summary" and (session := ran[one.session_id])
                else one
                for one in items
            ]

    def reads_naming(self, query: str, *, project: str | None, limit: int) -> list[Item]:
        """Return reads of files, newest first. Raises: NotFound, Ambiguous (the project)."""
        words = plan(query).words
        with self._store.read() as reader:
            asked = scoped(self._store, reader, SearchOptions(), project=project, owner=self._owner)
            return reads_naming(reader, words, asked, limit=limit) if words else []

    def steps(self, ids: Sequence[int]) -> list[Item]:
        """Return the items, reads and `stand_ins` of some ids, in their order, those known."""
        possible = [one for one in ids if 0 < one <= LARGEST_ID]
        with self._store.read() as reader:
            found = {one.id: one for one in reader.items(possible) if is_visible(one, self._owner)}
            found |= reads_by_id(reader, [one for one in possible if one not in found])
            found |= stand_ins(reader, [one for one in possible if one not in found])
        steps = {found[one].id: found[one] for one in possible if one in found}
        return list(steps.values())

    def steps_around(self, anchor: int, *, before: int, after: int) -> list[TimelineEntry]:
        """Return what happened around an item or a read, reads too. Raises: NotFound (neither)."""
        found = self.steps([anchor])
        if not found:
            raise NotFound(f"there is no observation {anchor}", hint="search for it first")
        with self._store.read() as reader:
            return steps_around(reader, found[0], owner=self._owner, before=before, after=after)

    def fixes_of(self, item: Item, *, limit: int) -> list[Item]:
        """Return the fixes of the failure that a fix is about, itself among them, newest first."""
        with self._store.read() as reader:
            filters = Filters(project_id=item.project_id, types=("fix",), owner=self._owner)
            same = reader.with_signature(item.signature, filters, limit=limit)
        return same if item in same else [item, *same]


_POLICIES = Policies()


class WorktreeStore:
    """Implements `store.interface.Store` over another one."""

    def __init__(self, store: Store, folder: str) -> None:
        self._store = store
        self.folder = folder
        self.write, self.check, self.close = store.write, store.check, store.close

    @contextmanager
    def read(self) -> Iterator[StoreReader]:
        """Lend a reader that looks from the folder."""
        with self._store.read() as reader:
            reader.set_folder(self.folder)
            yield reader


def scoped(
    store: Store, reader: StoreReader, narrow: SearchOptions, *, project: str | None, owner: str
) -> Filters:
    """Return `filters_of` a search, but for projects that are not shared, named or around it.

    Raises: NotFound, Ambiguous (the project, or the session).
    """
    asked = filters_of(reader, narrow, project=project, owner=owner)
    if asked.project_id is not None or asked.session_id is not None:
        return asked
    here = store.folder if isinstance(store, WorktreeStore) else ""
    apart = _POLICIES.unshared(reader.projects(), here)
    return msgspec.structs.replace(asked, without=tuple(sorted(apart)))


def uncommitted_at(project: Project, folder: str) -> Uncommitted | None:
    """Return what asks git which files differ from the last commit; None without a worktree."""
    here = [root for root in project.roots if folder and is_inside(folder, root)]
    root = max(here or project.roots[-1:], key=len, default="")
    return partial(uncommitted_paths, root) if root else None
