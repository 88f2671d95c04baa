"""The state of a session between events: frozen, bounded, stored as JSON in `Session.state`.

Every function returns a new `SessionState`. Nothing else is carried from one event to the next, so
a batch may end after any event, and a restart changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from observer.code.edits import ChangeSummary, Marks
from observer.core.events import Command, FileRead, FileWrite, Search, ToolUse, kind_of
from observer.core.model import Item
from observer.core.text import distinct, one_line
from observer.core.value import Value, reread
from observer.observations.open_failures import OpenFailure
from observer.observations.open_steps import OpenStep
from observer.observations.prompts import Ask
from observer.observations.todos import Point

GROUPS = 12
INTENTS = 16
FILES = 100
COMMANDS = 30
ASKS = 24
SAYINGS = 20
"""Most commits, searches, delegations, lessons … of one sort that a session keeps."""
SAYING = 300
SYMBOLS_OF_FILE = 8
FILE_WRITE = kind_of(FileWrite(path=""))


class ItemOrigin(Value):
    """The event that an item counts from: the first of a burst."""

    seq: int
    event: str
    at_ms: int


class OpenGroup(Value):
    """A burst that may grow: what is needed to tell it again with one more happening.

    `told` are the task and the result of a delegation so far; `outcome` the result that a further
    run must have in common.
    """

    key: str
    origin: ItemOrigin
    last_ms: int
    times: int = 1
    chars: int = 0
    operation: str = ""
    change: ChangeSummary = ChangeSummary()
    told: tuple[str, ...] = ()
    outcome: str = ""


class PendingTool(Value):
    """A tool that is about to run; `of` is without its long texts: `change` and `marks` tell."""

    origin: ItemOrigin
    tool: str
    of: Command | FileWrite | FileRead | Search | ToolUse
    change: ChangeSummary = ChangeSummary()
    marks: Marks = Marks()
    chars: int = 0


class FileState(Value):
    """What a session did to one file; `is_dirty` until a commit takes it in.

    `is_staged` while git's index has it as it is, `is_aside` while git's stash does; `is_undone`:
    nothing of it is there any more.
    `kept` is what the last commit took in.
    """

    reads: int = 0
    writes: int = 0
    added: int = 0
    removed: int = 0
    symbols: tuple[str, ...] = ()
    fate: str = ""
    is_dirty: bool = False
    is_staged: bool = False
    is_aside: bool = False
    is_undone: bool = False
    kept: FileState | None = None


class CommandState(Value):
    """How a command ended last; `since` are the files changed since it began to fail.

    `writes` counts what the session had written by then; `is_again` holds where it passed, as the
    time before, and nothing was written in between.
    """

    ok: bool | None = None
    said: str = ""
    first_error: str = ""
    tool: str = ""
    is_check: bool = False
    runs: int = 1
    since: tuple[str, ...] = ()
    writes: int = 0
    is_again: bool = False


class TodoList(Value):
    """A to-do list as it stands; `key` is the agent that keeps it, or the file that it is in."""

    key: str
    origin: ItemOrigin
    points: tuple[Point, ...] = ()
    times: int = 1
    chars: int = 0


class AnsweredPrompt(Value):
    """The prompt that replies answer: its item, title and beginning; and what they said of late."""

    item: int = 0
    title: str = ""
    asked: str = ""
    is_question: bool = False
    said: tuple[str, ...] = ()


class SessionState(Value):
    """All that is known of a session. Oldest first; the oldest go when there is no room.

    `plan` is the heading of a plan that was made and not begun; `question` waits for an answer;
    `achieved` is what the agent said it has changed since the last commit; `later` are the commits
    that took in its files from outside; `failing` the checks that it saw fail and that are red.
    `stash` are the files of the session in each entry of git's stash, the newest last; `is_aside`
    while work is there and nothing new was begun: what is checked then is not the work.
    """

    opens: tuple[OpenGroup, ...] = ()
    intents: tuple[PendingTool, ...] = ()
    files: dict[str, FileState] = msgspec.field(default_factory=dict)
    commands: dict[str, CommandState] = msgspec.field(default_factory=dict)
    stash: tuple[tuple[str, ...], ...] = ()
    is_aside: bool = False
    asks: tuple[Ask, ...] = ()
    heard: AnsweredPrompt = AnsweredPrompt()
    last_reply: str = ""
    lessons: tuple[str, ...] = ()
    achieved: tuple[str, ...] = ()
    plan: str = ""
    question: str = ""
    steps: tuple[OpenStep, ...] = ()
    lists: tuple[TodoList, ...] = ()
    compactions: tuple[str, ...] = ()
    failing: tuple[OpenFailure, ...] = ()
    fixed: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    delegations: tuple[str, ...] = ()
    customs: tuple[str, ...] = ()
    remembered: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    counts: dict[str, int] = msgspec.field(default_factory=dict)


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(SessionState)
_V = TypeVar("_V")


def encode(state: SessionState) -> bytes:
    """Return the state as JSON; `decode` gives back an equal one."""
    return _ENCODER.encode(state)


def decode(data: bytes) -> SessionState:
    """Return the state of a session; no bytes are a new session's.

    Raises:
        StoreUnavailable: the bytes are not a state of this version; a rebuild makes it anew.
    """
    return reread(_DECODER, data, of="session") if data else SessionState()


def key_of(*parts: str) -> str:
    """Return a short key for a burst, the same for the same parts."""
    key = "|".join(parts)
    if len(key) <= 200 and key.isprintable():
        return key
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{parts[0]}|{digest[:32]}"


def added(sayings: tuple[str, ...], *new: str) -> tuple[str, ...]:
    """Return the sayings with new ones at the end, each once, the oldest gone if too many."""
    fresh = [shown for text in new if (shown := one_line(text, SAYING)) and shown not in sayings]
    return (*sayings, *fresh)[-SAYINGS:] if fresh else sayings


def with_count(state: SessionState, kind: str, agent: str) -> SessionState:
    """Count an event of a kind, and note the sub-agent it came from."""
    counts = {**state.counts, kind: state.counts.get(kind, 0) + 1}
    if not agent:
        return replace(state, counts=counts)
    return replace(state, counts=counts, agents=added(state.agents, agent))


def with_group(state: SessionState, burst: OpenGroup) -> SessionState:
    """Return the state with a burst as its newest, in place of an earlier one of its key."""
    others = [other for other in state.opens if other.key != burst.key]
    return replace(state, opens=(*others, burst)[-GROUPS:])


def group_of(state: SessionState, key: str) -> OpenGroup | None:
    """Return the open burst of a key."""
    for burst in state.opens:
        if burst.key == key:
            return burst
    return None


def without_group(state: SessionState, burst: OpenGroup) -> SessionState:
    """Return the state without one open burst."""
    return replace(state, opens=tuple(one for one in state.opens if one is not burst))


def without_groups(state: SessionState, kind: str = "") -> SessionState:
    """Return the state without open bursts of a kind, or of any kind."""
    mark = f"{kind}|" if kind else ""
    kept = [burst for burst in state.opens if not burst.key.startswith(mark)]
    return state if len(kept) == len(state.opens) else replace(state, opens=tuple(kept))


def with_pending(state: SessionState, pending: PendingTool) -> SessionState:
    """Return the state with one more intent."""
    return replace(state, intents=(*state.intents, pending)[-INTENTS:])


def without_pending(state: SessionState, pending: PendingTool) -> SessionState:
    """Return the state without an intent."""
    return replace(state, intents=tuple(one for one in state.intents if one is not pending))


def with_reads(state: SessionState, paths: Iterable[str]) -> SessionState:
    """Note files that were read."""
    files = dict(state.files)
    for path in paths:
        touched = files.pop(path, FileState())
        files[path] = replace(touched, reads=touched.reads + 1)
    return replace(state, files=_newest(files, FILES))


def with_write(
    state: SessionState, path: str, change: ChangeSummary, operation: str
) -> SessionState:
    """Note a file that was changed, also for every command that fails at this time."""
    files = dict(state.files)
    touched = files.pop(path, FileState())
    is_born = operation == "create" and not touched.writes
    files[path] = replace(
        touched,
        writes=touched.writes + 1,
        added=touched.added + change.added,
        removed=touched.removed + change.removed,
        symbols=distinct((*touched.symbols, *change.symbols), SYMBOLS_OF_FILE),
        fate="created" if is_born else "deleted" if operation == "delete" else touched.fate,
        is_dirty=True,
        is_staged=False,
        is_aside=False,
        is_undone=False,
    )
    unaware = {
        head: replace(with_command, since=(*with_command.since, path)[-5:])
        for head, with_command in state.commands.items()
        if with_command.ok is False and path not in with_command.since
    }
    commands = {**state.commands, **unaware} if unaware else state.commands
    return replace(state, files=_newest(files, FILES), commands=commands, is_aside=False)


def with_command(
    state: SessionState, head: str, run: CommandState, resolves: Iterable[str] = ()
) -> SessionState:
    """Note how a command ended; `resolves` are failing commands that its success answers."""
    commands = dict(state.commands)
    before = commands.pop(head, None)
    fixed = state.fixed
    for failing in (head, *resolves) if run.ok else ():
        was = before if failing == head else commands.pop(failing, None)
        if was and was.ok is False and was.is_check:
            fixed = added(fixed, _fix_said(failing, was))
    since = before.since if before and before.ok is False and not run.ok else ()
    writes = state.counts.get(FILE_WRITE, 0)
    is_again = before is not None and bool(before.ok and run.ok) and before.writes == writes
    runs = before.runs + 1 if before else 1
    commands[head] = replace(run, runs=runs, since=since, writes=writes, is_again=is_again)
    return replace(state, commands=_newest(commands, COMMANDS), fixed=fixed)


def with_fixes(state: SessionState, items: Iterable[Item]) -> SessionState:
    """Note the arcs that have come to their end: they know better what mended a command."""
    for item in items:
        if item.type == "rejected":
            state = replace(state, rejected=added(state.rejected, item.title))
        elif item.type == "fix":
            head = item.facts[0].removeprefix("$ ")
            others = tuple(said for said in state.fixed if not said.startswith(f"{head} failed"))
            said = item.subtitle
            if not item.category:
                said += f" ({item.title.removeprefix('Fixed: ')})"
            elif item.folded > 1:  # the project knows it from an earlier session
                said = ""
            state = replace(_settled(state, head), fixed=added(others, said))
    return state


def _settled(state: SessionState, head: str) -> SessionState:
    """Return the state without a failing command that was mended, whatever showed it."""
    was = state.commands.get(head)
    if was is None or was.ok is not False:
        return state
    return replace(state, commands={one: r for one, r in state.commands.items() if one != head})


def _fix_said(head: str, was: CommandState) -> str:
    error = f" ({one_line(was.first_error, 140)})" if was.first_error else ""
    after = f" after changes to {', '.join(was.since)}" if was.since else " again"
    return f"{head} failed{error}, passes{after}"


def _newest(entries: dict[str, _V], at_most: int) -> dict[str, _V]:
    """Drop the oldest of a dict that was copied for this."""
    while len(entries) > at_most:
        del entries[next(iter(entries))]
    return entries
