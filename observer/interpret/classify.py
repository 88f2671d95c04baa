"""Which observation a happening gives, as an item.

Part of interpretation (step 6): `TELLERS` find the words, `item` frames them. An event gives
at most one observation. Fixes and rejected attempts, which need several events, are not told here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from observer.events import (
    AnyBody,
    Checkout,
    Commit,
    Custom,
    Delegation,
    Outcome,
    Prompt,
    Rewrite,
    Search,
    ToolUse,
)
from observer.interpret import happenings
from observer.interpret.state import Origin
from observer.interpret.told import Told, Where
from observer.interpret.wording import one_line
from observer.model import Item, Recorded, item_id, item_uuid

# Each teller takes the body of the type it stands under, which a dict's type cannot say.
TELLERS: dict[type[AnyBody], Callable[[Any, Where], Told | None]] = {
    Prompt: happenings.prompt,
    Search: lambda body, _: happenings.search(body),
    Delegation: lambda body, _: happenings.delegation(body),
    ToolUse: lambda body, _: happenings.tool_use(body),
    Outcome: lambda body, _: happenings.outcome(body),
    Commit: happenings.commit,
    Checkout: lambda body, _: happenings.checkout(body),
    Rewrite: lambda body, _: happenings.rewrite(body),
    Custom: happenings.custom,
}
"""Tellers of the happenings that are told by themselves; files and commands fold (`bursts`)."""


def where_of(recorded: Recorded) -> Where:
    """Return against what an event's paths are shown."""
    return Where(root=recorded.root, cwd=recorded.event.cwd)


def origin_of(recorded: Recorded) -> Origin:
    """Return the origin of an item that begins with this event."""
    event = recorded.event
    return Origin(seq=recorded.seq, event=one_line(event.id, 200), at_ms=event.at_ms)


def item(
    told: Told, recorded: Recorded, *, origin: Origin | None = None, times: int = 1, chars: int = -1
) -> Item:
    """Frame what was told as an observation.

    Args:
        told: its words.
        recorded: the newest event that it stands for.
        origin: the first event that it stands for; it gives id, uuid and creation time.
        times: how many happenings it stands for.
        chars: length of all their texts, if not `told.chars`.
    """
    event = recorded.event
    first = origin or origin_of(recorded)
    by = (f"by sub-agent {one_line(event.agent, 60)}",) if event.agent else ()
    return Item(
        id=item_id(first.seq),
        uuid=item_uuid(first.event, first.at_ms),
        kind="observation",
        type=told.type,
        title=told.title or told.type,
        subtitle=", ".join((told.subtitle, *by) if told.subtitle else by),
        narrative=told.narrative,
        facts=told.facts,
        concepts=told.concepts,
        files_read=told.files_read,
        files_modified=told.files_modified,
        signature=told.signature,
        category=told.category,
        project_id=recorded.project_id,
        session_id=recorded.session_id,
        author=event.author,
        branch=one_line(recorded.branch, 250),
        commit=one_line(_commit_of(recorded), 64),
        content_hash=content_hash(told.type, told.title, told.narrative, *told.facts),
        discovery_tokens=-(-(told.chars if chars < 0 else chars) // 4),
        folded=times,
        created_ms=first.at_ms,
        updated_ms=max(event.at_ms, first.at_ms),
    )


def _commit_of(recorded: Recorded) -> str:
    """Return the commit that an event is about, else the one that was checked out."""
    # What was checked out when the event was read may be a later one, or the newest of a history.
    body = recorded.event.body
    return (isinstance(body, Commit) and body.hash) or recorded.commit


def content_hash(*parts: str) -> str:
    """Return 32 hexadecimal digits that are equal for equal words, whatever the spacing."""
    text = "|".join(parts)
    text = one_line(text, len(text))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
