"""Vectors are stored with what they are of, by the same model live and in a rebuild."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.core.events import Event, Forget, Remember
from observer.core.model import Item
from observer.index.embed.lazy_model import LazyModel
from observer.index.embed.registry import find
from observer.ingest.pipeline import Pipeline
from observer.store.interface import Store

Post = Callable[..., str]
Run = Callable[..., dict[str, Any]]
NOW_MS = 1_790_000_000_000


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LazyModel:
    return LazyModel(find("instant", tmp_path_factory.mktemp("models")))


@pytest.fixture
def embedding(make_pipeline: Callable[..., Pipeline], model: LazyModel) -> Pipeline:
    return make_pipeline(embedder=model)


def vectors(store: Store, model: LazyModel) -> dict[int, bytes | None]:
    """Return the vector of each living item."""
    with store.read() as reader:
        changes = reader.changes(after=0, model=model.id, limit=999)
    return {change.id: change.vector for change in changes if change.item}


def items(store: Store) -> list[Item]:
    with store.read() as reader:
        return list(reader.all_items())


def a_note(number: int, content: str, *, key: str = "") -> Event:
    body = Remember(content=content, title="", key=key or f"k{number}")
    return Event(id=f"n{number}", at_ms=NOW_MS, client="observer", body=body)


def test_what_is_drained_has_its_vectors_after_the_commit(
    embedding: Pipeline, store: Store, model: LazyModel, post: Post
) -> None:
    for n in range(3):
        post("UserPromptSubmit", {"prompt": f"Deploy to target {n} now", "session_id": f"s{n}"})
    embedding.drain()
    assert vectors(store, model) == model.made(items(store))
    assert len(items(store)) >= 3


def test_a_record_has_no_vector_and_is_not_waited_for(
    embedding: Pipeline, store: Store, model: LazyModel, post: Post, run: Run
) -> None:
    post("PostToolUse", run("./deploy x"))
    embedding.drain()
    (record,) = (item.id for item in items(store) if item.kind == "record")
    assert vectors(store, model)[record] is None
    assert embedding.embed(0, limit=9) == 0


def test_what_a_front_tells_has_its_vector_and_a_change_another_one(
    embedding: Pipeline, store: Store, model: LazyModel
) -> None:
    embedding.ingest([a_note(1, "use builders")])
    before = vectors(store, model)
    embedding.ingest([a_note(2, "factories of widgets", key="k1")])
    after = vectors(store, model)
    assert list(before) == list(after)
    assert before != after == model.made(items(store))


def test_what_is_forgotten_has_no_vector(
    embedding: Pipeline, store: Store, model: LazyModel
) -> None:
    (receipt,) = embedding.ingest([a_note(1, "use builders")])
    forget = Event(id="f", at_ms=NOW_MS, client="observer", body=Forget(item=receipt.item or 0))
    embedding.ingest([forget])
    with store.read() as reader:
        assert reader.vectors() == {}


def test_a_rebuild_gives_the_same_vectors(
    embedding: Pipeline, store: Store, model: LazyModel, post: Post
) -> None:
    for n in range(4):
        post("UserPromptSubmit", {"prompt": f"Deploy to target {n} now", "session_id": f"s{n}"})
    embedding.drain()
    embedding.ingest([a_note(1, "use builders"), a_note(2, "never on Fridays")])
    before = vectors(store, model)
    embedding.rebuild()
    assert vectors(store, model) == before
    assert None not in before.values()


def test_what_has_no_vector_gets_one_in_portions(
    pipeline: Pipeline, embedding: Pipeline, store: Store, model: LazyModel
) -> None:
    pipeline.ingest([a_note(n, f"rule {n}") for n in range(5)])
    assert set(vectors(store, model).values()) == {None}
    after, rounds = 0, 0
    while (then := embedding.embed(after, limit=2)) != after:
        after, rounds = then, rounds + 1
    assert rounds == 3
    assert vectors(store, model) == model.made(items(store))


def test_without_a_model_nothing_is_embedded_or_dropped(pipeline: Pipeline, store: Store) -> None:
    pipeline.ingest([a_note(1, "use builders")])
    with store.write() as writer:
        writer.put_vectors("m", {items(store)[0].id: b"1234"})
    assert pipeline.embed(7, limit=9) == 7
    pipeline.drop_other_vectors()
    with store.read() as reader:
        assert reader.vectors() == {"m": 1}


def test_the_vectors_of_other_models_are_dropped(
    embedding: Pipeline, store: Store, model: LazyModel
) -> None:
    embedding.ingest([a_note(1, "use builders")])
    with store.write() as writer:
        writer.put_vectors("other", {items(store)[0].id: b"1234"})
    embedding.drop_other_vectors()
    with store.read() as reader:
        assert reader.vectors() == {model.id: 1}
