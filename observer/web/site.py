"""What the daemon is handed: who may look at the pages, and the pages, imported when asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pkgutil import resolve_name
from typing import Any, Protocol

from observer.core.clock import now_ms
from observer.core.paths import Home
from observer.memory.api import Memory
from observer.memory.values import Diagnosis
from observer.tools.status import Status
from observer.web.access import Access


class ReverseProxy(Protocol):
    """A reverse proxy before the pages: the public name of its host, and what its requests show."""

    @property
    def host(self) -> str: ...  # noqa: D102 - as above

    @property
    def secret(self) -> str: ...  # noqa: D102 - as above


class Doctor(Protocol):
    """Looks at a home, and mends what can be mended while the daemon runs."""

    def look(self) -> Sequence[Diagnosis]: ...  # noqa: D102 - as above

    def mend(self, fix: str) -> str: ...  # noqa: D102 - returns what was done, or why it was not


@dataclass(frozen=True, slots=True)
class Site:
    """What the pages are made of.

    `is_of_others` is True for the address of a connection of another user, `admit` is called with
    that of one that has shown a cookie, `restart` ends the daemon soon, and begins another.
    """

    memory: Memory
    status: Callable[[], Status]
    access: Access
    port: int
    is_of_others: Callable[[tuple[str, int]], bool] = lambda _: False
    proxy: ReverseProxy | None = None
    admit: Callable[[tuple[str, int]], None] = lambda _: None
    leaving: asyncio.Event = field(default_factory=asyncio.Event)
    restart: Callable[[], object] = lambda: None
    doctor: Callable[[], Doctor] | None = None


class HomePages:
    """The pages of one home; its key of cookies is made with the first link."""

    def __init__(self, home: Home, doctor: Callable[[], Doctor] | None = None) -> None:
        self._file = home.web
        self._doctor = doctor

    @cached_property
    def access(self) -> Access:
        """Who may look; looking at it makes the key."""
        return Access(self._file, now_ms)

    @property
    def is_open(self) -> bool:
        """Whether somebody may have a cookie that still holds."""
        return self._file.exists() and self.access.is_open

    def view(self, name: str) -> str:
        """Return the HTML of a tool's view; imports the pages, as their first request does."""
        return str(resolve_name("observer.web.tool_views:tool_view")(name))

    def app(self, **parts: Any) -> Any:  # noqa: ANN401 - the parts of a `Site`; ASGI is starlette's
        """Return the pages as an ASGI application, of the parts of a `Site` but who may look."""
        return _LazyPages(Site(access=self.access, doctor=self._doctor, **parts))


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
