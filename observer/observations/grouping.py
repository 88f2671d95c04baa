"""How happenings of one sort fold into one observation.

Part of interpretation (step 6). Each function takes the state and one happening and returns the
new state with the observation, whose id is that of the burst's first happening.

What folds: saves of one file, and runs of one command with the same outcome; each within
`WITHIN_MS` of the one before, from the same sub-agent. Commands that only look around or stage
files, and edits that a tool refused for its own reasons, make no observation: nothing became of
them that anybody would ask for. Of the rest, `notable` says which are kept as items.
A prompt, commit or checkout ends every burst; a command whose outcome is new ends those of writes,
so that the story "edit, fails, edit, passes" stays four observations.

How the reports of one delegation become one observation.

Part of interpretation (step 6). A client may tell one delegation up to three times: when the
sub-agent starts (its task), when it stops (its last words), and when the tool returns (both).
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from observer.code.edits import ChangeSummary, merged
from observer.core.events import Command, Delegation, FileWrite
from observer.core.model import Item, Recorded
from observer.core.text import block, one_line, relative
from observer.observations import command_text, event_text, file_text, git_commands, session_state
from observer.observations.analysis import item, origin_of, where_of
from observer.observations.concepts import TOOLS
from observer.observations.drafts import ObservationDraft
from observer.observations.session_state import CommandState, OpenGroup, SessionState
from observer.outcomes import check_runs, same_check
from observer.outcomes.result import CommandResult
from observer.shell import command_line
from observer.shell.command_line import CommandLine
from observer.shell.runners import name_of

WITHIN_MS = 300_000
_ERROR_CHARS = 400
_STAGING = (["add"], ["stage"])
_REFUSED = re.compile(
    r"has not been read|read it first|modified since|(?:string|text|context) .{0,40}not found"
    r"|not found in file|no (?:match|changes)|\d+ matches|multiple (?:matches|occurrences)"
    r"|not unique|(?:are|is) (?:exactly )?the same|identical|failed to find"
    r"|sibling tool call errored",
    re.IGNORECASE,
)
"""Why tools refuse an edit that the agent then makes otherwise."""


def write(
    before: SessionState, recorded: Recorded, body: FileWrite, change: ChangeSummary, chars: int
) -> tuple[SessionState, Item | None]:
    """Fold a write into the burst of its file, or begin one."""
    where = where_of(recorded)
    if body.error:
        is_refused = _REFUSED.search(body.error[:_ERROR_CHARS]) is not None
        made = (
            None
            if is_refused
            else item(file_text.write(body, change, where), recorded, chars=chars)
        )
        return before, made
    path = relative(body.path, where.root, where.cwd)
    key = session_state.key_of("write", _agent(recorded), path)
    burst = _continued(before, key, recorded, chars)
    if body.operation == "delete" or burst.operation == "delete":
        burst = _begun(key, recorded, chars)
    burst = replace(
        burst,
        operation=burst.operation or body.operation,
        change=change if burst.times == 1 else merged(burst.change, change),
    )
    first = replace(body, operation=burst.operation)
    told = file_text.write(first, burst.change, where, times=burst.times)
    after = session_state.with_write(
        session_state.with_group(before, burst), path, change, body.operation
    )
    return after, _item(told, recorded, burst)


def command(
    before: SessionState, recorded: Recorded, body: Command, result: CommandResult
) -> tuple[SessionState, Item | None]:
    """Fold a run into the burst of its command and outcome, or begin one."""
    line = command_line.read(body.command)
    chars = len(body.command) + len(body.output)
    if result.ok is not False and (line.is_routine or _only_stages(body.command)):
        return before, None
    # What git took back is told once: a second run takes back something else.
    number = str(recorded.seq) if git_commands.has_operations(body.command) else ""
    key = session_state.key_of(
        "command", _agent(recorded), body.command, recorded.event.cwd, number
    )
    ended = _outcome(result)
    burst = _continued(before, key, recorded, chars)
    if burst.times > 1 and burst.outcome != ended:
        burst = _begun(key, recorded, chars)
    burst = replace(burst, outcome=ended)
    told = command_text.run(body, line, result, where=where_of(recorded), times=burst.times)
    name = same_check.named(body.command, root=recorded.root, cwd=recorded.event.cwd)
    is_news = _is_news(before, name, result)
    after = session_state.with_group(
        session_state.without_groups(before, "write") if is_news else before, burst
    )
    if before.is_aside or check_runs.sets_aside(command_line.parts_of(body.command)):
        return after, _item(told, recorded, burst)  # what is checked is not the work
    return _ran(after, line, name, result), _item(told, recorded, burst)


def _only_stages(command: str) -> bool:
    parts = command_line.parts_of(command)
    staged = [
        name_of(part.words[0]) == "git" and command_line.git_words(part.words)[:1] in _STAGING
        for part in parts
    ]
    return any(staged) and all(
        stages or part.looks for stages, part in zip(staged, parts, strict=True)
    )


def _ran(before: SessionState, line: CommandLine, name: str, result: CommandResult) -> SessionState:
    was = before.commands.get(name)
    if result.is_cut_off and was and was.ok is False:
        return before  # as red as it was: what this run would have come to is unknown
    run = CommandState(
        ok=None if result.is_cut_off else result.ok,
        said=result.said,
        first_error=result.first_error,
        tool=result.tool or line.tool,
        is_check=result.is_check or line.tool in TOOLS,
    )
    return session_state.with_command(before, name, run, _answered(before, name, result))


def _answered(before: SessionState, name: str, result: CommandResult) -> tuple[str, ...]:
    """Return failing test runs that a passing, broader run of the same runner answers."""
    if not result.ok or result.passed is None:
        return ()
    wanted = {word for word in name.split() if not word.startswith("-")}
    return tuple(
        head
        for head, ran in before.commands.items()
        if ran.ok is False
        and ran.tool == result.tool
        and head != name
        and (same_check.BELOW in head) == (same_check.BELOW in name)
        and wanted <= set(head.split())
    )


def _is_news(before: SessionState, name: str, result: CommandResult) -> bool:
    known = before.commands.get(name)
    return result.ok is False or (known is not None and known.ok is False)


def _outcome(result: CommandResult) -> str:
    parts = (result.ok, result.passed, result.failed, *result.failing, result.first_error)
    return one_line("|".join(map(str, parts)), 300)


def _continued(before: SessionState, key: str, recorded: Recorded, chars: int) -> OpenGroup:
    burst = session_state.group_of(before, key)
    at_ms = recorded.event.at_ms
    if burst is None or abs(at_ms - burst.last_ms) > WITHIN_MS:
        return _begun(key, recorded, chars)
    return replace(
        burst, last_ms=max(at_ms, burst.last_ms), times=burst.times + 1, chars=burst.chars + chars
    )


def _begun(key: str, recorded: Recorded, chars: int) -> OpenGroup:
    origin = origin_of(recorded)
    return OpenGroup(key=key, origin=origin, last_ms=origin.at_ms, chars=chars)


def _agent(recorded: Recorded) -> str:
    return recorded.event.agent[:100]


def _item(told: ObservationDraft, recorded: Recorded, burst: OpenGroup) -> Item:
    return item(told, recorded, origin=burst.origin, times=burst.times, chars=burst.chars)


_TASK_CHARS = 500
_RESULT_CHARS = 300
"""How much of a result must be equal: a tool may add its own lines to the sub-agent's words."""


def delegation(
    before: SessionState, recorded: Recorded, body: Delegation
) -> tuple[SessionState, Item | None]:
    """Join a report to an earlier one of the same delegation, however long ago, or begin one."""
    agent = one_line(body.agent, 100)
    task, result = block(body.task, _TASK_CHARS), one_line(body.result, _RESULT_CHARS)
    earlier = _earlier(before, agent, task, result)
    known_task, known_result = earlier.told if earlier else ("", "")
    whole = replace(body, task=body.task or known_task, result=body.result or known_result)
    told = event_text.delegation(whole)
    if told is None:
        return before, None
    title, others = told.title, before.delegations
    if earlier:
        half = event_text.delegation(Delegation(task=known_task, result=known_result))
        others = tuple(one for one in others if half is None or one != half.title)
        before = session_state.without_group(before, earlier)
    told_of = (task or known_task, result or known_result)
    origin = origin_of(recorded)
    burst = replace(
        earlier or OpenGroup(key="", origin=origin, last_ms=origin.at_ms, times=0, operation=agent),
        key=session_state.key_of("delegation", agent, *told_of),
        told=told_of,
    )
    burst = replace(burst, times=burst.times + 1, chars=max(burst.chars, told.chars))
    after = replace(before, delegations=session_state.added(others, title))
    made = item(told, recorded, origin=burst.origin, times=burst.times, chars=burst.chars)
    return session_state.with_group(after, burst), made


def _earlier(before: SessionState, agent: str, task: str, result: str) -> OpenGroup | None:
    """Return the oldest report of this agent that told the other half, or the same result."""
    return next(
        (
            burst
            for burst in before.opens
            if burst.key.startswith("delegation|")
            and burst.operation == agent
            and (not task or burst.told[0] in ("", task))
            and result
            and burst.told[1] in ("", result)
        ),
        None,
    )
