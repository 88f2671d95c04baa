"""Keeps the context files of projects fresh while things are stored in them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.errors import ObserverError
from observer.core.events import AnyBody, Event, Remember
from observer.core.model import UNASSIGNED, Project
from observer.core.paths import Home
from observer.daemon.feedback import UsageFeedback
from observer.daemon.health import Health
from observer.daemon.spool_watch import heard
from observer.daemon.status import missing, paused, paused_text
from observer.git.status import uncommitted_paths
from observer.ingest.derived import OnNote
from observer.memory.api import Memory
from observer.spool.pauses import Pause
from observer.spool.spool import Spool
from observer.views import hook_output

log = logging.getLogger(__name__)

LOOK_S = 5.0
"""How often it is looked whether recording was paused or resumed."""
PAUSE_S = 1.0
"""A busy project's files are written at most this often."""
_ALL = 0
"""Stands for every project, and is none's id."""


class ContextWorker:
    """The projects whose files are out of date, and the task that writes them."""

    def __init__(
        self,
        memory: Memory,
        home: Home,
        settings: Settings,
        *,
        feedback: UsageFeedback,
        health: Health,
    ) -> None:
        self._memory = memory
        self._feedback = feedback
        self._home = home
        self._settings = settings
        self._health = health
        self._pauses = Spool(home.spool).pauses
        self._shown: list[Pause] = []
        self._stale: set[int] = set()
        self._news = asyncio.Event()

    def touch(self, projects: Iterable[int | None]) -> None:
        """Note that something was stored in these projects."""
        self._stale.update(project for project in projects if project is not None)
        if self._stale:
            self.wake()

    def touch_all(self) -> None:
        """Have every file made anew; one that holds what it should is not written."""
        self.touch([_ALL])

    def told(self, events: Sequence[Event], project_id: int | None) -> None:
        """Note what a front stored: a note that belongs to no project is in the files of all."""
        if any(self._is_for_all(event.body, project_id) for event in events):
            self.touch([_ALL])

    def wake(self) -> None:
        """Say that there is something to do; from the event loop's thread."""
        self._news.set()

    async def keep_fresh(self) -> None:
        """Write files whenever something was stored, until cancelled."""
        if not self._home.context.exists():  # a purge took all of them
            self.touch([_ALL])
        await self._round("context files", partial(hook_output.sweep, self._home))
        while True:
            await heard(self._news, within_s=LOOK_S)
            await self._round("pauses", self._look)
            if self._news.is_set():
                await self.freshen()
            await asyncio.sleep(PAUSE_S)

    async def freshen(self) -> None:
        """Note what became of what the files told, and write those of every touched project."""
        self._news.clear()
        await self._round("feedback", self._feedback.follow)
        stale, self._stale = self._stale, set()
        if stale:
            await self._round("context files", partial(self._write, stale))

    async def _round(self, part: str, work: Callable[[], object]) -> None:
        try:
            await asyncio.to_thread(work)
        except (OSError, ObserverError) as error:
            self._health.degrade(part, str(error))
        except Exception as error:
            log.exception("%s were not written", part)
            self._health.degrade(part, f"{type(error).__name__}; see the log")
        else:
            self._health.recover(part)

    def _is_for_all(self, body: AnyBody, project_id: int | None) -> bool:
        """Tell whether a note of no project was written; of others' personal ones no file tells."""
        if isinstance(body, Remember):
            return body.scope != "project" and body.owner in {"", self._memory.owner}
        return isinstance(body, OnNote) and project_id == UNASSIGNED

    def _look(self) -> None:
        """Have every file written anew once recording is paused or resumed."""
        at_ms = now_ms()
        self._pauses.tidy(at_ms)
        if (going := self._pauses.now(at_ms)) != self._shown:
            self._shown = going
            self._stale.add(_ALL)
            self._news.set()

    def _notice(self, project: Project, gone: str) -> str:
        """Return what must be said before everything else; `gone` is `missing`."""
        said = [gone]
        here = [one for one in self._shown if one.covers(one.from_ms, project.roots)]
        said += [f"(recording is paused {paused_text(paused(one))})" for one in here]
        return "\n".join(filter(None, said))

    def _write(self, stale: set[int]) -> None:
        gone = missing(self._home)
        for project in self._memory.projects():
            if stale & {project.id, _ALL}:
                hook_output.write(
                    self._memory,
                    project,
                    self._home,
                    self._settings,
                    uncommitted=uncommitted_paths,
                    notice=self._notice(project, gone),
                )
