"""Long and short texts stand where they should; labelled sets are answered as promised."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
from evaluation import sets
from evaluation.runner import temporary_memory
from evaluation.systems import recall
from labelled import SETS
from labelled.score import Case, score

from observer.index.embed.lazy_model import LazyModel
from observer.index.embed.registry import find

FACT = (
    "Picked plain files instead of Redis for the tills because no one in a branch can look after"
    " a service; a courier process uploads the receipts to the centre each quarter of an hour"
)
QUESTION = "storage decision for registers in the stores and its reason"
DOING = ("mend", "trim", "rename", "probe", "sort", "guard", "watch")
THINGS = ("store list", "register page", "storage view", "shop label", "reason field")
SHORT = [f"{doing} {thing}" for doing, thing in product(DOING, THINGS)]
LONG = [
    f"{doing} the {thing} so that the people in the branch find it where it was before the winter"
    " and need no new explanation from the helpdesk"
    for doing, thing in product(DOING, THINGS)
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LazyModel:
    return LazyModel(find("instant+deep", tmp_path_factory.mktemp("models")))


def found(model: LazyModel, texts: Sequence[str], question: str) -> list[str]:
    documents = [sets.SetDocument(id=text, title=text[:100], narrative=text) for text in texts]
    items = [sets.item(document, number) for number, document in enumerate(documents, start=1)]
    with temporary_memory(model) as memory:
        memory.keep(items)
        with memory.sources() as sources:
            ids = recall(sources, question, sets.NOW_MS)
    texts_by_id = {item.id: item.narrative for item in items}
    return [texts_by_id[each] for each in ids]


@pytest.mark.parametrize("around", [LONG, [*LONG, *SHORT], SHORT], ids=["long", "both", "short"])
def test_what_answers_comes_first_whatever_lengths_are_around(
    model: LazyModel, around: list[str]
) -> None:
    assert found(model, [FACT, *around], QUESTION)[0] == FACT


def test_one_word_finds_the_text_that_holds_it_before_what_is_merely_near(model: LazyModel) -> None:
    assert found(model, [*SHORT, *LONG, FACT], "receipts")[0] == FACT


LABELLED = Path(__file__).parents[1] / "data"

FLOORS = {
    "changes": (120, 0.95),
    "arcs": (60, 0.9),
    "outcomes": (210, 0.97),
    "signatures": (180, 0.97),
}
"""Name of a set -> how many cases it has at least, and the precision and recall it must reach."""


@pytest.mark.slow
@pytest.mark.parametrize("name", FLOORS)
def test_a_set_reaches_its_precision_and_recall(name: str) -> None:
    found = score(name, SETS[name](LABELLED / name))
    cases, floor = FLOORS[name]
    assert found.cases >= cases
    assert found.precision >= floor
    assert found.recall >= floor


def case(found: str, wanted: str) -> Case:
    return Case(name="a", found=frozenset(found.split()), wanted=frozenset(wanted.split()))


def test_a_score_counts_claims_over_all_cases_which_name_their_differences() -> None:
    one = case("x y", "x z")
    assert (one.wrong, one.missed) == (("y",), ("z",))
    found = score("a", [one, case("", "w"), case("", "")])
    assert (found.cases, found.precision, found.recall) == (3, 1 / 2, 1 / 3)
