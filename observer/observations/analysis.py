"""What a happening says by itself, whatever session it belongs to.

Part of interpretation (step 6), and the costly part of it. The fold makes a gist of each event it
is given, unless one was made beforehand where there was time for it, and came with the event.

Which observation a happening gives, as an item.

Part of interpretation (step 6): `_DRAFTERS` find the words, `item` frames them. An event gives
at most one observation. Fixes and rejected attempts, which need several events, are not told here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from msgspec.structs import asdict

from observer.code import edits
from observer.code.edits import ChangeSummary, Marks, change_of
from observer.core.events import (
    AnyBody,
    Checkout,
    Command,
    Commit,
    Custom,
    Delegation,
    FileWrite,
    Outcome,
    Prompt,
    Rewrite,
    Search,
    ToolUse,
)
from observer.core.model import Item, Recorded, item_id, item_uuid
from observer.core.text import one_line
from observer.core.value import Value
from observer.observations import event_text
from observer.observations.drafts import ObservationDraft, Where
from observer.observations.session_state import ItemOrigin
from observer.outcomes import outcome
from observer.outcomes.result import CommandResult
from observer.shell import command_line


class EventAnalysis(Value):
    """The change and marks of a write, the result on a command, words for what does not fold.

    `told` is None where there is nothing to tell; the others say nothing where they do not apply.
    """

    change: ChangeSummary = ChangeSummary()
    marks: Marks = Marks()
    result: CommandResult = CommandResult()
    told: ObservationDraft | None = None


class AnalyzedEvent(Recorded):
    """A recorded event that may have come with the gist of its body."""

    analysis: EventAnalysis | None = None


def analyzed(recorded: Recorded) -> AnalyzedEvent:
    """Return an event with its gist, which all who look at it then share."""
    if isinstance(recorded, AnalyzedEvent) and recorded.analysis:
        return recorded
    return AnalyzedEvent(**asdict(recorded) | {"analysis": analysis_of(recorded)})


def analysis_of(recorded: Recorded) -> EventAnalysis:
    """Return the gist that an event came with, or make it."""
    if isinstance(recorded, AnalyzedEvent) and recorded.analysis:
        return recorded.analysis
    return analyze(recorded.event.body, where_of(recorded))


def analyze(body: AnyBody, where: Where) -> EventAnalysis:
    """Make the gist of a happening."""
    if isinstance(body, FileWrite):
        return EventAnalysis(change=change_of(body), marks=edits.of(body))
    if isinstance(body, Command):
        return EventAnalysis(result=outcome.read(body, command_line.read(body.command), where.root))
    tell = _DRAFTERS.get(type(body))
    return EventAnalysis(told=tell(body, where)) if tell else EventAnalysis()


# Each teller takes the body of the type it stands under, which a dict's type cannot say.
_DRAFTERS: dict[type[AnyBody], Callable[[Any, Where], ObservationDraft | None]] = {
    Prompt: event_text.prompt,
    Search: lambda body, _: event_text.search(body),
    Delegation: lambda body, _: event_text.delegation(body),
    ToolUse: lambda body, _: event_text.tool_use(body),
    Outcome: lambda body, _: event_text.outcome(body),
    Commit: event_text.commit,
    Checkout: lambda body, _: event_text.checkout(body),
    Rewrite: lambda body, _: event_text.rewrite(body),
    Custom: event_text.custom,
}
"""Tellers of the happenings that are told by themselves; files and commands fold (`bursts`)."""


def where_of(recorded: Recorded) -> Where:
    """Return against what an event's paths are shown."""
    return Where(root=recorded.root, cwd=recorded.event.cwd)


def origin_of(recorded: Recorded) -> ItemOrigin:
    """Return the origin of an item that begins with this event."""
    event = recorded.event
    return ItemOrigin(seq=recorded.seq, event=one_line(event.id, 200), at_ms=event.at_ms)


def item(
    told: ObservationDraft,
    recorded: Recorded,
    *,
    origin: ItemOrigin | None = None,
    times: int = 1,
    chars: int = -1,
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
