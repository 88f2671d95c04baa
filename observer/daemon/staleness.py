"""Keeps what is said of items up with the code: woken by what is stored, and where HEAD moves.

All work is done in a thread of its own, at half speed, and written by the writer's thread in short
transactions: neither a drain nor a question waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from observer.core.errors import ObserverError
from observer.core.model import UNASSIGNED, Project
from observer.daemon.health import Health
from observer.daemon.spool_watch import heard
from observer.daemon.writer import WriterThread
from observer.projects import PlaceCache
from observer.staleness.sync import sync_worktree, update_supersessions
from observer.store.interface import Store, Writer

log = logging.getLogger(__name__)

LOOK_S = 5.0
"""A HEAD that moved without any event is noticed within this time."""
PAUSE_S = 1.0
"""What is stored within this time is taken up together."""
REST = 1.0
"""Time rested for each second of work, so that others have the processor."""
LONGEST_REST_S = 0.2


class WorkAbandoned(Exception):
    """The work was put down; it goes on where it was when the daemon starts again."""


class StalenessWorker:
    """The task. `touch` says that something was stored.

    Args:
        store: what is read.
        writer: the thread that writes.
        health: where to say that a repository cannot be read.
        told: called with projects of which something else is said now, in whatever thread.
    """

    def __init__(
        self,
        store: Store,
        writer: WriterThread,
        *,
        health: Health,
        told: Callable[[frozenset[int]], None],
    ) -> None:
        self._store = store
        self._writer = writer
        self._health = health
        self._told = told
        self._places = PlaceCache()
        self._touched: set[int] = set()
        self._compared: dict[int, int] = {}
        self._news = asyncio.Event()
        self._leaving = threading.Event()
        self._rested_s = time.monotonic()

    def touch(self, projects: Iterable[int | None]) -> None:
        """Say that something was stored in these projects."""
        self._touched.update(project for project in projects if project is not None)
        self._news.set()

    async def keep_fresh(self) -> None:
        """Follow whatever is new, until cancelled."""
        try:
            while True:
                touched, self._touched = self._touched, set()
                left = await asyncio.to_thread(self._round, touched)
                self._touched.update(left)
                await asyncio.sleep(PAUSE_S)
                await heard(self._news, within_s=LOOK_S)
                self._news.clear()
        finally:
            self._leaving.set()

    def _round(self, touched: set[int]) -> set[int]:
        """Follow each project that is behind; returns those to try again, as they failed."""
        problems: list[str] = []
        left = touched
        with suppress(WorkAbandoned), _noted(problems):
            behind = self._behind(touched)
            left = {project.id for project in behind}
            for project in behind:
                with _noted(problems):
                    self._follow(project)
                    left.remove(project.id)
        if problems:
            self._health.degrade("truth", "; ".join(problems))
        else:
            self._health.recover("truth")
        return left

    def _follow(self, project: Project) -> None:
        update_supersessions(self._store, self._write, project, self._compared)
        if sync_worktree(self._store, self._write, project, pause=self._pause):
            self._told(frozenset({project.id}))

    def _behind(self, touched: set[int]) -> list[Project]:
        """Return the projects where something was stored, or where a HEAD is not where it was."""
        with self._store.read() as reader:
            heads = {worktree.root: worktree.head for worktree in reader.worktrees()}
            projects = reader.projects()
        return [
            project
            for project in projects
            if project.id != UNASSIGNED
            and (
                project.id in touched or any(self._has_moved(root, heads) for root in project.roots)
            )
        ]

    def _has_moved(self, root: str, heads: dict[str, str]) -> bool:
        place = self._places.at(root)
        return (place.commit if place.root == root else "") != heads.get(root, "")

    def _write(self, work: Callable[[Writer], None]) -> None:
        self._writer.call(self._in_transaction, work)

    def _in_transaction(self, work: Callable[[Writer], None]) -> None:
        with self._store.write() as writer:
            work(writer)

    def _pause(self) -> None:
        """Rest as long as was worked since the last time."""
        worked_s = time.monotonic() - self._rested_s
        if self._leaving.wait(min(REST * worked_s, LONGEST_REST_S)):
            raise WorkAbandoned
        self._rested_s = time.monotonic()


@contextmanager
def _noted(problems: list[str]) -> Iterator[None]:
    """Add what goes wrong inside to the problems."""
    try:
        yield
    except WorkAbandoned:
        raise
    except ObserverError as error:
        problems.append(str(error))
    except Exception as error:
        log.exception("what is said of items was not brought up to date")
        problems.append(f"{type(error).__name__}; see the log")
