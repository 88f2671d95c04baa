"""One event on its way from the spool to its items, and what it says without those before it.

The analysis is the expensive part of deriving observations and needs no session, so it may be made
ahead, in another process: an `EventRecord` carries it, and any other event is analyzed where it is
used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import asdict, replace

from observer.code.edits import ChangeSummary, summarize_write
from observer.commands import command_line, outcome
from observer.commands.result import CommandResult
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
from observer.core.model import Place, Recorded
from observer.core.value import Value
from observer.observations import event_text
from observer.observations.drafts import ObservationDraft, Where, where_of
from observer.observations.session_state import PendingTool

NOWHERE = Place(root="")


class EventAnalysis(Value):
    """What an event says by itself; fields that do not apply are empty.

    `change` is that of a file write, `result` that of a command, `draft` the
    observation of any other event, None if it gives none.
    """

    change: ChangeSummary = ChangeSummary()
    result: CommandResult = CommandResult()
    draft: ObservationDraft | None = None


class EventRecord(Recorded, kw_only=True):
    """An event with all that is known of it so far; each step of its way fills in more.

    Prepared, the event is redacted, `place` is what the file system said about its folder, `data`
    the event as JSON ("" where that was not made), and `is_expired` says that it is older than
    such events are kept. `project_id` is set only where a front named the project; the folder then
    does not matter. Appended, it has the fields of `Recorded` too. `analysis` may be made at any
    time before it is used. `pending` is the tool call of a result that was paired with it: the
    event's body is then the call with the result, and `analysis` holds what was derived from the
    long texts of the call, which were not kept.

    The fields of `Recorded` are a type of their own, since the store and what is exported end
    there: they know nothing of analyses, and a line of an export cannot bring one.
    """

    seq: int = 0
    project_id: int = 0
    place: Place = NOWHERE
    data: str = ""
    is_expired: bool = False
    analysis: EventAnalysis | None = None
    pending: PendingTool | None = None


def record_of(recorded: Recorded) -> EventRecord:
    """Return an event of the log as a record to fill up; one that is on its way as it is."""
    if isinstance(recorded, EventRecord):
        return recorded
    return EventRecord(**asdict(recorded))


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
        return EventAnalysis(change=summarize_write(body))
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
