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
from observer.observations.session_state import CommandState, Open, State
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
    before: State, recorded: Recorded, body: FileWrite, change: ChangeSummary, chars: int
) -> tuple[State, Item | None]:
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
    after = session_state.wrote(session_state.opened(before, burst), path, change, body.operation)
    return after, _item(told, recorded, burst)


def command(
    before: State, recorded: Recorded, body: Command, verdict: CommandResult
) -> tuple[State, Item | None]:
    """Fold a run into the burst of its command and outcome, or begin one."""
    line = command_line.read(body.command)
    chars = len(body.command) + len(body.output)
    if verdict.ok is not False and (line.is_routine or _only_stages(body.command)):
        return before, None
    # What git took back is told once: a second run takes back something else.
    number = str(recorded.seq) if git_commands.acts(body.command) else ""
    key = session_state.key_of(
        "command", _agent(recorded), body.command, recorded.event.cwd, number
    )
    ended = _outcome(verdict)
    burst = _continued(before, key, recorded, chars)
    if burst.times > 1 and burst.outcome != ended:
        burst = _begun(key, recorded, chars)
    burst = replace(burst, outcome=ended)
    told = command_text.run(body, line, verdict, where=where_of(recorded), times=burst.times)
    name = same_check.named(body.command, root=recorded.root, cwd=recorded.event.cwd)
    is_news = _is_news(before, name, verdict)
    after = session_state.opened(
        session_state.closed(before, "write") if is_news else before, burst
    )
    if before.is_aside or check_runs.sets_aside(command_line.parts_of(body.command)):
        return after, _item(told, recorded, burst)  # what is checked is not the work
    return _ran(after, line, name, verdict), _item(told, recorded, burst)


def _only_stages(command: str) -> bool:
    parts = command_line.parts_of(command)
    staged = [
        name_of(part.words[0]) == "git" and command_line.git_words(part.words)[:1] in _STAGING
        for part in parts
    ]
    return any(staged) and all(
        stages or part.looks for stages, part in zip(staged, parts, strict=True)
    )


def _ran(before: State, line: CommandLine, name: str, verdict: CommandResult) -> State:
    was = before.commands.get(name)
    if verdict.is_cut_off and was and was.ok is False:
        return before  # as red as it was: what this run would have come to is unknown
    run = CommandState(
        ok=None if verdict.is_cut_off else verdict.ok,
        said=verdict.said,
        first_error=verdict.first_error,
        tool=verdict.tool or line.tool,
        is_check=verdict.is_check or line.tool in TOOLS,
    )
    return session_state.ran(before, name, run, _answered(before, name, verdict))


def _answered(before: State, name: str, verdict: CommandResult) -> tuple[str, ...]:
    """Return failing test runs that a passing, broader run of the same runner answers."""
    if not verdict.ok or verdict.passed is None:
        return ()
    wanted = {word for word in name.split() if not word.startswith("-")}
    return tuple(
        head
        for head, ran in before.commands.items()
        if ran.ok is False
        and ran.tool == verdict.tool
        and head != name
        and (same_check.BELOW in head) == (same_check.BELOW in name)
        and wanted <= set(head.split())
    )


def _is_news(before: State, name: str, verdict: CommandResult) -> bool:
    known = before.commands.get(name)
    return verdict.ok is False or (known is not None and known.ok is False)


def _outcome(verdict: CommandResult) -> str:
    parts = (verdict.ok, verdict.passed, verdict.failed, *verdict.failing, verdict.first_error)
    return one_line("|".join(map(str, parts)), 300)


def _continued(before: State, key: str, recorded: Recorded, chars: int) -> Open:
    burst = session_state.burst_of(before, key)
    at_ms = recorded.event.at_ms
    if burst is None or abs(at_ms - burst.last_ms) > WITHIN_MS:
        return _begun(key, recorded, chars)
    return replace(
        burst, last_ms=max(at_ms, burst.last_ms), times=burst.times + 1, chars=burst.chars + chars
    )


def _begun(key: str, recorded: Recorded, chars: int) -> Open:
    origin = origin_of(recorded)
    return Open(key=key, origin=origin, last_ms=origin.at_ms, chars=chars)


def _agent(recorded: Recorded) -> str:
    return recorded.event.agent[:100]


def _item(told: ObservationDraft, recorded: Recorded, burst: Open) -> Item:
    return item(told, recorded, origin=burst.origin, times=burst.times, chars=burst.chars)


_TASK_CHARS = 500
_RESULT_CHARS = 300
"""How much of a result must be equal: a tool may add its own lines to the sub-agent's words."""


def delegation(before: State, recorded: Recorded, body: Delegation) -> tuple[State, Item | None]:
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
        before = session_state.without(before, earlier)
    told_of = (task or known_task, result or known_result)
    origin = origin_of(recorded)
    burst = replace(
        earlier or Open(key="", origin=origin, last_ms=origin.at_ms, times=0, operation=agent),
        key=session_state.key_of("delegation", agent, *told_of),
        told=told_of,
    )
    burst = replace(burst, times=burst.times + 1, chars=max(burst.chars, told.chars))
    after = replace(before, delegations=session_state.added(others, title))
    made = item(told, recorded, origin=burst.origin, times=burst.times, chars=burst.chars)
    return session_state.opened(after, burst), made


def _earlier(before: State, agent: str, task: str, result: str) -> Open | None:
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
