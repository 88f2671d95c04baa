"""Where notes belong: to a project or to none, and to all or to one owner. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from observer.knowledge.values import Note
from observer.model import UNASSIGNED, Item, Project
from observer.recall.handles import around


class Place(NamedTuple):
    """Where a note belongs: a project or none, and whose it is alone."""

    project_id: int | None
    owner: str


def place_of(item: Item) -> Place:
    """Return where an item belongs."""
    return Place(item.project_id, item.owner)


def is_near(item: Item, place: Place) -> bool:
    """Tell whether a note of that place may know an item."""
    return place.project_id is None or item.project_id in {None, place.project_id}


def project_of(
    note: Note, chosen: int | None, projects: Sequence[Project], folder: str
) -> int | None:
    """Return the project that a note will belong to, 0 for one that nobody knows yet."""
    if note.scope != "project":
        return None
    if chosen is not None or not folder:
        return chosen or UNASSIGNED
    inside = around(projects, folder)
    return inside.id if inside else 0
