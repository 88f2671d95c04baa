"""What happened, in order: around an item, since a time by project, or in one session.

The work of sub-agents stands under the delegations to them, at any depth: a sub-agent works in the
session of whoever started it, where each of its items names it, or in a session of its own.

What has an id and is no item is here too. A read, which only the log has, has the id that an item
of its event would have. A call is counted in the record of its tool, and a prompt or a reply stands
in its turn; ids that were written down before go on working, by `stand_ins`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from observer.core.errors import BadInput, NotFound
from observer.core.events import (
    AnyBody,
    Command,
    Delegation,
    FileRead,
    FileWrite,
    Reply,
    Search,
    ToolUse,
)
from observer.core.filters import Filters
from observer.core.model import Item, Recorded, Session, item_id, seq_of
from observer.core.text import relative
from observer.core.value import TokenUsage, Value
from observer.observations import drafts, project_state, session_state, summary
from observer.observations.drafts import FAILED, where_of
from observer.observations.event_text import read
from observer.observations.prompt_injection import with_suspicion
from observer.observations.turns import TURN
from observer.search.handles import session_id
from observer.search.recent_sessions import taken_back
from observer.store.items import Work
from observer.store.reader import StoreReader

DEEPEST = 5
"""What is deeper counts as this deep."""
_BY = "by sub-agent "
"""What an observation's subtitle ends with, and the sub-agent that it is of."""

_Named: TypeAlias = dict[tuple[int | None, str], int]
"""Ids of delegations, by session and by the name or kind of the sub-agent."""


class Nested(Value):
    """An item; `depth` is 1 for the work of a sub-agent, 2 for that of a sub-agent of its own.

    `under` is the id of the delegation that it belongs to; None where that is not among the items.
    """

    item: Item
    under: int | None = None
    depth: int = 0


def nested(items: Sequence[Item], sessions: Sequence[Session]) -> list[Nested]:
    """Return items, oldest first, with what a sub-agent did behind the delegation to it, if there.

    `sessions` are theirs, by id.
    """
    above = _above(items, _begun(items, sessions))
    below: defaultdict[int | None, list[Item]] = defaultdict(list)
    for item in items:
        below[above[item.id][0]].append(item)
    rows: list[Nested] = []
    waiting = [(item, int(above[item.id][1])) for item in reversed(below[None])]
    while waiting:
        item, depth = waiting.pop()
        rows.append(Nested(item=item, under=above[item.id][0], depth=depth))
        waiting += ((each, min(depth + 1, DEEPEST)) for each in reversed(below[item.id]))
    return rows


def _above(
    items: Sequence[Item], begun: Mapping[int | None, int | None]
) -> dict[int, tuple[int | None, bool]]:
    """Return, by item, the delegation to whoever did it, and whether a sub-agent did it.

    In one session that is the delegation that this agent came back from, else the last one before
    to its kind, so that no two can be under each other.
    """
    back: _Named = {}
    for item in items:
        if _is_back(item):
            back[item.session_id, _agent(item)] = item.id
    found: dict[int, tuple[int | None, bool]] = {}
    last: _Named = {}
    for item in items:
        session = item.session_id
        agent = "" if _is_back(item) else _agent(item)
        kind = agent.partition("/")[0]
        task = agent and (back.get((session, agent)) or last.get((session, kind)))
        found[item.id] = (task or begun.get(session), bool(agent) or session in begun)
        if item.type == "delegation" and not _is_back(item):
            last[session, _recipient(item)] = item.id
    return found


def _agent(item: Item) -> str:
    """Return the sub-agent that an item names, "" for none."""
    return item.subtitle.rpartition(_BY)[2] if _BY in item.subtitle else ""


def _recipient(delegation: Item) -> str:
    """Return the kind of sub-agent that something was handed to."""
    return delegation.subtitle.split(f", {_BY}")[0].removeprefix("to ")


def _is_back(item: Item) -> bool:
    """Return True for a delegation that names the sub-agent that it was handed to."""
    agent = _agent(item)
    is_named = agent != "" and agent.partition("/")[0] == _recipient(item)
    return item.type == "delegation" and is_named


def _begun(items: Sequence[Item], sessions: Sequence[Session]) -> dict[int | None, int | None]:
    """Return the ids of delegations, by those of the sub-agents' sessions that they began.

    A client begins a session and then hands it the task, one after the other.
    """
    ids = {(one.client, one.external): one.id for one in sessions}
    waiting = [item for item in items if item.type == "delegation"]
    found: dict[int | None, int | None] = {}
    for child in sessions:
        if child.parent in {"", child.external}:
            continue
        parent = ids.get((child.client, child.parent), child.id)
        tasks = (
            item
            for item in waiting
            if item.session_id == parent < child.id and item.created_ms >= child.started_ms
        )
        task = next(tasks, None)
        found[child.id] = task.id if task else None
        waiting = [item for item in waiting if item is not task]
    return found


MAX_DEPTH = 50
"""Most entries on one side of the anchor."""


class TimelineEntry(Nested, kw_only=True):
    """An item of a timeline; `position` is negative before the anchor, 0 at it, positive after."""

    position: int


class Timeline(Value):
    """The anchor and its neighbours of the same project, as `nested`; positions are in time."""

    anchor: Item
    entries: tuple[TimelineEntry, ...]


def timeline(
    reader: StoreReader, anchor_id: int, *, owner: str, before: int = 5, after: int = 5
) -> Timeline:
    """Return what happened before and after an item in its project, 0 to `MAX_DEPTH` entries each.

    Raises: BadInput (a depth is out of range), NotFound (there is no such item).
    """
    for name, depth in (("before", before), ("after", after)):
        if not 0 <= depth <= MAX_DEPTH:
            raise BadInput(f"the depth {name} is {depth}", hint=f"use 0 to {MAX_DEPTH}")
    found = reader.items([anchor_id])
    if not found:
        raise NotFound(f"there is no item {anchor_id}", hint="search for it first")
    items = reader.around(found[0], owner=owner, before=before, after=after)
    places = {item.id: place for place, item in enumerate(items)}
    ids = sorted({item.session_id for item in items if item.session_id})
    rows = nested(items, [one for one in map(reader.session, ids) if one])
    entries = (
        TimelineEntry(
            position=places[row.item.id] - places[anchor_id],
            item=row.item, under=row.under, depth=row.depth,
        )
        for row in rows
    )  # fmt: skip
    return Timeline(anchor=found[0], entries=tuple(entries))


MOST_SESSIONS = 1_000
MOST_ITEMS = 5_000
"""Observations of one account, and notes likewise."""
MOST_CHILDREN = 100

NOTED = ("constraint", "decision", "heuristic", "rejected")
SHOWN = ("commit", "fix", *NOTED)
"""Types of observations that an account shows."""
OBSERVED = ("command", "file-write", "tool-use", *SHOWN)
"""Types of observations that an account looks at."""


class SessionRun(Value):
    """A session and its summary, if it has one yet; `named` is the title that a person gave it."""

    session: Session
    summary: Item | None = None
    named: str = ""

    @property
    def title(self) -> str:
        """What it is called: as a person did, by its summary, or by its first prompt."""
        return self.named or (self.summary.title if self.summary else self.session.first_prompt)


class Share(Value):
    """What happened in one project (None: in none), everything newest first.

    `failed` counts commands and tool calls; `files` are the changed ones, the most often first.
    """

    project_id: int | None
    sessions: tuple[SessionRun, ...]
    commits: tuple[Item, ...]
    fixes: tuple[Item, ...]
    noted: tuple[Item, ...]
    failed: int
    files: tuple[str, ...]


class Account(Value):
    """What happened since a time, the project where something happened last first.

    `is_partial`: more happened than is looked through, and the oldest of it is left out.
    """

    since_ms: int
    shares: tuple[Share, ...]
    is_partial: bool = False


class SessionTimeline(Value):
    """What a session and its sub-agents (`children`) left in the memory, oldest first.

    `left_out` counts what came before. `usage` is None where the client does not report it.
    """

    ran: SessionRun
    items: tuple[Item, ...]
    left_out: int
    children: tuple[Session, ...] = ()
    usage: TokenUsage | None = None


def account(
    reader: StoreReader, since_ms: int, *, project_id: int | None = None, owner: str
) -> Account:
    """Return what happened since a time in a project, or in all; sessions may have begun before."""
    ran = reader.sessions(project_id=project_id, since_ms=since_ms, limit=MOST_SESSIONS)
    here = Filters(project_id=project_id, since_ms=since_ms, owner=owner, kinds=("note",))
    notes = reader.recent(here, limit=MOST_ITEMS)
    seen = Filters(
        project_id=project_id, since_ms=since_ms, owner=owner, kinds=("observation", "record"),
        types=OBSERVED,
    )  # fmt: skip
    observed = reader.work(reader.ids(seen, limit=MOST_ITEMS))
    gone = taken_back(reader, observed)
    stands = [one for one in observed if one.id not in gone]
    shown = reader.items([one.id for one in stands if one.type in SHOWN])
    times: list[tuple[int, int | None]] = [(one.last_ms, one.project_id) for one in ran]
    times += [(one.created_ms, one.project_id) for one in notes]
    times += [(one.created_ms, one.project_id) for one in observed]
    lately = dict.fromkeys(each for _, each in sorted(times, key=lambda pair: -pair[0]))
    sessions = with_summaries(reader, ran)
    return Account(
        since_ms=since_ms,
        shares=tuple(
            _share(
                each,
                [one for one in sessions if one.session.project_id == each],
                [item for item in (*notes, *shown) if item.project_id == each],
                [one for one in stands if one.project_id == each],
            )
            for each in lately
        ),
        is_partial=len(ran) == MOST_SESSIONS or MOST_ITEMS in {len(notes), len(observed)},
    )


def course(reader: StoreReader, handle: str, *, owner: str, limit: int) -> SessionTimeline:
    """Return the course of a session that a client's own id, or ours, stands for.

    Raises: NotFound (there is none, or none is named).
    """
    session = _named_session(reader, handle)
    children = _descendants(reader, session)
    ids = [
        reader.ids(
            Filters(
                kinds=("observation", "record", "note"),
                session_id=one.id,
                since_ms=one.started_ms,
                until_ms=one.last_ms + 1,
                owner=owner,
            ),
            limit=MOST_ITEMS,
        )
        for one in (session, *children)
    ]
    replies = reader.recorded_near(
        session.id, from_ms=session.started_ms, to_ms=session.last_ms, kind="reply"
    )
    bodies = [one.event.body for one in replies]
    used = [body.usage for body in bodies if isinstance(body, Reply) and body.usage]
    total = {name: sum(getattr(one, name) for one in used) for name in TokenUsage.__struct_fields__}
    items = [item for some in ids for item in reader.items(some[:limit])]
    items.sort(key=lambda item: (item.created_ms, item.id))
    return SessionTimeline(
        ran=with_summaries(reader, [session])[0],
        items=tuple(items[max(len(items) - limit, 0) :]),
        left_out=max(sum(map(len, ids)) - limit, 0),
        children=tuple(children),
        usage=TokenUsage(**total) if used else None,
    )


def events_of(
    reader: StoreReader, handle: str, kinds: Iterable[str], *, from_ms: int, to_ms: int
) -> list[Recorded]:
    """Return the events of some kinds of a session and its sub-agents, by time; raises as `course`.

    Both times are included.
    """
    session = _named_session(reader, handle)
    found = [
        event
        for one in (session, *_descendants(reader, session))
        for kind in kinds
        for event in reader.recorded_near(one.id, from_ms=from_ms, to_ms=to_ms, kind=kind)
    ]
    return sorted(found, key=lambda one: (one.event.at_ms, one.seq))


def _named_session(reader: StoreReader, handle: str) -> Session:
    session = reader.session(session_id(reader, handle) or 0)
    if session is None:
        raise NotFound("no session is named", hint="see: observer sessions")
    return session


def _descendants(reader: StoreReader, session: Session) -> list[Session]:
    """Return the sessions of a session's sub-agents and of theirs, at most `MOST_CHILDREN`."""
    found: dict[int, Session] = {}
    waiting = [session]
    while waiting and len(found) < MOST_CHILDREN:
        more = reader.children(waiting.pop(0), limit=MOST_CHILDREN - len(found))
        new = [one for one in more if one.id not in {session.id, *found}]
        found |= {one.id: one for one in new}
        waiting += new
    return sorted(found.values(), key=lambda one: one.id)


def with_summaries(reader: StoreReader, sessions: Sequence[Session]) -> list[SessionRun]:
    """Return sessions with their own names and summaries, these as of now, in the same order."""
    ids = {session.id: item_id(session.id, "summary") for session in sessions}
    known = {item.id: item for item in reader.items(list(ids.values()))}
    named = reader.chosen("title")
    found = ((session, known.get(ids[session.id])) for session in sessions)
    return [
        SessionRun(
            session=session,
            summary=item and as_of_now(reader, session, item),
            named=named.get(session.id, ""),
        )
        for session, item in found
    ]


def as_of_now(reader: StoreReader, session: Session, made: Item) -> Item:
    """Return a session's summary without next steps about checks that have passed since."""
    known = session_state.decode(session.state)
    if not (made.summary and known.failing):
        return made
    state = project_state.decode(reader.project_state(session.project_id))
    red = {one.head for one in state.failures if session.id in one.sessions}
    failing = tuple(one for one in known.failing if one.head in red)
    left = summary.next_steps(session, replace(known, failing=failing))
    return replace(made, summary=replace(made.summary, next_steps=left))


def _share(
    project_id: int | None, ran: list[SessionRun], items: list[Item], work: list[Work]
) -> Share:
    shown = [one for one in items if one.kind != "note"]
    noted = [one for one in items if one.kind == "note" or one.type in NOTED]
    changes = (one for one in work if one.type in {"commit", "file-write"})
    times = Counter(path for one in changes for path in one.files_modified)
    return Share(
        project_id=project_id,
        sessions=tuple(ran),
        commits=tuple(one for one in shown if one.type == "commit"),
        fixes=tuple(one for one in shown if one.type == "fix"),
        noted=tuple(sorted(noted, key=lambda one: (-one.created_ms, -one.id))),
        failed=sum(map(has_failed, work)),
        files=tuple(path for path, _ in times.most_common()),
    )


def has_failed(item: Item | Work) -> bool:
    """Return True for a command or tool call that failed."""
    return item.category == FAILED


READ = "file-read"
LEAST_LETTERS = 3
SPARE = 5
LOOKED_AT = 20_000
"""Newest events among which reads are looked for by name: no index leads to them."""


def reads_by_id(reader: StoreReader, ids: Iterable[int]) -> dict[int, Item]:
    """Return the reads of the events of these ids."""
    return {made.id: made for made in _reads(reader.logged([seq_of(one) for one in ids]))}


def reads_naming(
    reader: StoreReader, words: Sequence[str], filters: Filters, *, limit: int
) -> list[Item]:
    """Return the newest read of each file whose path has one of some words, newest first.

    Short words count only where there is no longer one.
    """
    folded = [word.casefold() for word in words]
    wanted = [word for word in folded if len(word) >= LEAST_LETTERS] or folded
    found: dict[tuple[int | None, tuple[str, ...]], Item] = {}
    for made in _reads(reader.log_naming(READ, wanted, newest=LOOKED_AT)):
        named = " ".join(made.files_read).casefold()
        if any(word in named for word in wanted) and filters.admits(made):
            found.setdefault((made.project_id, made.files_read), made)
    return list(found.values())[:limit]


def steps_around(
    reader: StoreReader, anchor: Item, *, owner: str, before: int, after: int
) -> list[TimelineEntry]:
    """Return the observations around an item or a read in its project, reads included."""
    # Summaries are no steps; there is seldom more than one for some observations.
    earlier, later = 2 * before + SPARE, 2 * after + SPARE
    items = reader.around(anchor, owner=owner, before=earlier, after=later)
    place = items.index(anchor)
    # Beyond the last item that there is, reads go on for as long as their session does.
    from_ms = items[0].created_ms if place == earlier else 0
    until_ms = items[-1].created_ms if len(items) - place > later else 1 << 62
    sessions = {one.session_id for one in items if one.session_id}
    near = (
        each
        for session in sorted(sessions)
        for each in reader.recorded_near(session, from_ms=from_ms, to_ms=until_ms, kind=READ)
    )
    reads = {made.id: made for made in _reads(near) if made.project_id == anchor.project_id}
    items = [one for one in items if one.kind != "summary" or one.id == anchor.id]
    steps = sorted(
        {**reads, **{one.id: one for one in items}}.values(),
        key=lambda one: (one.created_ms, one.id),
    )
    place = [one.id for one in steps].index(anchor.id)
    shown = steps[max(0, place - before) : place + after + 1]
    first = min(place, before)
    return [TimelineEntry(position=at - first, item=one) for at, one in enumerate(shown)]


def _reads(found: Iterable[Recorded]) -> Iterator[Item]:
    """Yield the reads among events as items."""
    for recorded in found:
        body = recorded.event.body
        if isinstance(body, FileRead):
            yield with_suspicion(drafts.item(read(body, where_of(recorded)), recorded))


_TYPES: dict[type[AnyBody], str] = {
    FileWrite: "file-write",
    Command: "command",
    Search: "research",
    ToolUse: "tool-use",
    Delegation: "delegation",
}
"""What a tool did -> the type of its record."""
_LOOKED_AT = 60


def stand_ins(reader: StoreReader, ids: Iterable[int]) -> dict[int, Item]:
    """Return the record or turn that each of some ids without an item is part of, and says so."""
    found = {}
    for one in ids:
        if reader.item(one, deleted=True) is None and (part := _stand_in(reader, one)):
            said = f"#{one} is part of it"
            found[one] = replace(part, subtitle="; ".join(filter(None, (part.subtitle, said))))
    return found


def _stand_in(reader: StoreReader, item_id: int) -> Item | None:
    events = reader.logged([seq_of(item_id)])
    if not events or events[0].session_id is None:
        return None
    known = Filters(
        project_id=events[0].project_id,
        session_id=events[0].session_id,
        kinds=("record", "observation"),
        until_ms=events[0].event.at_ms + 1,
    )
    before = reader.recent(known, limit=_LOOKED_AT)
    return next(
        (one for one in before if _has_grown(one, events[0])),
        next((one for one in before if one.type == TURN), None),
    )


def _has_grown(record: Item, event: Recorded) -> bool:
    """Return True if a record, begun before, has grown until an event of its kind."""
    body = event.event.body
    is_alike = record.type == _TYPES.get(type(body)) and record.updated_ms >= event.event.at_ms
    return is_alike and (
        relative(body.path, event.root, event.event.cwd) in record.files_modified
        if isinstance(body, FileWrite)
        else record.folded > 1
    )
