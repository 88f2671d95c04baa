"""How much of an item's worth is left once the world has moved on."""

from __future__ import annotations

import pytest

from observer.core.model import Item, Validity
from observer.search.eligible import is_stale, outranked, staleness_factor
from observer.search.rank import Hit, HitSignals, fit


def _item(number: int = 1, *standing: Validity, stale_ms: int | None = None) -> Item:
    return Item(
        id=number, uuid="", kind="note", type="decision", title="", validity=standing,
        stale_ms=stale_ms,
    )  # fmt: skip


def _hit(item: Item, score: float) -> Hit:
    return Hit(item=item, score=score, signals=HitSignals())


@pytest.mark.parametrize(
    ("standing", "factor"),
    [
        ((), 1.0),
        ((Validity(reason="renamed"),), 1.0),
        ((Validity(reason="supersedes", target=3),), 1.0),
        ((Validity(reason="changed"),), 1.0),
        ((Validity(reason="reverted", share=0.5),), 0.85),
        ((Validity(reason="superseded"), Validity(reason="elsewhere")), 0.4),
    ],
    ids=["holds", "renamed", "supersedes", "changed", "half", "both"],
)
def test_a_score_is_less_by_what_happened(standing: tuple[Validity, ...], factor: float) -> None:
    assert staleness_factor(standing) == pytest.approx(factor)


@pytest.mark.parametrize(
    ("item", "stale"),
    [
        (_item(), False),
        (_item(1, stale_ms=5), True),
        (_item(1, Validity(reason="changed", share=0.5)), True),
        (_item(1, Validity(reason="changed", share=0.4)), False),
        (_item(1, Validity(reason="elsewhere")), False),
        (_item(1, Validity(reason="superseded")), True),
    ],
    ids=["holds", "by itself", "half", "less", "elsewhere", "superseded"],
)
def test_an_item_is_stale_once_half_of_it_is(item: Item, *, stale: bool) -> None:
    assert is_stale(item) is stale


def test_what_took_the_place_stands_above() -> None:
    old = _hit(_item(1, Validity(reason="superseded", target=2)), 0.9)
    new = _hit(_item(2), 0.3)
    alone = _hit(_item(3, Validity(reason="superseded", target=9)), 0.8)
    scores = {hit.item.id: hit.score for hit in outranked([old, new, alone])}
    assert scores[1] < scores[2] == 0.3
    assert scores[3] == 0.8


def test_no_score_falls_below_0() -> None:
    old = _hit(_item(1, Validity(reason="superseded", target=2)), 0.005)
    assert [hit.score for hit in outranked([old, _hit(_item(2), 0.004)])] == [0.0, 0.004]


def test_a_hit_tells_what_is_left_of_its_worth() -> None:
    signals = HitSignals(fts5=1.0)
    hit = Hit(item=_item(), score=0.4 * fit(signals), signals=signals)
    assert hit.lasting == pytest.approx(0.4)
    assert _hit(_item(), 0.0).lasting == 1.0
