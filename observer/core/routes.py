"""Routes of events that the hooks of a configuration did not report: of imports and plugins."""

from __future__ import annotations

from observer.core.events import Event

_IMPORT = "/import"
_PLUGIN = "/plugin"


def import_route(client: str) -> str:
    """Return the route of events that are read from a client's own records of a session."""
    return f"{client}{_IMPORT}"


def is_imported(event: Event) -> bool:
    """Return True if an event was read from what a client, or another program, has kept.

    Commits that git has kept are none: they are as current as the repository is.
    """
    return event.route.endswith(_IMPORT) and event.client != "git"


def plugin_route(route: str) -> str:
    """Return the route of what a plugin reports by the same hook as the configuration."""
    return f"{route}{_PLUGIN}"


def is_same_hook(route: str, other: str) -> bool:
    """Return True if two routes lead from one hook of a client, perhaps by its plugin."""
    return route.removesuffix(_PLUGIN) == other.removesuffix(_PLUGIN)


COPIED = "@project-"
"""Stands in the id of a copy between the id of the event and the project that it was copied to."""


def first_id(event_id: str) -> str:
    """Return the id of the event that another one is a copy of; its own if it is none."""
    return event_id.partition(COPIED)[0]
