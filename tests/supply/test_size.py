"""What the house measures only falls."""

from __future__ import annotations

import size


def test_a_figure_above_its_limit_is_named() -> None:
    of = {"lines": {"limit": 10, "aim": 5}, "rooms": {"limit": 3, "aim": 2}}
    assert size.check({"lines": 12, "rooms": 3}, of) == ["lines: 12, limit 10"]


def test_a_floor_is_one_above_the_highest_that_a_room_imports() -> None:
    needs = {"core": set[str](), "store": {"core"}, "search": {"store", "core"}}
    assert size.floors_of(needs) == {"core": 1, "store": 2, "search": 3}


def test_each_figure_has_a_limit_and_an_aim() -> None:
    assert size.limits().keys() == size.figures().keys()
