"""Group events of one kind into one record: writes, runs of commands and tools, delegations.

Each function takes the session's state and one event, and returns the new state with the record,
whose id is that of the group's first event.

Within a turn, and `WITHIN_MS` of the one before, the writes of one file by one sub-agent are a
record, and the calls of one tool, counted; so are commands that did not fail. A command that
failed, that a person typed, or that takes back work is a record of its own, with equal runs of the
same outcome. Commands that only look around, and edits that a tool refused, give none. A prompt,
commit or checkout ends every group.

A client may report one delegation up to three times: when the sub-agent starts (its task), when it
stops (its last words), and when the tool returns (both).
"""

from __future__ import annotations

from msgspec.structs import replace

from observer.code.edits import ChangeSummary, merge_changes
from observer.commands import check_runs, command_line
from observer.commands.result import CommandResult
from observer.core.events import Command, Delegation, FileWrite, ToolUse
from observer.core.model import Item, Recorded
from observer.core.text import block, listed, one_line, relative
from observer.core.value import newest
from observer.observations import event_text, git_commands, session_commits, session_state
from observer.observations.drafts import TITLE, ObservationDraft, item, origin_of, where_of
from observer.observations.session_state import CommandState, OpenGroup, SessionState

Step = tuple[SessionState, tuple[Item, ...]]

GROUPS = 12
WITHIN_MS = 1_800_000
CALLS, CALL = 20, 160
"""Most calls of a group that are shown apart, and characters of each."""


def write(
    before: SessionState, recorded: Recorded, body: FileWrite, change: ChangeSummary, chars: int
) -> Step:
    """Add a write to the group of its file, or begin one."""
    where = where_of(recorded)
    if body.error:  # the agent makes it in another way
        return before, ()
    path = relative(body.path, where.root, where.cwd)
    key, group = _group(before, recorded, chars, "write", path)
    if body.operation == "delete" or group.operation == "delete":
        group = _begun(recorded, chars)
    group = replace(
        group,
        operation=group.operation or body.operation,
        change=change if group.times == 1 else merge_changes(group.change, change),
    )
    first = replace(body, operation=group.operation)
    draft = event_text.write(first, group.change, where, times=group.times)
    is_new = body.operation == "create"
    after = session_state.with_write(before, path, change.symbols, is_new=is_new)
    return _put(after, recorded, key, group, draft)


def command(before: SessionState, recorded: Recorded, body: Command, result: CommandResult) -> Step:
    """Add a run to the group of its command and outcome, or begin one."""
    line = command_line.parse_command_line(body.command)
    if result.ok is not False and line.is_routine:
        return before, ()
    draft = event_text.run(body, line, result, where=where_of(recorded))
    parts = command_line.simple_commands(body.command)
    done = git_commands.operations_of(recorded, body, is_ok=True) if "git" in body.command else ()
    # What `rm` removes is seldom work. A second run of a git command reverts something else.
    discards = any(one.kind in session_commits.DISCARDING for one, _ in done)
    is_failure = result.ok is False and result.was_run
    # Others ask by itself for a failure, and for what a person typed or what undoes work.
    is_alone = recorded.event.author == "person" or draft.files_modified or discards
    is_alone = is_alone or (
        is_failure and (result.is_check or not all(part.looks for part in parts))
    )
    place = (recorded.event.cwd, str(recorded.seq) if discards else "")
    key, group = _group(before, recorded, draft.chars, "command", body.command, *place)
    if is_alone:
        facts = (result.ok, result.passed, result.failed, *result.failing, result.first_error)
        outcome = one_line("|".join(map(str, facts)), 300)
        if group.times > 1 and group.outcome != outcome:
            group = _begun(recorded, draft.chars)
        after, items = _put(before, recorded, key, replace(group, outcome=outcome), draft)
    else:
        before = _without(before, key)  # it fails anew, if it does
        after, items = called(before, recorded, draft, "commands", one_line(body.command, CALL))
    if before.is_stashed or check_runs.sets_work_aside(parts):
        return after, items  # it ran without the stashed changes
    name = check_runs.located_head(body.command, root=recorded.root, cwd=recorded.event.cwd)
    run = CommandState(
        ok=None if result.is_cut_off else result.ok,
        said=result.said,
        is_check=result.is_check or line.tool == "git",
    )
    return session_state.with_command(after, name, run), items


def called(
    before: SessionState, recorded: Recorded, draft: ObservationDraft, name: str, call: str
) -> Step:
    """Add a call to the group of its tool, or begin one.

    `draft` is what a record of this call alone says, `name` the tool, and `call` what it was asked,
    which the group lists once.
    """
    key, group = _group(before, recorded, draft.chars, "call", draft.type, name)
    known = [one for one in group.texts if one != call]
    texts = (*known, one_line(call, CALL))[-CALLS:] if call else group.texts
    if group.times > 1:
        sign = "$ " if draft.type == "command" else ""
        on = f" on {listed(texts, 3)}" if texts else ""
        draft = ObservationDraft(
            type=draft.type,
            title=one_line(f"{name}: {group.times:,} calls{on}", TITLE),
            facts=tuple(f"{sign}{one}" for one in texts),
        )
    return _put(before, recorded, key, replace(group, texts=texts), draft)


def tool_use(before: SessionState, recorded: Recorded, body: ToolUse) -> Step:
    """Add a call of another tool to the group of its tool, or of its server, or begin one."""
    draft = event_text.tool_use(body)
    if draft.category:
        return before, (item(draft, recorded),)
    name, _, call = draft.title.partition(": ")
    server, _, action = name.partition(" ")
    asked = f"{action}: {call}" if action and call else action or call
    return called(before, recorded, draft, server, asked)


_TASK_CHARS = 500
_RESULT_CHARS = 300
"""Length that must be equal: a tool may append its own lines to the sub-agent's words."""


def delegation(before: SessionState, recorded: Recorded, body: Delegation) -> Step:
    """Add a report to the group of the same delegation, however old, or begin one."""
    agent = one_line(body.agent, 100)
    task, result = block(body.task, _TASK_CHARS), one_line(body.result, _RESULT_CHARS)
    # The oldest report of this agent with the missing half, or with the same result.
    reports = (
        (key, group)
        for key, group in before.grouped.items()
        if key.startswith("delegation|")
        and group.operation == agent
        and (not task or group.texts[0] in ("", task))
        and group.texts[1] in ("", result)
    )
    begun = ("", replace(_begun(recorded, 0), operation=agent, texts=("", ""), times=0))
    key, group = next(reports, begun) if result else begun
    known_task, known_result = group.texts
    whole = replace(body, task=body.task or known_task, result=body.result or known_result)
    draft = event_text.delegation(whole)
    if draft is None:
        return before, ()
    texts, chars = (task or known_task, result or known_result), max(group.chars, draft.chars)
    group = replace(group, texts=texts, times=group.times + 1, chars=chars)
    now = session_state.key_of("delegation", agent, *texts)
    return _put(_without(before, key), recorded, now, group, draft)


def _group(
    before: SessionState, recorded: Recorded, chars: int, kind: str, *names: str
) -> tuple[str, OpenGroup]:
    """Return the group that an event goes on with, or begins, with its key."""
    key = session_state.key_of(kind, recorded.event.agent[:100], *names)
    group, at_ms = before.grouped.get(key), recorded.event.at_ms
    if group is None or abs(at_ms - group.last_ms) > WITHIN_MS:
        return key, _begun(recorded, chars)
    last_ms, times = max(at_ms, group.last_ms), group.times + 1
    return key, replace(group, last_ms=last_ms, times=times, chars=group.chars + chars)


def _begun(recorded: Recorded, chars: int) -> OpenGroup:
    return OpenGroup(origin=origin_of(recorded), last_ms=recorded.event.at_ms, chars=chars)


def _without(before: SessionState, key: str) -> SessionState:
    return replace(before, grouped={k: one for k, one in before.grouped.items() if k != key})


def _put(
    before: SessionState, recorded: Recorded, key: str, group: OpenGroup, draft: ObservationDraft
) -> Step:
    """Return the state with a group as its newest, and its record."""
    grouped = {**_without(before, key).grouped, key: group}
    made = item(draft, recorded, origin=group.origin, times=group.times, chars=group.chars)
    return replace(before, grouped=newest(grouped, GROUPS)), (made,)
