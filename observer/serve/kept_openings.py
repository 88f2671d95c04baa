"""Keeps what `observer mcp` answers while the daemon starts: `initialize` and the lists of tools.

A file for each folder and choice of toolsets that a client connected with lately. Its text changes
with the version, the toolsets and the approved rules.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import orjson

from observer import __version__
from observer.core.errors import BadInput
from observer.core.paths import Home, make_private
from observer.core.value import decode_json
from observer.local.pump import hello, path_of
from observer.serve.mcp.server import Hello, McpFront
from observer.serve.worker import Health, Worker

MOST = 32
"""Files that are kept; the one that was asked for longest ago goes first."""
PAUSE_S = 1.0
"""Least time between two looks at what has changed."""


class Asked(msgspec.Struct, frozen=True):
    """What a client connects with; no folder stands for one that no file is kept for."""

    folder: str = msgspec.field(name="cwd")
    tools: str
    variables: tuple[str, ...] = ()


class KeptOpenings(Worker):
    """Writes the kept answers of a home.

    Args:
        home: where the files are.
        health: as of `Worker`.
    """

    def __init__(self, home: Home, health: Health) -> None:
        super().__init__(health)
        self._root = home.root
        self._folder = home.context / "mcp"
        self._asked: dict[Asked, str | None] = {}
        """Oldest first, each with the instructions in its file, None before it is written."""

    def greeted(self, greeting: Hello) -> None:
        """Note that a client connected; called in the event loop's thread."""
        if greeting.version == __version__:
            for folder in ("", greeting.cwd):  # the first is for folders never seen
                asked = Asked(folder, greeting.tools, greeting.variables)
                self._asked[asked] = self._asked.pop(asked, None)
            self.wake()

    async def run(self, front: McpFront) -> None:
        """Write each file whose text changed, until cancelled."""
        self.load()
        while True:
            await self._attempt("kept answers", lambda: self.freshen(front))
            await asyncio.sleep(PAUSE_S)
            await self._news.wait()

    def load(self) -> None:
        """Note what the files of earlier daemons are for; those of other versions are deleted."""
        self._asked = dict.fromkeys(self._kept_before()) | {Asked("", "core"): None} | self._asked

    async def freshen(self, front: McpFront) -> None:
        """Write each file whose text changed, and delete those beyond `MOST`."""
        self._news.clear()
        for asked in list(self._asked)[:-MOST]:
            self._forget(asked)
        for asked, written in list(self._asked.items()):
            client = (asked.folder, asked.tools, asked.variables)
            try:
                said = await asyncio.to_thread(front.instructions, *client)
            except BadInput:  # a toolset of a package that is gone
                self._forget(asked)
                continue
            if said != written:
                self._write(asked, await asyncio.to_thread(front.opening, asked.tools, said))
                self._asked[asked] = said

    def _kept_before(self) -> list[Asked]:
        kept: list[Asked] = []
        for path in sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns):
            with suppress(OSError, msgspec.DecodeError), path.open("rb") as file:
                kept.append(decode_json(file.readline(), Asked))
            if not kept or path != self._path(kept[-1]):
                path.unlink(missing_ok=True)
        return kept

    def _write(self, asked: Asked, answers: Mapping[str, Any]) -> None:
        path = self._path(asked)
        make_private(path.parent)
        fresh = path.with_suffix(".new")
        fresh.write_bytes(_hello(asked) + orjson.dumps(answers))
        fresh.replace(path)

    def _forget(self, asked: Asked) -> None:
        del self._asked[asked]
        self._path(asked).unlink(missing_ok=True)

    def _path(self, asked: Asked) -> Path:
        return Path(path_of(str(self._root), _hello(asked)))


def _hello(asked: Asked) -> bytes:
    return hello(asked.tools, asked.folder, asked.variables)
