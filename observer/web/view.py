"""What a page is made from and what it is made of, for its handler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any, NamedTuple
from urllib.parse import urlencode

from observer.clients.registry import clients
from observer.core.errors import BadInput
from observer.core.model import UNASSIGNED, Project
from observer.memory.api import Memory
from observer.tools import render
from observer.tools.labels import labels
from observer.web.site import Site


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
    """The fields of an address; one that is not there is empty."""

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
