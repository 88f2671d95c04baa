"""One event on its way from the spool to its items, and what it says without those before it.

The analysis is the expensive part of deriving observations and needs no session, so it may be made
ahead, in another process: an `EventRecord` carries it, and any other event is analyzed where it is
used.

Some clients report a tool call and its result as separate events. A call waits in the session's
state; the oldest one of the same tool takes the next result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import asdict, replace

from observer.code.edits import ChangeSummary, summarize_write
from observer.commands import command_line, outcome
from observer.commands.ending import exit_code_of
from observer.commands.result import CommandResult
from observer.core import events
from observer.core.model import Place, Recorded
from observer.core.text import block, one_line
from observer.core.value import Value
from observer.observations import event_text
from observer.observations.drafts import ObservationDraft, Where, origin_of, where_of
from observer.observations.session_state import PendingTool, SessionState

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
    does not matter. Appended, it has the fields of `Recorded`, which are all that is stored and
    exported. `analysis` may be made at any time before it is used. `pending` is the tool call of a
    result that was paired with it: the event's body is then the call with the result, and
    `analysis` holds what was derived from the long texts of the call, which were not kept.
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


def analyze(body: events.AnyBody, where: Where) -> EventAnalysis:
    """Return the analysis of an event's body; `where` tells how to show its paths."""
    if isinstance(body, events.FileWrite):
        return EventAnalysis(change=summarize_write(body))
    if isinstance(body, events.Command):
        line = command_line.parse_command_line(body.command)
        return EventAnalysis(result=outcome.command_result(body, line, where.root))
    draft = _DRAFTERS.get(type(body))
    return EventAnalysis(draft=draft(body, where)) if draft else EventAnalysis()


# Any: each function takes the body of its key's type, which a dict's type cannot say.
_DRAFTERS: dict[type[events.AnyBody], Callable[[Any, Where], ObservationDraft | None]] = {
    events.Search: lambda body, _: event_text.search(body),
    events.Delegation: lambda body, _: event_text.delegation(body),
    events.Compaction: lambda body, _: event_text.compaction(body),
    events.ToolUse: lambda body, _: event_text.tool_use(body),
    events.Outcome: lambda body, _: event_text.outcome(body),
    events.Commit: event_text.commit,
    events.Checkout: lambda body, _: event_text.checkout(body),
    events.Rewrite: lambda body, _: event_text.rewrite(body),
    events.Custom: event_text.custom,
}
"""The draft of each kind of event; file writes and commands are grouped first."""
ToolCall = events.Command | events.FileWrite | events.FileRead | events.Search | events.ToolUse
_KEPT: dict[type[ToolCall], tuple[tuple[str, int], ...]] = {
    events.Command: (("command", 2000), ("description", 200)),
    events.FileWrite: (("path", 1000), ("operation", 20), ("tool", 100)),
    events.FileRead: (("paths", 1000), ("lines", 40), ("tool", 100)),
    events.Search: (("query", 300), ("path", 1000), ("where", 20), ("tool", 100)),
    events.ToolUse: (("input", 500), ("tool", 100)),
}
"""What is kept of a call until its result comes, cut to so many characters."""
_NOT_SUBJECTS = frozenset({"description", "operation", "lines", "where"})
"""Fields by which a full report is not known as that of a call."""
_BLOCKS = frozenset({"command", "input"})


def pending_call(recorded: Recorded, intent: events.Intent) -> PendingTool:
    """Return the call to keep until its result comes."""
    write = intent.of if isinstance(intent.of, events.FileWrite) else None
    return PendingTool(
        origin=origin_of(recorded),
        tool=one_line(intent.tool, 100),
        call=_kept(intent.of),
        change=summarize_write(write) if write else ChangeSummary(),
        chars=event_text.chars_of(write) if write else 0,
    )


def result_of(state: SessionState, outcome: events.Outcome) -> PendingTool | None:
    """Return the pending call that a result belongs to: the oldest of the same tool."""
    tool = one_line(outcome.tool, 100)
    return next((one for one in state.pending if one.tool == tool), None)


def completed(state: SessionState, recorded: Recorded) -> EventRecord:
    """Return a result completed with its pending call, any other event with its analysis."""
    outcome = recorded.event.body
    pending = result_of(state, outcome) if isinstance(outcome, events.Outcome) else None
    if pending is None or not isinstance(outcome, events.Outcome):
        return analyzed(recorded)
    asked = _completed_call(pending.call, outcome)
    said = analyze(asked, where_of(recorded))
    return replace(
        record_of(recorded),
        event=replace(recorded.event, body=asked),
        data="",
        analysis=replace(said, change=pending.change),
        pending=pending,
    )


def same_as(state: SessionState, body: ToolCall) -> PendingTool | None:
    """Return the pending call that a full report replaces: same subject, else same tool."""
    kin = [one for one in state.pending if type(one.call) is type(body)]
    if not kin:
        return None
    asked = _kept(body)
    named = {name for name, _ in _KEPT[type(asked)]} - _NOT_SUBJECTS
    if not isinstance(asked, events.ToolUse):
        named.discard("tool")
    same = [
        one for one in kin if all(getattr(one.call, name) == getattr(asked, name) for name in named)
    ]
    tool = "" if isinstance(asked, events.Command) else asked.tool
    return next(iter(same or [one for one in kin if tool and one.tool == tool]), None)


def _completed_call(asked: ToolCall, outcome: events.Outcome) -> ToolCall:
    code = exit_code_of(
        events.Command(command="", output=outcome.output, exit_code=outcome.exit_code)
    )
    failed = outcome.failed if outcome.failed is not None or code is None else code != 0
    match asked:
        case events.Command():
            return replace(asked, output=outcome.output, exit_code=code, failed=outcome.failed)
        case events.FileWrite():
            return replace(asked, error=(outcome.output or "failed") if failed else "")
        case events.Search():
            return replace(asked, output=outcome.output)
        case events.ToolUse():
            return replace(asked, output=outcome.output, failed=failed)
    return asked


def _kept(asked: ToolCall) -> ToolCall:
    """Return a call as it is stored: printable and without long texts."""
    kept: dict[str, Any] = {}  # fields of several types
    for name, most in _KEPT[type(asked)]:
        value = getattr(asked, name)
        if isinstance(value, tuple):
            kept[name] = tuple(one_line(each, most) for each in value[:20])
        else:
            kept[name] = (block if name in _BLOCKS else one_line)(value, most)
    return type(asked)(**kept)
