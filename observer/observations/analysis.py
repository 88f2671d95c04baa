"""The context-free analysis of one event, and the item made of an observation's draft.

The analysis is the expensive part of deriving observations and needs no session, so it may be made
ahead, in another process: an `AnalyzedEvent` carries it, and any other event is analyzed where it
is used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from msgspec.structs import asdict

from observer.code import edits
from observer.code.edits import ChangeSummary, EditFingerprints, summarize_write
from observer.core.events import (
    AnyBody,
    Checkout,
    Command,
    Commit,
    Compaction,
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
    """What an event says by itself; fields that do not apply are empty.

    `change` and `marks` are those of a file write, `result` that of a command, `draft` the
    observation of any other event, None if it gives none.
    """

    change: ChangeSummary = ChangeSummary()
    marks: EditFingerprints = EditFingerprints()
    result: CommandResult = CommandResult()
    draft: ObservationDraft | None = None


class AnalyzedEvent(Recorded):
    """A recorded event that may carry the analysis of its body.

    `place` is where it stands among the events as items are derived from them, if it is not where
    it stands in the log: see `LogReader.by_time`.
    """

    analysis: EventAnalysis | None = None
    place: int = 0


def analyzed(recorded: Recorded) -> AnalyzedEvent:
    """Return an event with its analysis, so that it is made once."""
    if isinstance(recorded, AnalyzedEvent) and recorded.analysis:
        return recorded
    return AnalyzedEvent(**asdict(recorded) | {"analysis": analysis_of(recorded)})


def analysis_of(recorded: Recorded) -> EventAnalysis:
    """Return the analysis that an event carries, or make it."""
    if isinstance(recorded, AnalyzedEvent) and recorded.analysis:
        return recorded.analysis
    return analyze(recorded.event.body, where_of(recorded))


def analyze(body: AnyBody, where: Where) -> EventAnalysis:
    """Return the analysis of an event's body; `where` tells how to show its paths."""
    if isinstance(body, FileWrite):
        return EventAnalysis(change=summarize_write(body), marks=edits.fingerprints_of(body))
    if isinstance(body, Command):
        return EventAnalysis(
            result=outcome.command_result(
                body, command_line.parse_command_line(body.command), where.root
            )
        )
    draft = _DRAFTERS.get(type(body))
    return EventAnalysis(draft=draft(body, where)) if draft else EventAnalysis()


# Any: each function takes the body of its key's type, which a dict's type cannot say.
_DRAFTERS: dict[type[AnyBody], Callable[[Any, Where], ObservationDraft | None]] = {
    Prompt: event_text.prompt,
    Search: lambda body, _: event_text.search(body),
    Delegation: lambda body, _: event_text.delegation(body),
    Compaction: lambda body, _: event_text.compaction(body),
    ToolUse: lambda body, _: event_text.tool_use(body),
    Outcome: lambda body, _: event_text.outcome(body),
    Commit: event_text.commit,
    Checkout: lambda body, _: event_text.checkout(body),
    Rewrite: lambda body, _: event_text.rewrite(body),
    Custom: event_text.custom,
}
"""The draft of each kind of event; file writes and commands are grouped first (`grouping`)."""


def place_of(recorded: Recorded) -> int:
    """Return a number by which events can be compared: the larger came later."""
    placed = recorded.place if isinstance(recorded, AnalyzedEvent) else 0
    return placed or recorded.seq


def where_of(recorded: Recorded) -> Where:
    """Return the folders that an event's paths are shown relative to."""
    return Where(root=recorded.root, cwd=recorded.event.cwd)


def origin_of(recorded: Recorded) -> ItemOrigin:
    """Return the origin of an item that begins with this event."""
    event = recorded.event
    return ItemOrigin(seq=recorded.seq, event=one_line(event.id, 200), at_ms=event.at_ms)


def item(
    draft: ObservationDraft,
    recorded: Recorded,
    *,
    origin: ItemOrigin | None = None,
    times: int = 1,
    chars: int = -1,
) -> Item:
    """Return the item of an observation.

    Args:
        draft: its text.
        recorded: the newest event that it stands for.
        origin: the first event that it stands for, which gives id, uuid and creation time.
        times: the number of events that it stands for.
        chars: the length of all their texts, if not `draft.chars`.
    """
    event = recorded.event
    first = origin or origin_of(recorded)
    by = (f"by sub-agent {one_line(event.agent, 60)}",) if event.agent else ()
    return Item(
        id=item_id(first.seq),
        uuid=item_uuid(first.event, first.at_ms),
        kind="observation",
        type=draft.type,
        title=draft.title or draft.type,
        subtitle=", ".join((draft.subtitle, *by) if draft.subtitle else by),
        narrative=draft.narrative,
        facts=draft.facts,
        concepts=draft.concepts,
        files_read=draft.files_read,
        files_modified=draft.files_modified,
        signature=draft.signature,
        category=draft.category,
        links=draft.links,
        project_id=recorded.project_id,
        session_id=recorded.session_id,
        author=event.author,
        branch=one_line(recorded.branch, 250),
        commit=one_line(_commit_of(recorded), 64),
        content_hash=content_hash(draft.type, draft.title, draft.narrative, *draft.facts),
        discovery_tokens=-(-(draft.chars if chars < 0 else chars) // 4),
        folded=times,
        created_ms=first.at_ms,
        updated_ms=max(event.at_ms, first.at_ms),
    )


def _commit_of(recorded: Recorded) -> str:
    """Return the commit that an event reports, else the one checked out at the time."""
    # The one checked out may be later, or, of an imported history, its newest.
    body = recorded.event.body
    return (isinstance(body, Commit) and body.hash) or recorded.commit


def content_hash(*parts: str) -> str:
    """Return 32 hexadecimal digits of SHA-256, equal for texts that differ only in spacing."""
    text = "|".join(parts)
    text = one_line(text, len(text))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
