"""Routes of events that no hook reported: those of an import."""

from __future__ import annotations

from observer.core.events import Event

_IMPORT = "/import"


def import_route(client: str) -> str:
    """Return the route of events that are read from a client's own records of a session."""
    return f"{client}{_IMPORT}"


def is_imported(event: Event) -> bool:
    """Return True if an event was read from a client's own records of a session."""
    return bool(event.session) and event.route.endswith(_IMPORT)
