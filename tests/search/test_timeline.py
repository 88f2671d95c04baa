from __future__ import annotations

from collections.abc import Callable

import pytest

from observer.core.errors import BadInput, NotFound
from observer.core.model import Item
from observer.search.candidates import Sources
from observer.search.timeline import timeline

Filled = Callable[..., Sources]
Make = Callable[..., Item]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(2, 1, [(-2, 20), (-1, 16), (0, 12), (1, 8)], id="inside"),
        pytest.param(50, 50, [(-2, 20), (-1, 16), (0, 12), (1, 8), (2, 4)], id="more-than-is"),
        pytest.param(0, 0, [(0, 12)], id="alone"),
    ],
)
def test_positions_are_relative_to_the_anchor(
    filled: Filled, before: int, after: int, expected: list[tuple[int, int]]
) -> None:
    shown = timeline(filled(*"abcde").reader, 12, owner="", before=before, after=after)
    assert [(entry.position, entry.item.id) for entry in shown.entries] == expected
    assert shown.anchor.id == 12


def test_other_projects_are_left_out(filled: Filled, an_item: Make) -> None:
    reader = filled(*(an_item(n, project_id=2 + n % 2) for n in range(1, 7))).reader
    assert {entry.item.project_id for entry in timeline(reader, 12, owner="").entries} == {3}


@pytest.mark.parametrize(("before", "after"), [(-1, 0), (0, 51)])
def test_a_depth_out_of_range_is_refused(filled: Filled, before: int, after: int) -> None:
    with pytest.raises(BadInput, match="depth"):
        timeline(filled("a").reader, 4, owner="", before=before, after=after)


def test_an_unknown_anchor_is_named(filled: Filled) -> None:
    with pytest.raises(NotFound, match="no item 99"):
        timeline(filled("a").reader, 99, owner="")
