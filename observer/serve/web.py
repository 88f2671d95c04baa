"""The port of the pages: opened by the first link, and again at a start while a cookie may hold.

Until a link is asked for nothing listens, and until somebody comes nothing of the pages is
imported. Another user of this machine is let in by nobody, but a reverse proxy that is configured:
it may be another user's, and shows a secret.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from observer.core.errors import DaemonUnavailable
from observer.memory.api import Memory
from observer.serve.servers import HttpServer, LoopbackPort, ensure_secret, listen_tcp
from observer.tools.status import Status

log = logging.getLogger(__name__)


LINK_S = 60
"""How long a link opens the pages."""


SECRET_CHARS = 32
"""Fewest characters of the secret that a reverse proxy shows."""


class Proxy(NamedTuple):
    """A reverse proxy: the public name of its host, and the secret that its requests show."""

    host: str
    secret: str


def proxy_of(host: str, file: Path) -> Proxy | None:
    """Return the proxy of a public host, None without one; its secret is made if there is none.

    Raises:
        OSError: the file cannot be read or written, or is not ASCII.
        ValueError: others can read the secret, or it is too short.
    """
    if not host:
        return None
    secret = ensure_secret(file)
    if file.stat().st_mode & 0o077:
        raise ValueError(f"{file} is open to others, run: chmod 600 {file}")
    if len(secret) < SECRET_CHARS:
        raise ValueError(f"{file} holds fewer than {SECRET_CHARS} characters")
    return Proxy(host, secret)


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
        proxy: Proxy | None = None,
    ) -> None:
        self._pages = pages
        self._proxy = proxy
        self._restart = restart
        self._memory = memory
        self._status = status
        self._wanted = asyncio.Event()
        self._leaving = asyncio.Event()
        self._port: LoopbackPort | None = None
        if pages.is_open:
            try:
                self._listen()
            except DaemonUnavailable as error:
                log.warning("%s", error)  # the next link tries again

    def link(self) -> dict[str, object]:
        """Return the address that opens the pages once, and how long it does.

        With a proxy the same link has another address, `proxied`.

        Raises:
            DaemonUnavailable: no port can be opened.
        """
        port = self._listen()
        word = self._pages.access.link(LINK_S)
        path = f"/login?link={word}"
        made: dict[str, object] = {"url": f"http://127.0.0.1:{port}{path}", "seconds": LINK_S}
        return made | ({"proxied": f"https://{self._proxy.host}{path}"} if self._proxy else {})

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
        if self._port is None:
            return
        pages = self._pages.app(
            memory=self._memory,
            status=self._status,
            port=self._port.number,
            admit=self._port.admit,
            is_of_others=self._port.is_of_others,
            proxy=self._proxy,
            leaving=self._leaving,
            restart=self._restart,
        )
        server = HttpServer(lambda: pages, self._port.listeners, name="pages")
        served = asyncio.create_task(server.serve())
        await self._leaving.wait()
        server.leave()
        await served

    def _listen(self) -> int:
        """Open the port unless it is open, the one of before if it is free; return its number."""
        if self._port is None:
            only = None if self._proxy else os.getuid()
            try:
                with suppress(OSError):
                    self._port = listen_tcp(self._pages.access.port, only=only)
                self._port = self._port or listen_tcp(0, only=only)
            except OSError as error:
                raise DaemonUnavailable(f"no port can be opened: {error.strerror}") from error
            self._pages.access.keep_port(self._port.number)
            self._wanted.set()
        return self._port.number
