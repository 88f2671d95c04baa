"""What holds for every sequence of events."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from observer.code.languages import EXTENSIONS, FILE_NAMES
from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    Custom,
    Edit,
    Event,
    FileRead,
    FileWrite,
    Intent,
    Outcome,
    Prompt,
    Remember,
    Reply,
    Search,
    SessionEnd,
    Shared,
)
from observer.core.model import Item, Recorded, Session
from observer.observations import note_reducer, session_state
from observer.observations.analysis import EventAnalysis, EventRecord, analyze, record_of
from observer.observations.drafts import where_of
from observer.observations.session_reducer import SessionReducer
from observer.observations.summary import summarize

ANY_TEXT = st.text(st.characters(), max_size=60) | st.sampled_from(
    ["", "a.py", "b.ts", "pytest", "git status", "1 failed in 0.10s", "x" * 5000, "\ud800\0\x1b[1m"]
)
PATHS = st.sampled_from(["/p/a.py", "/p/b.ts", r"C:\p\a.md", "c"]) | ANY_TEXT


def of(kind: type[Any], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(kind, **fields)


EDITS = st.lists(of(Edit, old=ANY_TEXT, new=ANY_TEXT), max_size=2).map(tuple)
WRITES = of(
    FileWrite,
    path=PATHS,
    operation=st.sampled_from(["create", "edit", "append", "delete", "write"]),
    edits=EDITS,
    content=st.none() | ANY_TEXT,
    error=st.just("") | ANY_TEXT,
)
COMMANDS = of(
    Command,
    command=ANY_TEXT,
    output=ANY_TEXT,
    exit_code=st.none() | st.integers(-(2**70), 2**70),
    failed=st.none() | st.booleans(),
    duration_ms=st.none() | st.integers(-5, 2**70),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(ANY_TEXT, inner, max_size=2),
    max_leaves=4,
)
FIELDS = st.sampled_from(Item.__struct_fields__)
st.register_type_strategy(
    Shared, of(Shared, item=st.none() | st.dictionaries(FIELDS, JSON, max_size=5))
)
WHATEVER: st.SearchStrategy[Any] = st.from_type(AnyBody)  # type: ignore[arg-type] # a union is a type to Hypothesis
BODIES = st.one_of(
    WRITES,
    COMMANDS,
    of(FileRead, paths=st.lists(PATHS, max_size=3).map(tuple), lines=ANY_TEXT),
    of(Prompt, text=ANY_TEXT),
    of(Reply, text=ANY_TEXT),
    of(Search, query=ANY_TEXT, output=ANY_TEXT),
    of(Intent, tool=st.sampled_from(["shell", "fs"]), of=WRITES | COMMANDS),
    of(Outcome, tool=st.sampled_from(["shell", "fs"]), output=ANY_TEXT),
    of(SessionEnd, reason=st.sampled_from(["exit", "idle"])),
    of(Commit, hash=ANY_TEXT, subject=ANY_TEXT, message=ANY_TEXT),
    of(Custom, name=ANY_TEXT, text=ANY_TEXT),
    WHATEVER,
)


@st.composite
def histories(draw: st.DrawFn) -> list[Recorded]:
    bodies = draw(st.lists(BODIES, min_size=1, max_size=12))
    found, at_ms = [], 1_800_000_000_000
    for seq, body in enumerate(bodies, 1):
        at_ms += draw(st.sampled_from([0, 1000, 200_000, 400_000, -5000]))
        event = Event(
            id=f"e{seq}",
            at_ms=at_ms,
            client="kiro",
            session="s",
            cwd=draw(st.sampled_from(["/p", "", "/p/x"])),
            agent=draw(st.sampled_from(["", "", "Explore", "\ud800"])),
            body=body,
        )
        found.append(Recorded(seq=seq, event=event, project_id=1, session_id=1, root="/p"))
    return found


def fed(history: Sequence[Recorded], cuts: Sequence[int]) -> tuple[dict[int, Item], Session]:
    """Feed a history in batches that end before each cut; the state travels as bytes."""
    items: dict[int, Item] = {}
    session = session_state.begin(history[0])
    fold = SessionReducer(session)
    for number, recorded in enumerate(history):
        if number in cuts:
            items |= {item.id: item for item in fold.turn()}
            fold = SessionReducer(fold.session())
        items |= {item.id: item for item in fold.add(recorded)}
    items |= {item.id: item for item in fold.turn()}
    last = fold.session()
    assert last is not None
    return items, last


@given(histories(), st.sets(st.integers(0, 12)))
def test_batches_may_be_cut_anywhere(history: list[Recorded], cuts: set[int]) -> None:
    """Restarts and batch sizes never change the items."""
    whole = fed(history, [])
    assert fed(history, sorted(cuts)) == whole
    assert fed(history, range(12)) == whole


@given(histories())
def test_an_analysis_made_beforehand_changes_nothing(history: list[Recorded]) -> None:
    """Nor does its way from the process in which it was made."""
    assert fed([foretold(recorded) for recorded in history], []) == fed(history, [])


def foretold(recorded: Recorded) -> EventRecord:
    made = analyze(recorded.event.body, where_of(recorded))
    sent = msgspec.msgpack.decode(msgspec.msgpack.encode(made), type=EventAnalysis)
    return msgspec.structs.replace(record_of(recorded), analysis=sent)


@given(histories())
def test_every_history_can_be_reported_and_stored(history: list[Recorded]) -> None:
    items, session = fed(history, [])
    summary = summarize(session)
    for item in [*items.values(), *([summary] if summary else [])]:
        assert msgspec.json.decode(msgspec.json.encode(item), type=Item) == item
        assert item.title
        assert len(item.title) <= 120
        assert item.discovery_tokens >= 0
    known = session_state.decode(session.state)
    assert session_state.decode(session_state.encode(known)) == known


@given(histories())
def test_events_of_no_session_are_reported_alone(history: list[Recorded]) -> None:
    fold = SessionReducer(None)
    for recorded in history:
        items = fold.add(recorded)
        assert all(item.folded == 1 for item in items)
        assert len(items) <= 1


@given(of(Remember, content=ANY_TEXT, title=ANY_TEXT, type=ANY_TEXT, key=ANY_TEXT))
def test_any_note_can_be_recorded_and_stored(body: AnyBody) -> None:
    event = Event(id="e1", at_ms=1, client="cli", body=body)
    made = note_reducer.note(Recorded(seq=1, event=event, project_id=1), None, owner="ana")
    assert msgspec.json.encode(made)
    assert made.title
    assert made.type


WORDS = st.lists(
    st.sampled_from(
        ["cart", "total", "pytest", "docker", "README.md", "src/api/Cart.tsx", "verifyToken"]
    ),
    min_size=1,
    max_size=6,
).map(" ".join)
FROM_TABLES = {*EXTENSIONS.values(), *FILE_NAMES.values()}


@given(
    of(Prompt, text=WORDS)
    | of(Command, command=WORDS, output=WORDS)
    | of(FileWrite, path=WORDS, edits=st.builds(Edit, new=WORDS).map(lambda edit: (edit,)))
    | of(Commit, hash=st.just("abc"), subject=WORDS, message=WORDS)
)
def test_a_concept_stands_in_the_event_or_in_a_table(body: AnyBody) -> None:
    event = Event(id="e1", at_ms=1, client="kiro", body=body)
    (item,) = SessionReducer(None).add(Recorded(seq=1, event=event, project_id=1))
    text = msgspec.json.encode(body).decode().lower()
    for concept in item.concepts:
        assert concept in FROM_TABLES or re.search(re.escape(concept), text)
