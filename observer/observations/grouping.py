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
from observer.observations import event_text, git_commands, session_commits, session_state
from observer.observations.drafts import TITLE, ObservationDraft, item, origin_of, where_of
from observer.observations.session_state import CommandState, OpenGroup, SessionState

Step = tuple[SessionState, tuple[Item, ...]]

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
    key = session_state.key_of("write", _agent(recorded), path)
    group = _continued(before, key, recorded, chars)
    if body.operation == "delete" or group.operation == "delete":
        group = _new_group(recorded, chars)
    group = replace(
        group,
        operation=group.operation or body.operation,
        change=change if group.times == 1 else merge_changes(group.change, change),
    )
    first = replace(body, operation=group.operation)
    draft = event_text.write(first, group.change, where, times=group.times)
    after = session_state.with_write(
        session_state.with_group(before, key, group),
        path,
        change.symbols,
        is_new=body.operation == "create",
    )
    return after, _items(draft, recorded, group)


def command(before: SessionState, recorded: Recorded, body: Command, result: CommandResult) -> Step:
    """Add a run to the group of its command and outcome, or begin one."""
    line = command_line.parse_command_line(body.command)
    if result.ok is not False and line.is_routine:
        return before, ()
    draft = event_text.run(body, line, result, where=where_of(recorded))
    name = check_runs.located_head(body.command, root=recorded.root, cwd=recorded.event.cwd)
    done = git_commands.operations_of(recorded, body, is_ok=True) if "git" in body.command else ()
    # What `rm` removes is seldom work. A second run of a git command reverts something else.
    discards = any(one.kind in session_commits.DISCARDING for one, _ in done)
    place = (recorded.event.cwd, str(recorded.seq) if discards else "")
    key = session_state.key_of("command", _agent(recorded), body.command, *place)
    if discards or _is_alone(recorded, body, draft, result):
        facts = (result.ok, result.passed, result.failed, *result.failing, result.first_error)
        outcome = one_line("|".join(map(str, facts)), 300)
        group = _continued(before, key, recorded, draft.chars)
        if group.times > 1 and group.outcome != outcome:
            group = _new_group(recorded, draft.chars)
        group = replace(group, outcome=outcome)
        after = session_state.with_group(before, key, group)
        items: tuple[Item, ...] = _items(draft, recorded, group)
    else:
        others = {one: group for one, group in before.grouped.items() if one != key}
        before = replace(before, grouped=others)  # it fails anew, if it does
        after, items = called(before, recorded, draft, "commands", one_line(body.command, CALL))
    if before.is_stashed or check_runs.sets_work_aside(command_line.simple_commands(body.command)):
        return after, items  # it ran without the stashed changes
    run = CommandState(
        ok=None if result.is_cut_off else result.ok,
        said=result.said,
        is_check=result.is_check or line.tool == "git",
    )
    return session_state.with_command(after, name, run), items


def _is_alone(
    recorded: Recorded, body: Command, draft: ObservationDraft, result: CommandResult
) -> bool:
    """Return True for a run that others ask for by itself: a failure, a typed or undoing one."""
    if recorded.event.author == "person" or draft.files_modified:
        return True
    if result.ok is False and result.was_run:
        parts = command_line.simple_commands(body.command)
        return result.is_check or not all(part.looks for part in parts)
    return False


def called(
    before: SessionState, recorded: Recorded, draft: ObservationDraft, name: str, call: str
) -> Step:
    """Add a call to the group of its tool, or begin one.

    Args:
        before: the session's state.
        recorded: the event.
        draft: what a record of this call alone says.
        name: the tool, as the group names it.
        call: what it was asked, which the group lists once.
    """
    key = session_state.key_of("call", _agent(recorded), draft.type, name)
    group = _continued(before, key, recorded, draft.chars)
    known = [one for one in group.texts if one != call]
    texts = (*known, one_line(call, CALL))[-CALLS:] if call else group.texts
    group = replace(group, texts=texts)
    if group.times > 1:
        sign = "$ " if draft.type == "command" else ""
        on = f" on {listed(texts, 3)}" if texts else ""
        draft = replace(
            draft,
            title=one_line(f"{name}: {group.times:,} calls{on}", TITLE),
            subtitle="",
            facts=tuple(f"{sign}{one}" for one in texts),
            signature="",
            category="",
        )
    return session_state.with_group(before, key, group), _items(draft, recorded, group)


def tool_use(before: SessionState, recorded: Recorded, body: ToolUse) -> Step:
    """Add a call of another tool to the group of its tool, or of its server, or begin one."""
    draft = event_text.tool_use(body)
    if draft.category:
        return before, (item(draft, recorded),)
    name, _, call = draft.title.partition(": ")
    server, _, action = name.partition(" ")
    asked = f"{action}: {call}" if action and call else action or call
    return called(before, recorded, draft, server, asked)


def _continued(before: SessionState, key: str, recorded: Recorded, chars: int) -> OpenGroup:
    group = before.grouped.get(key)
    at_ms = recorded.event.at_ms
    if group is None or abs(at_ms - group.last_ms) > WITHIN_MS:
        return _new_group(recorded, chars)
    return replace(
        group, last_ms=max(at_ms, group.last_ms), times=group.times + 1, chars=group.chars + chars
    )


def _new_group(recorded: Recorded, chars: int) -> OpenGroup:
    origin = origin_of(recorded)
    return OpenGroup(origin=origin, last_ms=origin.at_ms, chars=chars)


def _agent(recorded: Recorded) -> str:
    return recorded.event.agent[:100]


def _items(draft: ObservationDraft, recorded: Recorded, group: OpenGroup) -> tuple[Item]:
    return (item(draft, recorded, origin=group.origin, times=group.times, chars=group.chars),)


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
    earlier_key, earlier = (next(reports, None) if result else None) or ("", None)
    known_task, known_result = earlier.texts if earlier else ("", "")
    whole = replace(body, task=body.task or known_task, result=body.result or known_result)
    draft = event_text.delegation(whole)
    if draft is None:
        return before, ()
    groups = {key: group for key, group in before.grouped.items() if key != earlier_key}
    before = replace(before, grouped=groups)
    texts = (task or known_task, result or known_result)
    origin = origin_of(recorded)
    group = replace(
        earlier or OpenGroup(origin=origin, last_ms=origin.at_ms, times=0, operation=agent),
        texts=texts,
    )
    key = session_state.key_of("delegation", agent, *texts)
    group = replace(group, times=group.times + 1, chars=max(group.chars, draft.chars))
    return session_state.with_group(before, key, group), _items(draft, recorded, group)
