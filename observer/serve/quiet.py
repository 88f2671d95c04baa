"""What the context of the next session says, once, of clients that went quiet."""

from __future__ import annotations

import time
from contextlib import suppress

import msgspec

from observer.clients.config_files.context import current_context
from observer.clients.installers import installed_parts
from observer.clients.quiet import Quiet, find_quiet, last_reports
from observer.clients.registry import clients
from observer.core.disk import replace
from observer.core.errors import ObserverError
from observer.core.paths import Home, read_plain
from observer.core.value import decode_json
from observer.memory.api import Memory

LOOK_EVERY_S = 600.0
FIRST_AFTER_S = 30.0
SESSIONS = 20


class QuietNotice:
    """A notice of clients that went quiet, until an agent's session has begun with it.

    Each is announced once: again only after it has reported something and went quiet anew.
    """

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
        """Bring the notice up to date, and return True if it changed.

        Raises:
            OSError: what was announced cannot be written down.
        """
        before = self.text
        if self._shown and self._was_read():
            announced = self._announced() | {one.client: one.last_ms for one in self._shown}
            replace(self._home.quiet, msgspec.json.encode(announced))
            self._shown = []
        elif not self._shown and time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + LOOK_EVERY_S
            self._shown = self._found(at_ms)
        return self.text != before

    def _was_read(self) -> bool:
        since_ms = max(one.at_ms for one in self._shown)
        agents = {one.name for one in clients().values() if one.context_file}
        return any(
            session.started_ms > since_ms and session.client in agents
            for session in self._memory.sessions(limit=SESSIONS)
        )

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
