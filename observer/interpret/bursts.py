"""How happenings of one sort fold into one observation.

Part of interpretation (step 6). Each function takes the state and one happening and returns the
new state with the observation, whose id is that of the burst's first happening.

What folds: saves of one file, and runs of one command with the same outcome; each within
`WITHIN_MS` of the one before, from the same sub-agent. Commands that only look around or stage
files, and edits that a tool refused for its own reasons, make no observation: nothing became of
them that anybody would ask for. Of the rest, `notable` says which are kept as items.
A prompt, commit or checkout ends every burst; a command whose outcome is new ends those of writes,
so that the story "edit, fails, edit, passes" stays four observations.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from observer.events import Command, FileWrite
from observer.interpret import (
    check_runs,
    commandline,
    commands,
    files,
    gitline,
    invocation,
    state,
)
from observer.interpret.changes import Change, merged
from observer.interpret.classify import item, origin_of, where_of
from observer.interpret.commandline import Line
from observer.interpret.concepts import TOOLS
from observer.interpret.runners import name_of
from observer.interpret.state import Open, Ran, State
from observer.interpret.told import Told
from observer.interpret.verdict import Verdict
from observer.interpret.wording import one_line, relative
from observer.model import Item, Recorded

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
    before: State, recorded: Recorded, body: FileWrite, change: Change, chars: int
) -> tuple[State, Item | None]:
    """Fold a write into the burst of its file, or begin one."""
    where = where_of(recorded)
    if body.error:
        is_refused = _REFUSED.search(body.error[:_ERROR_CHARS]) is not None
        made = None if is_refused else item(files.write(body, change, where), recorded, chars=chars)
        return before, made
    path = relative(body.path, where.root, where.cwd)
    key = state.key_of("write", _agent(recorded), path)
    burst = _continued(before, key, recorded, chars)
    if body.operation == "delete" or burst.operation == "delete":
        burst = _begun(key, recorded, chars)
    burst = replace(
        burst,
        operation=burst.operation or body.operation,
        change=change if burst.times == 1 else merged(burst.change, change),
    )
    first = replace(body, operation=burst.operation)
    told = files.write(first, burst.change, where, times=burst.times)
    after = state.wrote(state.opened(before, burst), path, change, body.operation)
    return after, _item(told, recorded, burst)


def command(
    before: State, recorded: Recorded, body: Command, verdict: Verdict
) -> tuple[State, Item | None]:
    """Fold a run into the burst of its command and outcome, or begin one."""
    line = commandline.read(body.command)
    chars = len(body.command) + len(body.output)
    if verdict.ok is not False and (line.is_routine or _only_stages(body.command)):
        return before, None
    # What git took back is told once: a second run takes back something else.
    number = str(recorded.seq) if gitline.acts(body.command) else ""
    key = state.key_of("command", _agent(recorded), body.command, recorded.event.cwd, number)
    ended = _outcome(verdict)
    burst = _continued(before, key, recorded, chars)
    if burst.times > 1 and burst.outcome != ended:
        burst = _begun(key, recorded, chars)
    burst = replace(burst, outcome=ended)
    told = commands.run(body, line, verdict, where=where_of(recorded), times=burst.times)
    name = invocation.named(body.command, root=recorded.root, cwd=recorded.event.cwd)
    is_news = _is_news(before, name, verdict)
    after = state.opened(state.closed(before, "write") if is_news else before, burst)
    if before.is_aside or check_runs.sets_aside(commandline.parts_of(body.command)):
        return after, _item(told, recorded, burst)  # what is checked is not the work
    return _ran(after, line, name, verdict), _item(told, recorded, burst)


def _only_stages(command: str) -> bool:
    parts = commandline.parts_of(command)
    staged = [
        name_of(part.words[0]) == "git" and commandline.git_words(part.words)[:1] in _STAGING
        for part in parts
    ]
    return any(staged) and all(
        stages or part.looks for stages, part in zip(staged, parts, strict=True)
    )


def _ran(before: State, line: Line, name: str, verdict: Verdict) -> State:
    was = before.commands.get(name)
    if verdict.is_cut_off and was and was.ok is False:
        return before  # as red as it was: what this run would have come to is unknown
    run = Ran(
        ok=None if verdict.is_cut_off else verdict.ok,
        said=verdict.said,
        first_error=verdict.first_error,
        tool=verdict.tool or line.tool,
        is_check=verdict.is_check or line.tool in TOOLS,
    )
    return state.ran(before, name, run, _answered(before, name, verdict))


def _answered(before: State, name: str, verdict: Verdict) -> tuple[str, ...]:
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
        and (invocation.BELOW in head) == (invocation.BELOW in name)
        and wanted <= set(head.split())
    )


def _is_news(before: State, name: str, verdict: Verdict) -> bool:
    known = before.commands.get(name)
    return verdict.ok is False or (known is not None and known.ok is False)


def _outcome(verdict: Verdict) -> str:
    parts = (verdict.ok, verdict.passed, verdict.failed, *verdict.failing, verdict.first_error)
    return one_line("|".join(map(str, parts)), 300)


def _continued(before: State, key: str, recorded: Recorded, chars: int) -> Open:
    burst = state.burst_of(before, key)
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


def _item(told: Told, recorded: Recorded, burst: Open) -> Item:
    return item(told, recorded, origin=burst.origin, times=burst.times, chars=burst.chars)
