"""Everything but the log is a projection: rebuilt equals live, with vectors and a model's words."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

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
from observer.core.model import Enrichment, Item, item_id
from observer.index.embed.lazy_model import LazyModel
from observer.index.embed.registry import find
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.store.database import SqliteStore
from observer.store.interface import Store
from tests.ingest.conftest import Make, Post, bash, items_of
from tests.support import pipeline_over

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
        pipeline = pipeline_over(store, Spool(Path(folder) / "spool"), 1_795_000_000_000)
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
    with store.read() as reader:
        of = event.body.item if isinstance(event.body, Enriched | Forget) else None
        return of is None or bool(reader.items([of]))


def everything(store: SqliteStore) -> Any:
    with store.read() as reader:
        sessions = sorted(reader.sessions(limit=99), key=lambda s: s.id)
        judged = [reader.triages(owner) for owner in ("ana", "bob")]
        return list(reader.all_items()), sessions, judged


NOW_MS = 1_789_999_000_000
SUMMARY = item_id(1, "summary")

Tell = Callable[..., None]


@pytest.fixture
def tell(pipeline: Pipeline, folder: Path) -> Tell:
    """Store what happened, one after the other, each in its own transaction."""
    numbers = count(1)

    def store(*bodies: AnyBody, at_once: bool = False) -> None:
        events = []
        for body, number in zip(bodies, numbers, strict=False):
            session = "" if isinstance(body, Enriched | Forget) else "s1"
            about = {"client": "c", "session": session, "cwd": str(folder)}
            at_ms = NOW_MS + number * 1000
            events.append(Event(id=f"e{number}", at_ms=at_ms, body=body, **about))
        for batch in [events] if at_once else [[event] for event in events]:
            pipeline.ingest(batch)

    return store


def written(item: int = SUMMARY, text: str = "The cart lost a lock.") -> Enriched:
    return Enriched(item=item, model="tiny", as_of_ms=NOW_MS + 2000, narrative=text)


def items(store: Store) -> dict[int, Item]:
    with store.read() as reader:
        return {item.id: item for item in reader.all_items()}


WORK = (Prompt(text="fix the cart"), Command(command="pytest", exit_code=1, output="1 failed"))


def wrote(store: Store) -> Enrichment:
    found = items(store)[SUMMARY].enrichment
    assert found
    return found


@pytest.mark.parametrize("at_once", [True, False])
def test_it_is_kept_with_the_summary(tell: Tell, store: Store, at_once: bool) -> None:
    tell(*WORK, written(), written(item=999), at_once=at_once)
    assert 999 not in items(store)
    found = wrote(store)
    assert (found.model, found.at_ms) == ("tiny", NOW_MS + 3000)
    assert found.narrative == "The cart lost a lock."


def test_the_items_own_words_stay_and_the_newest_that_was_written(tell: Tell, store: Store) -> None:
    tell(*WORK)
    before = items(store)[SUMMARY]
    tell(written(), written(text="It was a race."))
    after = items(store)[SUMMARY]
    assert (after.narrative, after.summary) == (before.narrative, before.summary)
    tell(Command(command="make", exit_code=0), SessionEnd())  # the session goes on
    assert wrote(store).narrative == "It was a race."
    tell(Forget(item=SUMMARY), written())
    assert SUMMARY not in items(store)


def test_it_is_one_line_a_field_of_bounded_length_and_holds_no_secret(
    tell: Tell, store: Store
) -> None:
    key = "AKIA" + "Q3EGRIHJ7KXW2M4T"
    text = f"the key is {key}\n\x1b[2J" + "b" * 9999
    concepts = ("d", "d", "", *map(str, range(99)))
    body = Enriched(item=SUMMARY, model="m" * 999, as_of_ms=1, narrative=text)
    tell(*WORK, replace(body, learned="c" * 9999, concepts=concepts))
    found = wrote(store)
    assert found.narrative.isprintable()
    assert "AKIA" not in found.narrative
    assert (len(found.narrative), len(found.learned), len(found.model)) == (1200, 600, 100)
    assert (found.concepts[0], len(found.concepts)) == ("d", 8)


SOON_MS = 1_790_000_000_000


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LazyModel:
    return LazyModel(find("instant", tmp_path_factory.mktemp("models")))


@pytest.fixture
def embedding(make_pipeline: Make, model: LazyModel) -> Pipeline:
    return make_pipeline(embedder=model)


def vectors(store: Store, model: LazyModel) -> dict[int, bytes | None]:
    """Return the vector of each living item."""
    with store.read() as reader:
        changes = reader.changes(after=0, model=model.id, limit=999)
    return {change.id: change.vector for change in changes if change.item}


def a_note(number: int, content: str, *, key: str = "") -> Event:
    body = Remember(content=content, title="", key=key or f"k{number}")
    return Event(id=f"n{number}", at_ms=SOON_MS, client="observer", body=body)


def test_what_is_stored_has_its_vectors_after_the_commit_and_after_a_rebuild(
    embedding: Pipeline, store: Store, model: LazyModel, post: Post
) -> None:
    for n in range(3):
        post("UserPromptSubmit", {"prompt": f"Deploy to target {n} now", "session_id": f"s{n}"})
    embedding.drain()
    embedding.ingest([a_note(1, "use builders")])
    first = vectors(store, model)
    embedding.ingest([a_note(2, "factories of widgets", key="k1")])
    made = vectors(store, model)
    assert list(first) == list(made)
    assert first != made == model.made(items_of(store))
    assert len(made) >= 4
    embedding.rebuild()
    assert vectors(store, model) == made


def embed(pipeline: Pipeline, after: int) -> int:
    made = pipeline.embedded(after, limit=2)
    pipeline.keep_embedded(made)
    return made.last_change


def test_what_is_forgotten_or_a_record_has_no_vector_and_is_not_waited_for(
    embedding: Pipeline, store: Store, model: LazyModel, post: Post
) -> None:
    (receipt,) = embedding.ingest([a_note(1, "use builders")])
    forget = Event(id="f", at_ms=SOON_MS, client="observer", body=Forget(item=receipt.item or 0))
    embedding.ingest([forget])
    with store.read() as reader:
        assert reader.vectors() == {}
    post("PostToolUse", bash("./deploy x"))
    embedding.drain()
    (record,) = (item.id for item in items_of(store) if item.kind == "record")
    assert vectors(store, model)[record] is None
    assert embed(embedding, 0) == 0


def test_what_has_no_vector_gets_one_in_portions(
    pipeline: Pipeline, embedding: Pipeline, store: Store, model: LazyModel
) -> None:
    pipeline.ingest([a_note(n, f"rule {n}") for n in range(5)])
    assert set(vectors(store, model).values()) == {None}
    after, rounds = 0, 0
    while (then := embed(embedding, after)) != after:
        after, rounds = then, rounds + 1
    assert rounds == 3
    assert vectors(store, model) == model.made(items_of(store))


def test_the_vectors_of_other_models_are_dropped_but_none_without_a_model(
    pipeline: Pipeline, embedding: Pipeline, store: Store, model: LazyModel
) -> None:
    embedding.ingest([a_note(1, "use builders")])
    with store.write() as writer:
        writer.put_vectors("m", {items_of(store)[0].id: b"1234"})
    assert embed(pipeline, 7) == 7
    for drops, left in ((pipeline, {"m": 1, model.id: 1}), (embedding, {model.id: 1})):
        drops.drop_other_vectors()
        with store.read() as reader:
            assert reader.vectors() == left
