"""The context-free analysis of one event: what it says without those before it.

The analysis is the expensive part of deriving observations and needs no session, so it may be made
ahead, in another process: an `EventRecord` carries it, and any other event is analyzed where it is
used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from observer.code import edits
from observer.code.edits import summarize_write
from observer.commands import command_line, outcome
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
    Rewrite,
    Search,
    ToolUse,
)
from observer.core.model import Recorded
from observer.observations import event_text
from observer.observations.drafts import ObservationDraft, Where, where_of
from observer.observations.event_record import EventAnalysis, EventRecord, record_of


def analyzed(recorded: Recorded) -> EventRecord:
    """Return an event with its analysis, so that it is made once."""
    record = record_of(recorded)
    return record if record.analysis else replace(record, analysis=analysis_of(record))


def analysis_of(recorded: Recorded) -> EventAnalysis:
    """Return the analysis that an event carries, or make it."""
    if isinstance(recorded, EventRecord) and recorded.analysis:
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
