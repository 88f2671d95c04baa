"""Scoring inside SQLite: what restricts, what counts, what is remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from observer.model import Item, item_id, item_uuid
from observer.store.interface import Filters
from observer.store.sqlite import SqliteStore
from observer.store.sqlite.reader import SqliteReader
from observer.store.sqlite.relevance import COMMON, COUNTED, Counts

Filled = Callable[..., SqliteReader]


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    store = SqliteStore(tmp_path / "store" / "observer.db")
    lent = []

    def fill(*titles: str) -> SqliteReader:
        with store.write() as writer:
            writer.put_items(
                Item(
                    id=item_id(seq),
                    uuid=item_uuid(str(seq), seq),
                    kind="observation",
                    type="rare" if seq == 1 else "command",
                    title=title,
                    created_ms=seq,
                )
                for seq, title in enumerate(titles, start=1)
            )
        lent.append(store.read())
        return lent[-1].__enter__()

    yield fill
    for each in lent:
        each.__exit__(None, None, None)
    store.close()


def ids(reader: SqliteReader, expression: str, **more: object) -> list[int]:
    found = reader.match(expression, Filters(), limit=9, **more)  # type: ignore[arg-type]  # a table
    return [match.id for match in found]


@pytest.mark.parametrize("expression", ['"alpha"', '"alpha" OR "beta"', '"alpha beta"', "alpha*"])
def test_scores_are_those_of_fts5(filled: Filled, expression: str) -> None:
    reader = filled("alpha beta", "alpha alpha gamma delta", "beta", "alpha", *["x"] * 9)
    rows = reader._rows(
        "SELECT rowid, -bm25(item_words, 2, 1, 1, 1.5, 1, 1, 0) FROM item_words"
        " WHERE item_words MATCH ? ORDER BY 2 DESC, rowid DESC",
        ("{title subtitle narrative facts concepts files} : (" + expression + ")",),
    )
    found = reader.match(expression, Filters(), limit=9)
    if "*" in expression:  # FTS5 weighs a prefix by all its words, we by the one that is spelt so
        assert {match.id for match in found} == {rowid for rowid, _ in rows}
    else:
        assert [(match.id, pytest.approx(match.bm25)) for match in found] == rows


def test_within_restricts_and_scores_nothing(filled: Filled) -> None:
    reader = filled("alpha beta", "alpha", "alpha beta beta beta", *["x"] * 9)
    plain = {match.id: match.bm25 for match in reader.match('"alpha"', Filters(), limit=9)}
    found = reader.match('"alpha"', Filters(), limit=9, within='"beta" AND "alpha"')
    assert {match.id: match.bm25 for match in found} == {
        place: plain[place] for place in (item_id(1), item_id(3))
    }


def test_only_the_newest_are_scored(filled: Filled) -> None:
    reader = filled("alpha", "alpha", "beta", "alpha alpha", "beta")
    assert sorted(ids(reader, '"alpha"', newest=2)) == [item_id(2), item_id(4)]
    assert ids(reader, '"alpha"', newest=9, within='"beta"') == []
    assert ids(reader, '"gamma"', newest=2) == []


def test_the_newest_are_those_that_the_filters_let_through(filled: Filled) -> None:
    found = filled(*["alpha"] * 5).match('"alpha"', Filters(types=("rare",)), limit=9, newest=1)
    assert [match.id for match in found] == [item_id(1)]


def test_a_phrase_of_common_words_is_weighed_by_its_rarest(filled: Filled) -> None:
    reader = filled(*["alpha beta"] * (COUNTED + 1), *["gamma"] * (2 * COUNTED))
    phrase, word = (reader.match(text, Filters(), limit=1)[0] for text in ('"alpha beta"', "alpha"))
    assert phrase.bm25 == pytest.approx(word.bm25)


@pytest.mark.parametrize(
    ("count", "newest_id", "expected"),
    [
        pytest.param(COMMON, 1000, {"x": COMMON}, id="same"),
        pytest.param(COMMON, 1020, {"x": COMMON}, id="hardly-grown"),
        pytest.param(COMMON, 1021, {}, id="grown"),
        pytest.param(COMMON - 1, 1000, {}, id="cheap-to-count"),
    ],
)
def test_counts_of_common_words_are_kept_for_a_while(
    count: int, newest_id: int, expected: dict[str, int]
) -> None:
    counts = Counts()
    counts.learn({"x": count}, newest_id=1000)
    assert counts.recall(["x", "y"], newest_id=newest_id) == expected
