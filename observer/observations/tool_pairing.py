"""Pair tool calls with their results, for clients that report the two as separate events.

A call waits in the session's state; the oldest one of the same tool takes the next result.
"""

from __future__ import annotations

from msgspec.structs import replace

from observer.code.edits import summarize_write
from observer.commands.ending import exit_code_of
from observer.core.events import Command, FileRead, FileWrite, Intent, Outcome, Search, ToolUse
from observer.core.model import Recorded
from observer.core.text import block, one_line
from observer.observations import event_text
from observer.observations.analysis import EventRecord, analyze, analyzed, record_of
from observer.observations.drafts import origin_of, where_of
from observer.observations.session_state import PendingTool, SessionState

ToolCall = Command | FileWrite | FileRead | Search | ToolUse
_COMMAND_CHARS = 2000
_INPUT_CHARS = 500


def pending(recorded: Recorded, intent: Intent) -> PendingTool:
    """Return the call to keep until its result comes."""
    asked = intent.of
    waiting = PendingTool(
        origin=origin_of(recorded), tool=one_line(intent.tool, 100), call=_kept(asked)
    )
    if isinstance(asked, FileWrite):
        return replace(
            waiting,
            change=summarize_write(asked),
            chars=event_text.chars_of(asked),
        )
    return waiting


def result_of(state: SessionState, outcome: Outcome) -> PendingTool | None:
    """Return the pending call that a result belongs to: the oldest of the same tool."""
    tool = one_line(outcome.tool, 100)
    return next((one for one in state.pending if one.tool == tool), None)


def completed(state: SessionState, recorded: Recorded) -> EventRecord:
    """Return a result completed with its pending call, any other event with its analysis."""
    outcome = recorded.event.body
    pending = result_of(state, outcome) if isinstance(outcome, Outcome) else None
    if pending is None or not isinstance(outcome, Outcome):
        return analyzed(recorded)
    asked = completed_call(pending, outcome)
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
    subject = _subject(_kept(body))
    tool = one_line("" if isinstance(body, Command) else body.tool, 100)
    same = [one for one in kin if _subject(one.call) == subject]
    return next(iter(same or [one for one in kin if tool and one.tool == tool]), None)


def completed_call(pending: PendingTool, outcome: Outcome) -> ToolCall:
    """Return a call with its result."""
    asked = pending.call
    code = exit_code_of(Command(command="", output=outcome.output, exit_code=outcome.exit_code))
    failed = (
        outcome.failed if outcome.failed is not None else (code != 0 if code is not None else None)
    )
    if isinstance(asked, Command):
        return replace(asked, output=outcome.output, exit_code=code, failed=outcome.failed)
    if isinstance(asked, FileWrite):
        return replace(asked, error=(outcome.output or "failed") if failed else "")
    if isinstance(asked, Search):
        return replace(asked, output=outcome.output)
    if isinstance(asked, ToolUse):
        return replace(asked, output=outcome.output, failed=failed)
    return asked


def _kept(asked: ToolCall) -> ToolCall:
    """Return a call as it is stored: printable and without long texts."""
    match asked:
        case Command():
            return Command(
                command=block(asked.command, _COMMAND_CHARS),
                description=one_line(asked.description, 200),
            )
        case FileWrite():
            return FileWrite(
                path=one_line(asked.path, 1000), operation=asked.operation, tool=_tool(asked.tool)
            )
        case FileRead():
            return FileRead(
                paths=tuple(one_line(path, 1000) for path in asked.paths[:20]),
                lines=one_line(asked.lines, 40),
                tool=_tool(asked.tool),
            )
        case Search():
            return Search(
                query=one_line(asked.query, 300),
                where=asked.where,
                path=one_line(asked.path, 1000),
                tool=_tool(asked.tool),
            )
        case _:
            return ToolUse(tool=_tool(asked.tool), input=block(asked.input, _INPUT_CHARS))


def _tool(name: str) -> str:
    return one_line(name, 100)


def _subject(asked: ToolCall) -> tuple[str, ...]:
    match asked:
        case Command():
            return (asked.command,)
        case FileWrite():
            return (asked.path,)
        case FileRead():
            return asked.paths
        case Search():
            return (asked.query, asked.path)
        case _:
            return (asked.tool, asked.input)
