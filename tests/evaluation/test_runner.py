"""Sets and histories are asked through the real store and the real recall."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from evaluation import sets
from evaluation.runner import EvaluatedQuery, ask, figures, temporary_memory
from evaluation.systems import SYSTEMS, legs_of, mentions, systems_of
from msgspec.structs import replace

from observer.index.embed.lazy_model import LazyModel
from observer.index.embed.registry import find
from observer.search.candidates import Sources

DOCUMENTS = (
    sets.SetDocument(id="a", title="Edit cart.py", narrative="Added def cachePrices"),
    sets.SetDocument(id="b", title="Edit login.py", facts=("Added def verify_token",)),
)
ASKED = (
    EvaluatedQuery(text="cache prices", relevant=frozenset({sets.item(DOCUMENTS[0], 1).id})),
    EvaluatedQuery(text="verify the token", relevant=frozenset({sets.item(DOCUMENTS[1], 2).id})),
    EvaluatedQuery(text="?!", relevant=frozenset({4})),
)


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_finds_what_is_plainly_there(model: LazyModel, name: str) -> None:
    with temporary_memory(model) as memory:
        memory.keep(sets.item(document, n) for n, document in enumerate(DOCUMENTS, start=1))
        with memory.sources() as sources:
            answers = ask(sources, ASKED, {name: SYSTEMS[name]}, now_ms=sets.NOW_MS)
    assert figures(answers, ASKED)[:, 0, 3].tolist() == [1, 1, 0]


def test_a_joined_model_is_asked_part_by_part(tmp_path: Path) -> None:
    joined = LazyModel(find("instant+deep", tmp_path))
    systems = legs_of(joined)
    assert list(systems) == ["instant alone", "words + instant", "deep alone", "words + deep"]
    with temporary_memory(joined) as memory:
        memory.keep(sets.item(document, n) for n, document in enumerate(DOCUMENTS, start=1))
        with memory.sources() as sources:
            answers = ask(sources, ASKED, systems, now_ms=sets.NOW_MS)
            bare = sources._replace(encode=lambda *_: None)
            assert ask(bare, ASKED[:1], systems, now_ms=0)["deep alone"] == [[]]
    assert (figures(answers, ASKED)[:2, :, 3] == 1).all()


def test_all_is_indexed_before_it_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A view has patience for a few batches only, and a slow model takes its time."""
    monkeypatch.setattr("observer.index.index.BATCH", 1)
    slow = LazyModel(find("deep", tmp_path))
    with temporary_memory(slow) as memory:
        memory.keep(sets.item(sets.SetDocument(id=f"{n}", title="same"), n) for n in range(1, 10))
        with memory.sources() as sources:
            assert sources.view.size == 9
            assert sources.reader.vectors() == {slow.id: 9}


def test_figures_stand_by_query_and_system_in_order(model: LazyModel) -> None:
    def right(sources: Sources, text: str, now_ms: int) -> Sequence[int]:
        return [4] if text == "cache prices" else [8]

    with temporary_memory(model) as memory, memory.sources() as sources:
        systems = {"right": right, "silent": lambda *_: []}
        answers = ask(sources, ASKED, systems, now_ms=0)
    assert figures(answers, ASKED)[:, :, 0].tolist() == [[1, 0], [1, 0], [0, 0]]


def test_nothing_of_a_trial_stays_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: LazyModel
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with temporary_memory(model) as memory:
        memory.keep([sets.item(DOCUMENTS[0], 1)])
        assert list(folder.iterdir())
    assert not list(folder.iterdir())
    assert not (Path(os.environ["OBSERVER_HOME"])).exists()


def test_a_model_that_cannot_be_used_leaves_words(tmp_path: Path, model: LazyModel) -> None:
    broken = LazyModel(replace(model.info, problem="damaged"))
    with temporary_memory(broken) as memory:
        memory.keep([sets.item(DOCUMENTS[0], 1)])
        with memory.sources() as sources:
            answers = ask(sources, ASKED[:1], systems_of(broken), now_ms=sets.NOW_MS)
    assert answers == {"recall": [[4]], "words only": [[4]]}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("prices of nothing", {4}, id="one word of many"),
        pytest.param("edits", {4, 8}, id="stem"),
        pytest.param("TOKEN verify", {8}, id="part of a name"),
        pytest.param("zebra", set(), id="none"),
        pytest.param("", set(), id="empty"),
        pytest.param('"', set(), id="no word"),
    ],
)
def test_what_holds_any_word_is_shown(model: LazyModel, text: str, found: set[int]) -> None:
    with temporary_memory(model) as memory:
        memory.keep(sets.item(document, n) for n, document in enumerate(DOCUMENTS, start=1))
        with memory.sources() as sources:
            assert mentions(sources, text) == found
