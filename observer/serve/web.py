"""The port of the pages: opened by the first link, and again at a start while a cookie may hold.

Until a link is asked for nothing listens, and until somebody comes nothing of the pages is
imported. Another user of this machine is let in by nobody.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from typing import Any, Protocol

from observer.core.errors import DaemonUnavailable
from observer.memory.api import Memory
from observer.serve.servers import HttpServer, LoopbackSocket, listen_tcp
from observer.tools.status import Status

log = logging.getLogger(__name__)


LINK_S = 60
"""How long a link opens the pages."""


class Doorkeeper(Protocol):
    """Who may look at the pages."""

    @property
    def port(self) -> int:
        """The port of before, 0 for none."""

    def keep_port(self, port: int) -> None:
        """Note the port, so that the addresses of pages stay what they are."""

    def link(self, seconds: int) -> str:
        """Return a word that logs in once, within so many seconds."""

    def logout(self) -> None:
        """Let nothing hold any more that was given."""


class Pages(Protocol):
    """The pages, of which the daemon knows no more than this."""

    @property
    def is_open(self) -> bool:
        """Whether somebody may look already."""

    @property
    def access(self) -> Doorkeeper:
        """Who may look."""

    def view(self, name: str) -> str:
        """Return the HTML of a tool's view."""

    def app(self, **parts: Any) -> Any:  # noqa: ANN401 - ASGI is starlette's, whose homes are others
        """Return the pages as an ASGI application."""


class WebDoor:
    """Serves the pages of one daemon; all but `run` return at once."""

    def __init__(
        self,
        pages: Pages,
        memory: Memory,
        status: Callable[[], Status],
        restart: Callable[[], object] = lambda: None,
    ) -> None:
        self._pages = pages
        self._restart = restart
        self._memory = memory
        self._status = status
        self._wanted = asyncio.Event()
        self._leaving = asyncio.Event()
        self._listener: LoopbackSocket | None = None
        if pages.is_open:
            try:
                self._listen()
            except DaemonUnavailable as error:
                log.warning("%s", error)  # the next link tries again

    def link(self) -> dict[str, object]:
        """Return the address that opens the pages once, and how long it does.

        Raises:
            DaemonUnavailable: no port can be opened.
        """
        port = self._listen()
        word = self._pages.access.link(LINK_S)
        url = f"http://127.0.0.1:{port}/login?link={word}"
        return {"url": url, "seconds": LINK_S}

    def logout(self) -> dict[str, object]:
        """Let no browser look any more that may until now; return whether one might."""
        was_open = self._pages.is_open
        if was_open:
            self._pages.access.logout()
        return {"logged_out": was_open}

    def leave(self) -> None:
        """Serve no more."""
        self._leaving.set()
        self._wanted.set()

    async def run(self) -> None:
        """Serve from the first link on, until `leave`."""
        await self._wanted.wait()
        if self._listener is None:
            return
        listener = self._listener
        pages = self._pages.app(
            memory=self._memory,
            status=self._status,
            port=listener.getsockname()[1],
            admit=listener.admit,
            leaving=self._leaving,
            restart=self._restart,
        )
        server = HttpServer(lambda: pages, listener, name="pages")
        served = asyncio.create_task(server.serve())
        await self._leaving.wait()
        server.leave()
        await served

    def _listen(self) -> int:
        """Open the port unless it is open, the one of before if it is free; return its number."""
        if self._listener is None:
            try:
                self._listener = self._port()
            except OSError as error:
                raise DaemonUnavailable(f"no port can be opened: {error.strerror}") from error
            self._pages.access.keep_port(self._listener.getsockname()[1])
            self._wanted.set()
        return int(self._listener.getsockname()[1])

    def _port(self) -> LoopbackSocket:
        try:
            return listen_tcp(self._pages.access.port, only=os.getuid())
        except OSError:
            return listen_tcp(0, only=os.getuid())
