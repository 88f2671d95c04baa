"""How an event came, and its place in time: routes of imports and plugins, and the order. Pure.

Live, events are interpreted as they come; what is derived anew reads them by their own times.
"""

from __future__ import annotations

from dataclasses import dataclass

from observer.core.events import Event, kind_of

_IMPORT = "/import"
BY_PLUGIN = "/plugin"
"""End of the route of what a plugin reports by the same hook as the configuration."""


def import_route(client: str) -> str:
    """Return the route of events that are read from a client's own records of a session."""
    return f"{client}{_IMPORT}"


def is_imported(event: Event) -> bool:
    """Return True if an event was read from what a client, or another program but git, has kept."""
    return event.route.endswith(_IMPORT) and event.client != "git"


COPIED = "@project-"
"""Stands in the id of a copy between the id of the event and the project that it was copied to."""


def first_id(event_id: str) -> str:
    """Return the id of the event that another one is a copy of; its own if it is none."""
    return event_id.partition(COPIED)[0]


BESIDE_MS = 5_000
"""How late hooks report that run beside each other: these stay as they came."""
SAID = frozenset(
    ("remember", "revise", "approve", "forget", "undo", "enriched", "triage", "shared")
)  # fmt: skip
"""What is done to notes and items stays as it came: it is about what was known at that time."""


@dataclass(slots=True)
class Order:
    """Places the events of one project as they came, by the newest that was heard, or imported."""

    heard_ms: int = 0
    imported_ms: int = 0

    def is_late(self, event: Event) -> bool:
        """Take the next event; return True if it happened before one that came before it."""
        return self.place(
            event.at_ms,
            kind_of(event.body),
            event.client,
            in_session=bool(event.session),
            is_imported=is_imported(event),
        )[1]

    def place(
        self, at_ms: int, kind: str, client: str, *, in_session: bool, is_imported: bool
    ) -> tuple[int, bool]:
        """Take the next event; return the time by which it is ordered, and whether it is late.

        Commits stay as they came: a pull brings old ones. The end of a session is never late.
        """
        heard_ms, imported_ms = self.heard_ms, self.imported_ms
        if client == "git" or kind in SAID:
            return max(at_ms, heard_ms), False
        if is_imported:
            is_late = at_ms < imported_ms or at_ms < heard_ms
            self.imported_ms = max(at_ms, imported_ms)
        elif in_session:
            is_late = at_ms < heard_ms - BESIDE_MS or at_ms < imported_ms
            self.heard_ms = max(at_ms, heard_ms)
        else:
            is_late = False
        is_own = is_late or is_imported
        return at_ms if is_own else max(at_ms, heard_ms), is_late and kind != "session-end"
