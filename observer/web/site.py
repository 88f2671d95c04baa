"""What the daemon is handed, the pages, imported when asked; what a page is made from and of."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pkgutil import resolve_name
from typing import IO, Any, NamedTuple, Protocol
from urllib.parse import urlencode

from observer.clients.registry import clients
from observer.core.clock import now_ms
from observer.core.errors import BadInput
from observer.core.model import UNASSIGNED, Project
from observer.core.paths import Home
from observer.memory.api import Memory
from observer.memory.values import Diagnosis
from observer.tools import render
from observer.tools.labels import labels
from observer.tools.status import Status
from observer.web.access import Access


class Doctor(Protocol):
    """Looks at a home, and mends what can be mended while the daemon runs."""

    def look(self) -> Sequence[Diagnosis]: ...  # noqa: D102 - as above

    def mend(self, fix: str) -> str: ...  # noqa: D102 - returns what was done, or why it was not


@dataclass(frozen=True, slots=True)
class Site:
    """What the pages are made of.

    `proxy` is the public host of a reverse proxy, and the secret that its requests show;
    `is_of_others` is True for the address of a connection of another user, `admit` is called with
    that of one that has shown a cookie, `restart` ends the daemon soon, and begins another.
    """

    memory: Memory
    status: Callable[[], Status]
    access: Access
    port: int
    is_of_others: Callable[[tuple[str, int]], bool] = lambda _: False
    proxy: tuple[str, str] | None = None
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


@dataclass(frozen=True, slots=True)
class WebPage:
    """A template with its values; `title` stands in the tab. With a name it is a file to keep."""

    template: str
    title: str
    values: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    file: str = ""


class WebFile(NamedTuple):
    """A file to keep: its name, and an open binary file that is closed when it was sent."""

    name: str
    content: IO[bytes]


class Query(dict[str, str]):
    """The fields of an address; one that is not there is empty, and none the more there for it."""

    def __missing__(self, name: str) -> str:
        """Return the value of a field that is not there."""
        return ""


@dataclass(frozen=True, slots=True)
class WebRequest:
    """One request: `query` are the fields of its address, `form` those of a change."""

    site: Site
    path: str
    query: Query
    form: dict[str, str]
    name: str = ""
    """What of the address stands behind the page's own."""

    @property
    def memory(self) -> Memory:
        """What is asked."""
        return self.site.memory

    def address(self, **fields: object) -> str:
        """Return the address of this page with some fields otherwise; an empty one is left out."""
        query = {name: value for name, value in {**self.query, **fields}.items() if value}
        return f"{self.path}?{urlencode(query)}" if query else self.path


Handler = Callable[[WebRequest], "WebPage | WebFile | str"]


def shared(memory: Memory) -> dict[str, Any]:
    """Return what templates of items need: projects, clients, labels, the parts of a turn."""
    known = projects(memory)
    uuids = {one.id: one.uuid for one in known}
    return {
        "projects": known,
        "clients": sorted(clients()),
        "name": memory.project_names(),
        "labels": partial(labels, whole=True),
        "excerpt": render.excerpt,
        "parts": render.parts,
        "project_of": lambda item: uuids.get(item.project_id, ""),
    }


def projects(memory: Memory) -> list[Project]:
    """Return the projects that have a name."""
    return [one for one in memory.projects() if one.id != UNASSIGNED]


def number_in(view: WebRequest, field: str) -> int:
    """Return the id that a field of a form names. Raises BadInput: it names none."""
    text = view.form.get(field, "")
    if not text.isdecimal():
        raise BadInput("no item is named", hint="go back, and choose one")
    return int(text[:18])
