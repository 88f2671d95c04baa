"""The port of the pages: opened by the first link, and again at a start while a cookie may hold.

Until a link is asked for nothing listens, and until somebody comes nothing of the pages is
imported. Another user of this machine is let in by nobody.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any

from observer.core.clock import now_ms
from observer.core.errors import DaemonUnavailable
from observer.core.paths import Home
from observer.memory.api import Memory
from observer.serve.servers import HttpServer, LoopbackSocket, listen_tcp
from observer.tools.status import Status
from observer.web.access import LINK_MS, Access
from observer.web.view import Site

log = logging.getLogger(__name__)


class WebDoor:
    """Serves the pages of one daemon; all but `run` return at once."""

    def __init__(self, home: Home, memory: Memory, status: Callable[[], Status]) -> None:
        self._home = home
        self._memory = memory
        self._status = status
        self._access: Access | None = None
        self._wanted = asyncio.Event()
        self._leaving = asyncio.Event()
        self._listener: LoopbackSocket | None = None
        if home.web.exists() and Access(home.web, now_ms).is_open:
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
        word = self._opened().link()
        url = f"http://127.0.0.1:{port}/login?link={word}"
        return {"url": url, "seconds": LINK_MS // 1000}

    def logout(self) -> dict[str, object]:
        """Let no browser look any more that may until now; return whether one might."""
        was_open = self._home.web.exists() and self._opened().is_open
        if was_open:
            self._opened().logout()
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
        pages = _LazyPages(
            Site(
                memory=self._memory,
                status=self._status,
                access=self._opened(),
                port=listener.getsockname()[1],
                admit=listener.admit,
                leaving=self._leaving,
            )
        )
        server = HttpServer(lambda: pages, listener, name="pages")
        served = asyncio.create_task(server.serve())
        await self._leaving.wait()
        server.leave()
        await served

    def _opened(self) -> Access:
        self._access = self._access or Access(self._home.web, now_ms)
        return self._access

    def _listen(self) -> int:
        """Open the port unless it is open, the one of before if it is free; return its number."""
        if self._listener is None:
            try:
                self._listener = self._port()
            except OSError as error:
                raise DaemonUnavailable(f"no port can be opened: {error.strerror}") from error
            self._opened().keep_port(self._listener.getsockname()[1])
            self._wanted.set()
        return int(self._listener.getsockname()[1])

    def _port(self) -> LoopbackSocket:
        try:
            return listen_tcp(self._opened().state.port, only=os.getuid())
        except OSError:
            return listen_tcp(0, only=os.getuid())


class _LazyPages:
    """The pages, imported with the first request: templates and Markdown cost 20 MB."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._app: Any = None  # ASGI is starlette's, whose homes are others

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - as above
        if scope["type"] != "http":
            return
        if self._app is None:
            made = await asyncio.to_thread(resolve_name, "observer.web.app:WebApp")
            self._app = self._app or made(self._site)
        await self._app(scope, receive, send)
