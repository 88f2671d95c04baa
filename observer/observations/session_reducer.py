"""Reduce a session's events, in order, to observations and the session's new state.

Use: `SessionReducer(session)`, `add` each event, then `session()`. The items do not depend on how
the events of a session are divided among reducers. What the memory was asked, or given to remember,
needs no observation: searches would find the question instead of its answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import reduce
from typing import Any

from msgspec.structs import replace

from observer.commands import command_line
from observer.commands.command_line import SimpleCommand, simple_commands
from observer.commands.runners import program_name
from observer.core import events
from observer.core.model import Item, Recorded, Session
from observer.core.own_tools import is_own_tool
from observer.core.routes import is_imported
from observer.core.text import first_line, relative, word_set
from observer.core.value import newest
from observer.observations import (
    conversation,
    event_text,
    git_commands,
    grouping,
    prompts,
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
from observer.observations.drafts import item, where_of
from observer.observations.git_commands import GitOperation
from observer.observations.open_failures import OpenFailure
from observer.observations.session_state import SessionState

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
        if self._state.turn:
            self._state = replace(self._state, turn=turns.with_fixes(self._state.turn, items))
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
    if isinstance(body, events.Prompt) and not prompts.words_of(body.text):
        if turn and prompts.is_interruption(body.text):
            before = replace(before, turn=replace(turn, is_interrupted=True))
        return before, ()
    if not pending and before.pending and isinstance(body, ToolCall):
        pending = same_as(before, body)  # whose full report has come
    if pending:
        before = replace(before, pending=tuple(one for one in before.pending if one is not pending))
    is_recall = is_memory_use(body)
    if turn and (is_recall or isinstance(body, ToolCall | events.Delegation)):
        before = replace(before, turn=turns.with_call(turn, _sort_of(body)))
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
    return grouping.called(after, recorded, draft, draft.subtitle, draft.facts[0])


def _reply(before: SessionState, recorded: Recorded, body: events.Reply) -> Step:
    if before.turn and not recorded.event.agent:
        before = replace(before, turn=turns.with_reply(before.turn, body))
    return before, ()


def _delegation(before: SessionState, recorded: Recorded, body: events.Delegation) -> Step:
    after, items = grouping.delegation(before, recorded, body)
    if after.turn and body.result:
        after = replace(after, turn=turns.with_report(after.turn, body.agent, body.result))
    return session_commits.with_printed_commits(after, body.result), items


def _intent(before: SessionState, recorded: Recorded, body: events.Intent) -> Step:
    pending = (*before.pending, pending_call(recorded, body))
    return replace(before, pending=pending[-session_state.INTENTS :]), ()


def _compaction(before: SessionState, recorded: Recorded, body: events.Compaction) -> Step:
    """Record a summary under its first sentence, not under the heading of its first section."""
    first, _, below = quoting.finding(body.summary).partition("\n")
    title = prompts.title_of(below if below and first.endswith(":") else first)
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
    change, pending = analysis_of(recorded).change, recorded.pending
    chars = pending.chars if pending else event_text.chars_of(body)
    after = todos.written(before, recorded, body)
    after, items = grouping.write(after, recorded, body, change, chars)
    path = relative(body.path, recorded.root, recorded.event.cwd)
    if after.turn is None or body.error or path.startswith(("/", "~")):
        return after, items
    return replace(after, turn=turns.with_write(after.turn, path, change.symbols)), items


def _command(before: SessionState, recorded: Recorded, body: events.Command) -> Step:
    result = analysis_of(recorded).result
    is_ok = result.ok is not False
    after = session_commits.with_git_commands(before, recorded, body, is_ok=is_ok)
    after = session_commits.with_pull(after, recorded.branch, body)
    ran, items = grouping.command(after, recorded, body, result)
    turn = ran.turn
    for path in git_commands.written(body.command, recorded.root, recorded.event.cwd):
        if is_ok and not path.startswith(("/", "~")):
            ran = session_state.with_write(ran, path)
            turn = turn and turns.with_write(turn, path, ())
    for name, run in ran.commands.items():
        is_new = run is not after.commands.get(name) and "git commit" not in name
        # What git did is in its commits; that it did nothing is nobody's news.
        if turn and (result.is_check or run.ok is False) and run.is_check and run.said and is_new:
            turn = turns.with_check(turn, name, run.said)
    return replace(ran, turn=turn), items


def _tool_use(before: SessionState, recorded: Recorded, body: events.ToolUse) -> Step:
    if listed := todos.listed(before, recorded, body):
        return listed, ()
    if items := conversation.answered_questions(before, recorded, body):
        return _with_answers(before, items), items
    if plan := conversation.approved_plan(before, recorded, body):
        return todos.planned(before, body), plan
    after = session_commits.with_pull(before, recorded.branch, body)
    after = session_commits.with_printed_commits(after, body.output)  # of a task in the background
    return grouping.tool_use(after, recorded, body)


def _with_answers(before: SessionState, items: Items) -> SessionState:
    said = [conversation.answer_of(one) for one in items if conversation.says_something(one)]
    own = (conversation.answer_of(one) for one in items if one.subtitle == conversation.ANSWERED)
    return replace(
        before,
        turn=before.turn and reduce(turns.with_answer, said, before.turn),
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
