"""Reduce a session's events, in order, to observations and the session's new state.

Use: `SessionReducer(session)`, `add` each event, then `session()`. The items do not depend on how
the events of a session are divided among reducers. What the memory was asked, or given to remember,
needs no observation: searches would find the question instead of its answer.

Events of one kind are grouped into one record, whose id is that of the first: within a turn, and
`WITHIN_MS` of the one before, the writes of one file by one sub-agent, and the calls of one tool,
counted; so are commands that did not fail. A command that failed, that a person typed, or that
takes back work is a record of its own, with equal runs of the same outcome. Commands that only look
around, and edits that a tool refused, give none. A prompt, commit or checkout ends every group.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from observer.code.edits import merge_changes
from observer.commands import check_runs, command_line
from observer.commands.command_line import SimpleCommand, simple_commands
from observer.commands.runners import program_name
from observer.core import events
from observer.core.model import Item, Recorded, Session
from observer.core.own_tools import is_own_tool
from observer.core.routes import is_imported
from observer.core.text import block, first_line, listed, one_line, relative, word_set
from observer.core.value import newest
from observer.observations import (
    conversation,
    event_text,
    quoting,
    session_commits,
    session_state,
    todos,
    turns,
)
from observer.observations.analysis import (
    EventRecord,
    ToolCall,
    analysis_of,
    analyzed,
    completed,
    pending_call,
    same_as,
)
from observer.observations.drafts import FACT, TITLE, ObservationDraft, item, origin_of, where_of
from observer.observations.open_failures import OpenFailure
from observer.observations.session_commits import GitOperation
from observer.observations.session_state import CommandState, OpenGroup, SessionState

_PROGRAM = re.compile(r"(?:\w+=)?[\"'$(`]{0,4}observer(?:-memory)?(?:@[\w.]+|\.__main__)?\Z")
_VERBS = word_set(
    """
    up down status doctor search timeline show why context recall remember forget note post
    today week session sessions projects import install uninstall snippets tools mcp config model
    llm rebuild export undo log policy pause purge backup restore attribution bench daemon du eval
    redact resume retry sync promote web graph tui
    """
)
_BESIDE = word_set("cd export set source . echo printf unset pushd popd sleep true")
"""Programs that prepare a call of observer, or separate its outputs."""


def is_memory_use(body: events.AnyBody) -> bool:
    """Return True if an event only searches the memory or writes to it."""
    match body:
        case events.Search():
            return body.where == "memory"
        case events.ToolUse() | events.Outcome():
            return is_own_tool(body.tool)
        case events.Command():
            return "observer" in body.command and _is_own_line(simple_commands(body.command))
        case _:
            return False


def _is_own_line(parts: Iterable[SimpleCommand]) -> bool:
    """Return True if each pipeline of a line runs observer or prepares that."""
    pipelines: list[list[SimpleCommand]] = []
    for part in parts:
        if pipelines and part.sign == "|":
            pipelines[-1].append(part)
        else:
            pipelines.append([part])
    own = [any(map(_is_own_part, pipeline)) for pipeline in pipelines]
    return any(own) and all(
        is_own_tool or all(program_name(part.words[0]) in _BESIDE for part in pipeline)
        for is_own_tool, pipeline in zip(own, pipelines, strict=True)
    )


def _is_own_part(part: SimpleCommand) -> bool:
    """Return True if a simple command runs observer, directly or by a launcher."""
    words = [word for word in part.words if not word.startswith("-")]
    names = [_PROGRAM.match(program_name(word)) is not None for word in words[:2]]
    verbs = [word.strip("\"'") for word in words[1:3]]
    is_run = any(is_name and verb in _VERBS for is_name, verb in zip(names, verbs, strict=False))
    return is_run and (names[0] or part.words[0] in {"uvx", "pipx", "npx"})


Items = tuple[Item, ...]
GROUPS = 12
WITHIN_MS = 1_800_000
"""Events of one group are no further apart."""
CALLS, CALL = 20, 160
"""Most calls of a group that are shown apart, and characters of each."""
_TASK_CHARS = 500
_RESULT_CHARS = 300
"""Length that must be equal: a tool may append its own lines to the sub-agent's words."""
_GIT = frozenset({"git", "gh"})
Step = tuple[SessionState, Items]


class SessionReducer:
    """Reduces one session's events within a batch.

    `session` is as stored, or new from `session_state.begin`. None is for events outside of
    sessions: each gives an observation by itself, and nothing is grouped.
    """

    def __init__(self, session: Session | None) -> None:
        self._session = session
        self._state = session_state.decode(session.state) if session else SessionState()
        self._last: EventRecord | None = None

    def add(self, recorded: Recorded) -> Items:
        """Add the next event; return the items to insert or replace, by id."""
        return self.add_paired(recorded)[1]

    def add_paired(self, recorded: Recorded) -> tuple[EventRecord, Items]:
        """Add the next event; return it and its items.

        A tool's result is returned completed: its body is the tool call with the result.
        """
        if self._session is None:
            whole = analyzed(recorded)
            return whole, _step(SessionState(), whole)[1]
        self._session = session_state.counted(self._session, recorded)
        whole = completed(self._state, recorded)
        before = self._state
        self._state, items = _step(before, whole)
        old, new = before.turn, self._state.turn
        if old and new and old.origin != new.origin:  # a record now, if nothing came of it
            over = replace(old, is_over=True)
            is_void = turns.says_something(old) and not turns.says_something(over)
            last = whole if is_void else self._last
            items = (*items, *((turns.item_of(over, last),) if last else ()))
        self._last = whole
        return whole, items

    def learn(self, items: Items, failures: Iterable[OpenFailure] = ()) -> None:
        """Take the fixes that the last event completed, and the checks that are red now."""
        if turn := self._state.turn:
            fixes = [made for made in items if made.type == "fix" and made.kind != "record"]
            mended = [made.title for made in fixes if made.folded == 1]  # of known ones not again
            self._state = replace(self._state, turn=turns.with_said(turn, "mended", *mended))
        if self._session:
            own = self._session.id
            seen = tuple(one for one in failures if one.is_red and own in one.sessions)
            self._state = replace(self._state, failing=seen)

    def commit(self, saying: str, paths: Iterable[str]) -> None:
        """Note a commit of the session's changes that was made outside of it."""
        self._state = session_commits.with_later_commit(self._state, saying, paths)

    def discard(self, operations: Iterable[GitOperation]) -> None:
        """Note that changes of the session were discarded outside of it."""
        for operation in operations:
            self._state = session_commits.with_operation(self._state, operation)

    def rewrite(self, became: Mapping[str, str]) -> set[str]:
        """Note that commits were replaced or taken back; return the subjects that are gone.

        `became` as of `session_commits.with_rewritten`.
        """
        before = self._state.commits
        self._state = session_commits.after_rewrite(self._state, became)
        left = map(session_commits.subject_of, self._state.commits)
        return {*map(session_commits.subject_of, before)}.difference(left)

    def take_back(self, paths: Collection[str]) -> None:
        """Note that all that the session did to some files was taken back."""
        self._state = session_commits.without_work(self._state, paths)

    def begin_plan(self) -> None:
        """Note that another session has begun this session's plan."""
        self._state = todos.begun(self._state)

    def state(self) -> SessionState:
        """Return the session's state after the events added so far."""
        return self._state

    def current(self) -> Session | None:
        """Return the session with the events added so far, but its `state` as it was: cheap."""
        return self._session

    def turn(self) -> Items:
        """Return the item of the turn that goes on, if an event of it was added."""
        turn, last = self._state.turn, self._last
        return (turns.item_of(turn, last),) if turn and last else ()

    def session(self) -> Session | None:
        """Return the session with everything added so far."""
        if self._session is None:
            return None
        return replace(self._session, state=session_state.encode(self._state))


def _step(before: SessionState, recorded: EventRecord) -> Step:
    body, pending, turn = recorded.event.body, recorded.pending, before.turn
    if isinstance(body, events.Prompt) and not quoting.words_of(body.text):
        if turn and body.text.lstrip().startswith(quoting.INTERRUPTED):
            before = replace(before, turn=replace(turn, is_interrupted=True))
        return before, ()
    if not pending and before.pending and isinstance(body, ToolCall):
        pending = same_as(before, body)  # whose full report has come
    if pending:
        before = replace(before, pending=tuple(one for one in before.pending if one is not pending))
    is_recall = is_memory_use(body)
    if turn and (is_recall or isinstance(body, ToolCall | events.Delegation)):
        before = replace(before, turn=turns.with_said(turn, "calls", _sort_of(body)))
    if is_recall:
        return before, ()
    if conversation.is_refused(body):  # it never ran
        said = conversation.said_on_refusing(recorded)
        return _with_answers(before, said), said
    step = _STEPS.get(type(body))
    return step(before, recorded, body) if step else (before, ())


def _read(before: SessionState, recorded: Recorded, body: events.FileRead) -> Step:
    paths = event_text.read(body, where_of(recorded)).files_read
    return session_state.with_reads(before, paths), ()


def _search(before: SessionState, recorded: Recorded, _body: events.Search) -> Step:
    after, draft = replace(before, has_searched=True), analysis_of(recorded).draft
    if draft is None:
        return after, ()
    return _called(after, recorded, draft, draft.subtitle, draft.facts[0])


def _reply(before: SessionState, recorded: Recorded, body: events.Reply) -> Step:
    if before.turn and not recorded.event.agent:
        before = replace(before, turn=turns.with_reply(before.turn, body))
    return before, ()


def _delegation(before: SessionState, recorded: Recorded, body: events.Delegation) -> Step:
    """Add a report to the group of the same delegation, however old, or begin one.

    A client may report one up to three times: when the sub-agent starts (its task), when it stops
    (its last words), and when the tool returns (both).
    """
    before = session_commits.with_printed_commits(before, body.result)
    if before.turn and body.result:
        report = f"{body.agent or 'a sub-agent'}: {quoting.finding(body.result)}"
        turn = turns.with_said(before.turn, "reports", one_line(report, 2 * FACT))
        before = replace(before, turn=turn)
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


def _intent(before: SessionState, recorded: Recorded, body: events.Intent) -> Step:
    pending = (*before.pending, pending_call(recorded, body))
    return replace(before, pending=pending[-session_state.INTENTS :]), ()


def _compaction(before: SessionState, recorded: Recorded, body: events.Compaction) -> Step:
    """Record a summary under its first sentence, not under the heading of its first section."""
    first, _, below = quoting.finding(body.summary).partition("\n")
    title = quoting.title_of(below if below and first.endswith(":") else first)
    return before, tuple(replace(made, title=title or made.title) for made in _plain(recorded))


def _moved(before: SessionState, recorded: Recorded, body: events.AnyBody) -> Step:
    after, items = session_state.without_groups(before), _plain(recorded)
    if isinstance(body, events.Commit) and not event_text.is_pulled(body):
        paths = [path for made in items for path in made.files_modified]
        after = session_commits.with_commit(after, body.subject, body.hash, paths)
    return after, items


def _custom(before: SessionState, recorded: Recorded, body: events.Custom) -> Step:
    said = f"{body.name}: {first_line(body.text, 200)}".removesuffix(": ")
    if not body.text.startswith("{"):  # as what the client's decoder does not know, kept whole
        before = replace(before, customs=session_state.added(before.customs, said))
    return before, _plain(recorded)


def _remember(before: SessionState, _recorded: Recorded, body: events.Remember) -> Step:
    said = f"{body.type}: {first_line(body.title or body.content, 200)}"
    return replace(before, remembered=session_state.added(before.remembered, said)), ()


def _plain(recorded: Recorded) -> Items:
    draft = analysis_of(recorded).draft
    return (item(draft, recorded),) if draft else ()


def _sort_of(call: events.AnyBody) -> str:
    """Return the sort of a call, as turns keep it; of git if all that does anything is git."""
    if is_memory_use(call):
        return turns.MEMORY
    parts = command_line.simple_commands(call.command) if isinstance(call, events.Command) else ()
    is_git = [program_name(part.words[0]) in _GIT for part in parts]
    does = any(not git and not part.looks for git, part in zip(is_git, parts, strict=True))
    return turns.GIT if any(is_git) and not does else turns.OTHER


def _write(before: SessionState, recorded: EventRecord, body: events.FileWrite) -> Step:
    """Add a write to the group of its file, or begin one."""
    change, pending, where = analysis_of(recorded).change, recorded.pending, where_of(recorded)
    chars = pending.chars if pending else event_text.chars_of(body)
    before = todos.written(before, recorded, body)
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
    if after.turn and not path.startswith(("/", "~")):
        after = replace(after, turn=turns.with_write(after.turn, path, change.symbols))
    return _put(after, recorded, key, group, draft)


def _command(before: SessionState, recorded: Recorded, body: events.Command) -> Step:
    result = analysis_of(recorded).result
    is_ok = result.ok is not False
    after = session_commits.with_git_commands(before, recorded, body, is_ok=is_ok)
    after = session_commits.with_pull(after, recorded.branch, body)
    ran, items = _ran(after, recorded, body)
    turn = ran.turn
    for path in session_commits.written(body.command, recorded.root, recorded.event.cwd):
        if is_ok and not path.startswith(("/", "~")):
            ran = session_state.with_write(ran, path)
            turn = turn and turns.with_write(turn, path, ())
    for name, run in ran.commands.items():
        is_new = run is not after.commands.get(name) and "git commit" not in name
        # What git did is in its commits; that it did nothing is nobody's news.
        if turn and (result.is_check or run.ok is False) and run.is_check and run.said and is_new:
            turn = turns.with_check(turn, name, run.said)
    return replace(ran, turn=turn), items


def _ran(before: SessionState, recorded: Recorded, body: events.Command) -> Step:
    """Add a run to the group of its command and outcome, or begin one."""
    result = analysis_of(recorded).result
    line = command_line.parse_command_line(body.command)
    if result.ok is not False and line.is_routine:
        return before, ()
    draft = event_text.run(body, line, result, where=where_of(recorded))
    parts = simple_commands(body.command)
    done = (
        session_commits.operations_of(recorded, body, is_ok=True) if "git" in body.command else ()
    )
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
        after, items = _called(before, recorded, draft, "commands", one_line(body.command, CALL))
    if before.is_stashed or check_runs.sets_work_aside(parts):
        return after, items  # it ran without the stashed changes
    name = check_runs.located_head(body.command, root=recorded.root, cwd=recorded.event.cwd)
    run = CommandState(
        ok=None if result.is_cut_off else result.ok,
        said=result.said,
        is_check=result.is_check or line.tool == "git",
    )
    return session_state.with_command(after, name, run), items


def _called(
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


def _tool_use(before: SessionState, recorded: Recorded, body: events.ToolUse) -> Step:
    if listed := todos.listed(before, recorded, body):
        return listed, ()
    if items := conversation.answered_questions(before, recorded, body):
        return _with_answers(before, items), items
    if plan := conversation.approved_plan(before, recorded, body):
        return todos.planned(before, body), plan
    after = session_commits.with_pull(before, recorded.branch, body)
    after = session_commits.with_printed_commits(after, body.output)  # of a task in the background
    draft = event_text.tool_use(body)
    if draft.category:
        return after, (item(draft, recorded),)
    name, _, call = draft.title.partition(": ")
    server, _, action = name.partition(" ")
    asked = f"{action}: {call}" if action and call else action or call
    return _called(after, recorded, draft, server, asked)


def _with_answers(before: SessionState, items: Items) -> SessionState:
    answers = (conversation.answer_of(one) for one in items if conversation.says_something(one))
    said = [one_line(answer, FACT) for answer in answers]
    own = (conversation.answer_of(one) for one in items if one.subtitle == conversation.ANSWERED)
    return replace(
        before,
        turn=before.turn and turns.with_said(before.turn, "answers", *said),
        decided=session_state.added(before.decided, *own),
    )


def _prompt(before: SessionState, recorded: Recorded, body: events.Prompt) -> Step:
    turn = turns.begun(before.turn, recorded, body)
    asked = {turn.title: turn.form} if turn.title else {}
    after = replace(
        session_state.without_groups(before),
        turn=turn,
        asks=newest({**before.asks, **asked}, session_state.ASKS),
        reply=session_state.last_reply(before),
    )
    return after, (turns.item_of(turn, recorded),)


def _end(before: SessionState, recorded: Recorded, body: events.SessionEnd) -> Step:
    # An import takes for the end how far a session's records went.
    ended = before if is_imported(recorded.event) else session_state.without_groups(before)
    over = ended.turn and replace(ended.turn, is_over=True)
    after = replace(ended, pending=(), turn=over)
    if body.uncommitted is not None:
        after = session_commits.with_uncommitted(after, body.uncommitted)
    return after, ()


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


# Any: each function takes the body of its key's type, which a dict's type cannot say.
_STEPS: dict[type[events.AnyBody], Callable[[SessionState, EventRecord, Any], Step]] = {
    events.SessionEnd: _end,
    events.Prompt: _prompt,
    events.Reply: _reply,
    events.FileWrite: _write,
    events.FileRead: _read,
    events.Command: _command,
    events.Search: _search,
    events.Delegation: _delegation,
    events.ToolUse: _tool_use,
    events.Intent: _intent,
    events.Outcome: lambda before, recorded, _: (before, _plain(recorded)),
    events.Compaction: _compaction,
    events.Commit: _moved,
    events.Checkout: _moved,
    events.Rewrite: _moved,
    events.Remember: _remember,
    events.Custom: _custom,
}
