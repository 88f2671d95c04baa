"""What a session was asked, tried and checked around a change.

Independent of any query.
"""

from __future__ import annotations

from observer.core.filters import Filters
from observer.core.model import Item, Session
from observer.store.interface import StoreReader

MOMENTS = 400
"""Newest items of a session around its edits that are looked at."""
ATTEMPTS = ("fix", "rejected")
JUDGING = frozenset({"testing", "linting", "types", "build"})
"""Concepts of commands that judge the code."""


def prompt(reader: StoreReader, session: Session, before_ms: int) -> list[Item]:
    """Return the last prompt of a session until a time, or none."""
    prompts = Filters(
        project_id=session.project_id,
        session_id=session.id,
        types=("prompt",),
        until_ms=before_ms + 1,
    )
    return reader.recent(prompts, limit=1)


def moments(
    reader: StoreReader, session: Session, since_ms: int, until_ms: int | None
) -> list[Item]:
    """Return the commands and attempts of a session in a stretch of time, the newest."""
    wanted = Filters(
        project_id=session.project_id,
        session_id=session.id,
        types=("command", *ATTEMPTS),
        since_ms=since_ms,
        until_ms=until_ms,
    )
    return reader.recent(wanted, limit=MOMENTS)


def is_check(item: Item) -> bool:
    """Return True for the run of a command that judges the code."""
    return item.type == "command" and not JUDGING.isdisjoint(item.concepts)
