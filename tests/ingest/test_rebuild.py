"""Everything but the log is a projection: rebuilt equals live, however the log was cut."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from observer.core.config import Settings
from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    Edit,
    Enriched,
    Event,
    FileChange,
    FileRead,
    FileWrite,
    Forget,
    Prompt,
    Remember,
    Reply,
    SessionEnd,
    SessionStart,
    Triage,
    Undo,
)
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.projects import PlaceCache
from observer.store.database import SqliteStore

PATHS = st.sampled_from(["/r/a.py", "/r/b.py"])
BODIES: st.SearchStrategy[AnyBody] = st.one_of(
    st.builds(SessionStart),
    st.builds(SessionEnd),
    st.builds(Prompt, text=st.sampled_from(["fix the cart", "why?"])),
    st.builds(Reply, text=st.sampled_from(["Next: add tests.", ""])),
    st.builds(
        FileWrite,
        path=PATHS,
        edits=st.just((Edit(old="def a():\n    pass", new="def b():\n    pass"),)),
    ),
    st.builds(FileWrite, path=st.just("c.py"), content=st.just("c = 1\n")),
    st.builds(
        Commit,
        hash=st.sampled_from(["a" * 40, "b" * 40]),
        subject=st.just("Add tests"),
        files=st.just((FileChange(path="c.py"),)),
    ),
    st.builds(FileRead, paths=st.tuples(PATHS)),
    st.builds(
        Command, command=st.sampled_from(["pytest", "ls"]), failed=st.sampled_from([True, False])
    ),
    st.builds(Remember, content=st.sampled_from(["x", "y"]), key=st.sampled_from(["", "k"])),
    st.builds(Forget, item=st.integers(1, 40)),
    st.builds(Undo, item=st.integers(1, 40)),
    st.builds(
        Enriched,
        item=st.integers(1, 40),
        model=st.just("m"),
        as_of_ms=st.just(1),
        narrative=st.sampled_from(["It was a race.", ""]),
    ),
    st.builds(
        Triage,
        signal=st.integers(1, 3),
        status=st.sampled_from(["snoozed", "dismissed", "new"]),
        type=st.just("tag_burst"),
        owner=st.sampled_from(["ana", "bob"]),
    ),
)
STEPS = st.lists(st.tuples(BODIES, st.sampled_from(["", "s1", "ppid:1@h"])), max_size=25)


@given(steps=STEPS, cut=st.integers(1, 6))
@settings(max_examples=40)
def test_rebuilt_equals_live(steps: list[tuple[AnyBody, str]], cut: int) -> None:
    events = [
        Event(id=f"e{n}", at_ms=1_790_000_000_000 + n * 60_000, client="c", body=body, session=s)
        for n, (body, s) in enumerate(steps)
    ]
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "observer.db")
        pipeline = Pipeline(
            store,
            Spool(Path(folder) / "spool"),
            settings=Settings(),
            places=PlaceCache(),
            now_ms=lambda: 1_795_000_000_000,
        )
        for start in range(0, len(events), cut):
            pipeline.ingest(
                [event for event in events[start : start + cut] if _may_come(event, store)]
            )
        live = everything(store)
        with store.read() as reader:
            stored = reader.totals().events
        done: list[int] = []
        assert pipeline.rebuild(advance=done.append) == stored == sum(done)
        assert everything(store) == live
        store.close()


def _may_come(event: Event, store: SqliteStore) -> bool:
    """Nobody writes about, or forgets, an item that is not there yet."""
    if not isinstance(event.body, Enriched | Forget):
        return True
    with store.read() as reader:
        return bool(reader.items([event.body.item]))


def everything(store: SqliteStore) -> Any:
    with store.read() as reader:
        sessions = sorted(reader.sessions(limit=99), key=lambda s: s.id)
        judged = [reader.triages(owner) for owner in ("ana", "bob")]
        return list(reader.all_items()), sessions, judged
