"""Keeps the context files of projects fresh; they say, once, which clients went quiet."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property, partial

import msgspec

from observer.clients.config_files.context import current_context
from observer.clients.installers import installed_parts
from observer.clients.quiet import Quiet, find_quiet, last_reports
from observer.clients.registry import clients
from observer.core.clock import now_ms
from observer.core.disk import replace
from observer.core.errors import ObserverError
from observer.core.events import Event, Remember
from observer.core.model import UNASSIGNED, Project
from observer.core.paths import Home, read_plain
from observer.core.value import decode_json
from observer.git.process import uncommitted_paths
from observer.local.given import START, GivenLog
from observer.local.pauses import Pause
from observer.memory.api import Memory
from observer.observations.note_reducer import OnNote
from observer.serve.worker import Services, Worker, heard
from observer.tools import hook_output
from observer.tools.status import missing, paused, paused_text

LOOK_EVERY_S = 600.0
FIRST_AFTER_S = 30.0
SESSIONS = 20


class QuietNotice:
    """A notice of clients that went quiet, until a session has begun with it; each once."""

    def __init__(self, home: Home, memory: Memory) -> None:
        self._home = home
        self._memory = memory
        self._next_s = time.monotonic() + FIRST_AFTER_S
        self._shown: list[Quiet] = []

    @property
    def text(self) -> str:
        """The notice; "" for none."""
        found = "; ".join(map(str, self._shown))
        return f"({found}: nothing of it is remembered; see: observer doctor)" if found else ""

    def look(self, *, at_ms: int) -> bool:
        """Bring the notice up to date, and return True if it changed; raise OSError."""
        before = self.text
        if self._shown:
            since_ms = max(one.at_ms for one in self._shown)
            agents = {one.name for one in clients().values() if one.context_file}
            if any(
                session.started_ms > since_ms and session.client in agents
                for session in self._memory.sessions(limit=SESSIONS)
            ):
                announced = self._announced() | {one.client: one.last_ms for one in self._shown}
                replace(self._home.quiet, msgspec.json.encode(announced))
                self._shown = []
        elif time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + LOOK_EVERY_S
            self._shown = self._found(at_ms)
        return self.text != before

    def _found(self, at_ms: int) -> list[Quiet]:
        announced = self._announced()
        try:
            context = current_context(self._home)
            last = last_reports(self._home)
        except ObserverError:  # doctor says more of either
            return []
        used = (
            find_quiet(client, context, last, at_ms=at_ms)
            for client in clients().values()
            if client.transcripts
        )
        return [
            one
            for one in used
            if one
            and announced.get(one.client) != one.last_ms
            and "hooks" in installed_parts(one.client, context)
        ]

    def _announced(self) -> dict[str, int]:
        with suppress(OSError, msgspec.MsgspecError):
            return decode_json(read_plain(self._home.quiet), dict[str, int])
        return {}


LOOK_S = 30.0  # how often it is checked whether a pause of recording is over
PAUSE_S = 1.0  # least time between two writes of a busy project's files
_ALL = 0  # stands for every project; no project has this id


class ContextWorker(Worker):
    """Writes the context files of touched projects, made of the memory."""

    def __init__(self, services: Services, memory: Memory) -> None:
        super().__init__(services)
        self._memory = memory
        self._shown: list[Pause] = []
        self._quiet = QuietNotice(self._home, memory)
        self._given = GivenLog(self._home.given)

    def touch(self, projects: Iterable[int | None]) -> None:
        """Write the files of these projects soon; what is in none (None) is shown in all."""
        super().touch(_ALL if project is None else project for project in projects)

    def paused(self, name: str) -> None:
        """Look at the pauses of recording soon, if the name is that of their files."""
        if name in {"pauses", ""}:
            self.wake()

    def touch_noted(self, events: Sequence[Event], project_id: int | None) -> None:
        """Touch all projects if one of these events is about a note of no project."""
        for body in (event.body for event in events):
            if isinstance(body, Remember):  # personal notes of other owners do not count
                is_for_all = body.scope != "project" and body.owner in {"", self._memory.owner}
            else:
                is_for_all = isinstance(body, OnNote) and project_id == UNASSIGNED
            if is_for_all:
                self.touch([None])

    async def run(self) -> None:
        """Write files when something was stored, until cancelled."""
        if not self._home.context.exists():  # a purge took all of them
            self.touch([None])
        await self._attempt_in_thread("context files", partial(hook_output.sweep, self._home))
        while True:
            await heard(self._news, within_s=LOOK_S)
            await self._attempt_in_thread("pauses", self._look)
            if self._news.is_set():
                await self.freshen()
            await asyncio.sleep(PAUSE_S)

    async def freshen(self) -> None:
        """Write the files of every touched project."""
        self._news.clear()
        if stale := self._take_touched():
            await self._attempt_in_thread("context files", partial(self._write, stale))

    def _look(self) -> None:
        at_ms = now_ms()
        self._spool.pauses.tidy(at_ms)
        if (going := self._spool.pauses.now(at_ms)) != self._shown:
            self._shown = going
            self.touch([None])
        if self._quiet.look(at_ms=at_ms):
            self.touch([None])

    def _write(self, stale: set[int]) -> None:
        gone = missing(self._home)
        for project in self._memory.projects():
            if not stale & {project.id, _ALL}:
                continue
            self._note_starts(project)
            here = [one for one in self._shown if one.covers(one.from_ms, project.roots)]
            stopped = [f"(recording is paused {paused_text(paused(one))})" for one in here]
            hook_output.write(
                self._memory,
                project,
                self._home,
                self._settings,
                uncommitted=uncommitted_paths,
                notice="\n".join(filter(None, (gone, *stopped, self._quiet.text))),
            )

    @cached_property
    def _begun(self) -> set[tuple[str, str]]:
        """Sessions whose start is noted; read with the first look, not as the daemon starts."""
        return {(one.client, one.session) for one in self._given.since(0) if one.sort == START}

    def _note_starts(self, project: Project) -> None:
        """Note which sessions began with the files that are about to be written anew."""
        for session in self._memory.sessions(project=project.uuid, limit=SESSIONS):
            key = (session.client, session.external)
            if key in self._begun or session.parent:
                continue
            self._begun.add(key)
            handle, to_ms = f"s{session.id}", session.started_ms
            given = hook_output.given_at_start(self._home, session)
            if given and self._memory.accounts.events(handle, "session-start", to_ms=to_ms):
                self._given.add(given)
