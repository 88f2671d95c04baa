"""Claude Code transcripts as the hook payloads that the client would have sent.

They are read as `observer import` reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from observer.importers.shelf.claude_code import HookCalls, place_of, rows_of
from observer.importers.source import Problems

Json = dict[str, Any]


class HookEvent(NamedTuple):
    """One hook call: its time, its event and payload, and the branch that was checked out."""

    at_ms: int
    event: str
    payload: Json
    branch: str


class Transcript:
    """The hook calls of one session, in order.

    Args:
        paths: its transcripts.
        session: its id; records of other sessions in the same files are left out.
    """

    relocate: Callable[[str], str] = str
    """Rewrites the JSON of a payload, to map folders; to be set before `events` is read."""

    def __init__(self, paths: Iterable[Path], session: str) -> None:
        self.session = session
        self._rows = rows_of(paths, session, problems=Problems(), known=frozenset())
        self.folder, _ = place_of(self._rows)

    @cached_property
    def events(self) -> list[HookEvent]:
        """The hook calls."""
        return [
            HookEvent(call.at_ms, call.event, self._relocated(call.payload), call.branch)
            for call in self._calls()
        ]

    def files(self) -> list[str]:
        """Return the files that its calls name, as they name them."""
        given = (call.payload.get("tool_input") for call in self._calls())
        return [str(each.get("file_path", "")) for each in given if isinstance(each, dict)]

    def _calls(self) -> HookCalls:
        return HookCalls(self._rows, self.session, {})

    def _relocated(self, payload: object) -> Json:
        text = self.relocate(msgspec.json.encode(payload).decode())
        return msgspec.json.decode(text, type=Json)
