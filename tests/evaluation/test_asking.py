"""Sets and histories are asked through the real store and the real recall."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from observer.evaluation import sets
from observer.evaluation.asking import SYSTEMS, Asked, ask, figures, trial
from observer.store.interface import Reader

DOCUMENTS = (
    sets.Document(id="a", title="Edit cart.py", narrative="Added def cachePrices"),
    sets.Document(id="b", title="Edit login.py", facts=("Added def verify_token",)),
)
ASKED = (
    Asked(text="cache prices", relevant=frozenset({sets.item(DOCUMENTS[0], 1).id})),
    Asked(text="verify the token", relevant=frozenset({sets.item(DOCUMENTS[1], 2).id})),
    Asked(text="", relevant=frozenset({4})),
)


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_finds_what_is_plainly_there(name: str) -> None:
    with trial() as memory:
        memory.keep(sets.item(document, n) for n, document in enumerate(DOCUMENTS, start=1))
        with memory.store.read() as reader:
            answers = ask(reader, ASKED, {name: SYSTEMS[name]}, now_ms=sets.NOW_MS)
    assert figures(answers, ASKED)[:, 0, 3].tolist() == [1, 1, 0]


def test_figures_stand_by_query_and_system_in_order() -> None:
    def right(reader: Reader, text: str, now_ms: int) -> Sequence[int]:
        return [4] if text == "cache prices" else [8]

    with trial() as memory, memory.store.read() as reader:
        systems = {"right": right, "silent": lambda *_: []}
        answers = ask(reader, ASKED, systems, now_ms=0)
    assert figures(answers, ASKED)[:, :, 0].tolist() == [[1, 0], [1, 0], [0, 0]]


def test_nothing_of_a_trial_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with trial() as memory:
        memory.keep([sets.item(DOCUMENTS[0], 1)])
        assert list(folder.iterdir())
    assert not list(folder.iterdir())
    assert not (Path(os.environ["OBSERVER_HOME"])).exists()
