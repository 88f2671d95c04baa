"""When a session begins, goes on and ends, and its state between events.

The client reports the end of a session, or the daemon reports it as `idle`, as for a client that
died. An ended session becomes active again with the next event under its client's own session id.

The state is frozen, bounded, and stored compressed in `Session.state`. Every function returns a new
`SessionState`. Nothing else is carried from one event to the next, so a batch may end after any
event, and a restart changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from observer.code.edits import ChangeSummary
from observer.core import events
from observer.core.model import Recorded, Session
from observer.core.text import distinct, first_line, one_line
from observer.core.value import Value, decode_state, encode_state, newest
from observer.observations import turns
from observer.observations.drafts import ItemOrigin
from observer.observations.open_failures import OpenFailure
from observer.observations.quoting import Form, words_of
from observer.observations.turns import Turn

SYNTHETIC = "ppid:"
"""Prefix of session ids made from a process id, for clients that send none."""
REUSED_AFTER_MS = 12 * 3_600_000
"""After this long without events a process id belongs to another process."""
_ONGOING = frozenset({"resume", "compact", "clear"})


def begin(recorded: Recorded) -> Session:
    """Return the session that begins with this event, which is not yet counted.

    If earlier events of it were purged or are too old, the session keeps its id.
    """
    event = recorded.event
    return Session(
        id=recorded.session_id or recorded.seq,
        external=event.session,
        client=event.client,
        project_id=recorded.project_id,
        cwd=event.cwd,
        branch=one_line(recorded.branch, 250),
        started_ms=event.at_ms,
        last_ms=event.at_ms,
    )


def continues(session: Session | None, event: events.Event) -> bool:
    """Return True if an event belongs to the newest session with its client's session id.

    A client's own id always resumes. An id made from a process id begins a new session after an
    end, after a second start, or after `REUSED_AFTER_MS` without events.
    """
    if session is None:
        return False
    if not event.session.startswith(SYNTHETIC):
        return True
    if session.ended_ms is not None:
        return event.at_ms <= session.ended_ms
    if isinstance(event.body, events.SessionStart) and event.body.source not in _ONGOING:
        return session.prompts == 0
    return event.at_ms - session.last_ms <= REUSED_AFTER_MS


def counted(session: Session, recorded: Recorded) -> Session:
    """Return the session with one more event counted; its `state` is the caller's."""
    event = recorded.event
    session = replace(
        session,
        events=session.events + 1,
        started_ms=min(session.started_ms, event.at_ms),
        cwd=session.cwd or event.cwd,
        branch=one_line(recorded.branch, 250) or session.branch,
    )
    last_ms = max(session.last_ms, event.at_ms)
    match event.body:
        case events.SessionEnd(reason="idle"):
            # The daemon reports it long after the last event, which is when the session ended.
            return replace(session, status="idle", ended_ms=session.last_ms)
        case events.SessionEnd():
            return replace(session, status="ended", ended_ms=last_ms, last_ms=last_ms)
        case events.SessionStart() if event.body.parent_session:
            session = replace(session, parent=one_line(event.body.parent_session, 200))
        case events.Prompt() if shown := first_line(words_of(event.body.text), 300):
            first = session.first_prompt or shown
            session = replace(session, prompts=session.prompts + 1, first_prompt=first)
    if session.ended_ms is not None and event.at_ms <= session.ended_ms:  # from before its end
        return replace(session, last_ms=last_ms)
    return replace(session, status="active", ended_ms=None, last_ms=last_ms)


INTENTS, FILES, COMMANDS, ASKS = 16, 100, 30, 24
"""Most of each that a session keeps."""
SAYINGS, SAYING = 20, 300
"""Most commits, customs, lessons … of one kind, and characters of each."""
SYMBOLS_OF_FILE = 8


class OpenGroup(Value):
    """A group of similar events that may grow, with what is needed to describe it again.

    `texts` are the task and the result of a delegation so far; `outcome` is the result that the
    next run of a command must share.
    """

    origin: ItemOrigin
    last_ms: int
    times: int = 1
    chars: int = 0
    operation: str = ""
    change: ChangeSummary = ChangeSummary()
    texts: tuple[str, ...] = ()
    outcome: str = ""


class PendingTool(Value):
    """A tool call without a result yet; `call` is stored without long texts.

    `change` is made from them first; `chars` is their length.
    """

    origin: ItemOrigin
    tool: str
    call: events.Command | events.FileWrite | events.FileRead | events.Search | events.ToolUse
    change: ChangeSummary = ChangeSummary()
    chars: int = 0


class FileState(Value):
    """What a session did to one file; `is_dirty` until git says that its changes are committed.

    `is_new` if the session made it, `is_undone` if nothing of its changes is left. `committed` is
    the state as of the last commit, `is_printed` where nothing but git's output has that.
    """

    reads: int = 0
    writes: int = 0
    symbols: tuple[str, ...] = ()
    is_new: bool = False
    is_dirty: bool = False
    is_undone: bool = False
    committed: FileState | None = None
    is_printed: bool = False


class CommandState(Value):
    """How a command ended last."""

    ok: bool | None = None
    said: str = ""
    is_check: bool = False
    runs: int = 1


Status: TypeAlias = Literal["open", "active", "done"]


class Point(Value):
    """One point of a to-do list; `id` is the tool's own id, if it has one."""

    text: str
    status: Status = "open"
    id: str = ""


class TodoList(Value):
    """A to-do list; `key` is the agent that keeps it, or the path of the file that it is in.

    `is_worked_through` if a point of the file was ticked off in the session.
    """

    key: str
    points: tuple[Point, ...] = ()
    is_worked_through: bool = False


class SessionState(Value):
    """All that is known of a session. Sequences are oldest first and drop the oldest.

    `turn` goes on, None before the first prompt; `asks` are the titles of those that named their
    subject, each with its form, `reply` how the last before that turn began (see `last_reply`).
    `plan` is the heading
    of a plan not yet begun, `begun_plan` of one that a later session began. `decided` are the
    person's answers in words of their own; `later_commits` were made
    outside of the session and hold its changes; `failing` are the checks that failed in it and are
    red, `accepted` the items of those that were so when its work was committed.
    `is_stashed` while changes are in git's stash and no file was written since: checks then run
    without them. `staged` are the words of `git add` since the last commit that git printed,
    paths relative to the root.
    `pulls` is the pull request of each branch that a tool named, `pull` the title that one got.
    `is_git_asked` after git said which files are not committed, until the next write.
    """

    grouped: dict[str, OpenGroup] = msgspec.field(default_factory=dict)
    pending: tuple[PendingTool, ...] = ()
    files: dict[str, FileState] = msgspec.field(default_factory=dict)
    commands: dict[str, CommandState] = msgspec.field(default_factory=dict)
    is_stashed: bool = False
    staged: tuple[str, ...] = ()
    is_git_asked: bool = False
    turn: Turn | None = None
    asks: dict[str, Form] = msgspec.field(default_factory=dict)
    reply: str = ""
    plan: str = ""
    begun_plan: str = ""
    decided: tuple[str, ...] = ()
    lists: tuple[TodoList, ...] = ()
    failing: tuple[OpenFailure, ...] = ()
    accepted: tuple[int, ...] = ()
    commits: tuple[str, ...] = ()
    later_commits: tuple[str, ...] = ()
    has_searched: bool = False
    pulls: dict[str, str] = msgspec.field(default_factory=dict)
    pull: str = ""
    customs: tuple[str, ...] = ()
    remembered: tuple[str, ...] = ()


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(SessionState)


def encode(state: SessionState) -> bytes:
    """Return the state as it is stored; `decode` gives back an equal one."""
    return encode_state(_ENCODER, state)


def decode(data: bytes) -> SessionState:
    """Return the stored state of a session; the empty state for no bytes.

    Raises:
        StoreUnavailable: the bytes are not a state of this version; a rebuild recreates it.
    """
    return decode_state(_DECODER, data, of="session") if data else SessionState()


def last_reply(state: SessionState) -> str:
    """Return how the last reply to a turn worth finding began; "" for none.

    Where files were changed it is the one to the turn that did so.
    """
    turn = state.turn
    has_worked = any(file.writes for file in state.files.values())
    if state.reply and has_worked and turn and not turn.files:
        return state.reply
    return (turn and turns.opening_of(turn)) or state.reply


def key_of(*parts: str) -> str:
    """Return the key of a group: the parts joined, hashed if too long; `parts[0]` is its kind."""
    key = "|".join(parts)
    if len(key) <= 200 and key.isprintable():
        return key
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{parts[0]}|{digest[:32]}"


def added(sayings: tuple[str, ...], *new: str) -> tuple[str, ...]:
    """Return texts with new ones at the end, each once; the oldest are dropped."""
    fresh = [shown for text in new if (shown := one_line(text, SAYING)) and shown not in sayings]
    return (*sayings, *fresh)[-SAYINGS:] if fresh else sayings


def is_away(key: str, group: OpenGroup) -> bool:
    """Return True for a delegation of which nothing has come back."""
    return key.startswith("delegation|") and not group.texts[1]


def without_groups(state: SessionState, mark: str = "") -> SessionState:
    """Return the state without the groups of which the key begins with a mark.

    A delegation goes on until it is reported, whatever else happens.
    """
    known = state.grouped
    gone = {key for key in known if key.startswith(mark) and not is_away(key, known[key])}
    return replace(state, grouped={key: known[key] for key in known if key not in gone})


def with_reads(state: SessionState, paths: Iterable[str]) -> SessionState:
    """Return the state after files were read."""
    files = dict(state.files)
    for path in paths:
        touched = files.pop(path, FileState())
        files[path] = replace(touched, reads=touched.reads + 1)
    return replace(state, files=newest(files, FILES))


def with_write(
    state: SessionState, path: str, symbols: Iterable[str] = (), *, is_new: bool = False
) -> SessionState:
    """Return the state after a file was made, or changed."""
    files = dict(state.files)
    touched = files.pop(path, FileState())
    files[path] = replace(
        touched,
        writes=touched.writes + 1,
        symbols=distinct((*touched.symbols, *symbols), SYMBOLS_OF_FILE),
        is_new=touched.is_new or (is_new and not touched.writes),
        is_dirty=True,
        is_undone=False,
        is_printed=False,
    )
    return replace(state, files=newest(files, FILES), is_stashed=False, is_git_asked=False)


def with_command(state: SessionState, head: str, run: CommandState) -> SessionState:
    """Return the state after a command ended."""
    commands = dict(state.commands)
    before = commands.pop(head, None)
    commands[head] = replace(run, runs=before.runs + 1 if before else 1)
    return replace(state, commands=newest(commands, COMMANDS))
