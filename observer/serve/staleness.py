"""Keeps the validity of items up to date with the code, after events and when HEAD moves.

All work is done in its own thread, at half speed, and written by the writer's thread in short
transactions: neither a drain nor a query waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from observer.core.errors import ObserverError
from observer.core.model import UNASSIGNED, Project
from observer.projects import PlaceCache
from observer.serve.worker import Health, Worker, WriterThread, heard
from observer.staleness.worktree_sync import sync_worktree
from observer.store.interface import Store

log = logging.getLogger(__name__)

LOOK_S = 30.0
"""A HEAD that moved without an event is noticed within this time."""
PAUSE_S = 1.0
"""Changes within this time are processed together."""
REST = 1.0
"""Seconds of pause for each second of work, so that others have the processor."""
LONGEST_REST_S = 0.2


class WorkAbandoned(Exception):
    """The daemon stops; the next one continues the work."""


class StalenessWorker(Worker):
    """Follows the history of touched projects.

    Args:
        store: what is read.
        writer: the thread that writes.
        health: as of `Worker`; repositories that cannot be read are reported there.
        on_change: called with projects whose items changed validity, in any thread.
    """

    def __init__(
        self,
        store: Store,
        writer: WriterThread,
        *,
        health: Health,
        on_change: Callable[[frozenset[int]], None],
    ) -> None:
        super().__init__(health)
        self._store = store
        self._writer = writer
        self._on_change = on_change
        self._places = PlaceCache()
        self._leaving = threading.Event()
        self._rested_s = time.monotonic()

    async def run(self) -> None:
        """Follow what changes, until cancelled."""
        try:
            while True:
                left = await asyncio.to_thread(self._round, self._take_touched())
                self._touched.update(left)
                await asyncio.sleep(PAUSE_S)
                await heard(self._news, within_s=LOOK_S)
                self._news.clear()
        finally:
            self._leaving.set()

    def _round(self, touched: set[int]) -> set[int]:
        """Follow each project that is behind; return the ids of those that failed."""
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
            self._health.degrade("staleness", "; ".join(problems))
        else:
            self._health.recover("staleness")
        return left

    def _follow(self, project: Project) -> None:
        if sync_worktree(
            self._store, partial(self._writer.write, self._store), project, pause=self._pause
        ):
            self._on_change(frozenset({project.id}))

    def _behind(self, touched: set[int]) -> list[Project]:
        """Return the touched projects, and those whose HEAD has moved."""
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

    def _pause(self) -> None:
        """Pause as long as was worked since the last pause."""
        worked_s = time.monotonic() - self._rested_s
        if self._leaving.wait(min(REST * worked_s, LONGEST_REST_S)):
            raise WorkAbandoned
        self._rested_s = time.monotonic()


@contextmanager
def _noted(problems: list[str]) -> Iterator[None]:
    """Append what goes wrong inside the block to the problems."""
    try:
        yield
    except WorkAbandoned:
        raise
    except ObserverError as error:
        problems.append(str(error))
    except Exception as error:
        log.exception("the validity of items was not updated")
        problems.append(f"{type(error).__name__}; see the log")
