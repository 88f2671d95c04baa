from __future__ import annotations

from pathlib import Path

import pytest

from observer.core.model import Item, spaced
from observer.store.database import SqliteStore
from observer.store.stemmer import stemmer


@pytest.mark.parametrize(
    ("word", "stems"),
    [
        pytest.param("Running", ("run",), id="stemmed"),
        pytest.param("CAFÉ", ("cafe",), id="folded"),
        pytest.param("cafe\u0301", ("cafe",), id="decomposed"),
        pytest.param("snake_case", ("snake", "case"), id="several"),
        pytest.param("-", (), id="no-word"),
        pytest.param("\ud800x", ("x",), id="half-a-character"),
        pytest.param("a\0b", ("a", "b"), id="nul"),
        pytest.param("", (), id="nothing"),
    ],
)
def test_a_word_has_the_stems_of_the_engine(word: str, stems: tuple[str, ...]) -> None:
    assert stemmer()(word) == stems


@pytest.mark.parametrize("text", ["Elections électorales", "naïve 東京 x2 ½", "running_tests.py"])
def test_stems_are_the_terms_that_the_store_keeps(tmp_path: Path, text: str) -> None:
    store = SqliteStore(tmp_path / "store" / "observer.db")
    with store.write() as writer:
        writer.put_items([Item(id=4, uuid="u", kind="note", type="t", title=text, narrative=text)])
        kept = {
            term for term in writer.terms_with_prefix("", limit=99) if not term.startswith("zq")
        }
    assert kept == set(stemmer()(spaced(text)))
    store.close()
