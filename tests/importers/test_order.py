"""In whatever order sessions are imported, in the end they say what they would have said live."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from observer.core.model import Item
from tests.importers.conftest import Filled, Memories, without_tokens
from tests.importers.played import fixed_later


def linked(filled: Filled) -> list[tuple[object, ...]]:
    """Return what the items say, and to which they lead, apart from their numbers."""
    items = filled.items()
    titles = {item.id: item.title for item in items}

    def shown(item: Item) -> tuple[object, ...]:
        links = sorted(
            (link.kind, titles.get(link.target or 0, ""), link.title) for link in item.links
        )
        return (item.type, item.title, item.narrative, without_tokens(item.facts), links)

    return sorted(map(shown, items), key=repr)


@pytest.mark.measured
@pytest.mark.parametrize("order", [*permutations(range(3))], ids=str)
@pytest.mark.parametrize("heard", [(), (1,)], ids=["imported", "one by hooks"])
def test_sessions_are_linked_in_whatever_order_they_came(
    memory: Memories, shop: Path, tmp_path: Path, order: tuple[int, ...], heard: tuple[int, ...]
) -> None:
    live, mixed = memory("live"), memory("mixed")
    sessions = fixed_later(shop)
    for session in sessions:
        session.spool(live.spool)
    live.live()
    for number in order:
        if number in heard:
            sessions[number].spool(mixed.spool)
            mixed.live()
        else:
            mixed.imported(sessions[number].write(tmp_path))
    assert bool(mixed.out_of_order()) == (order != (0, 1, 2))
    mixed.put_in_order()
    assert not mixed.out_of_order()
    assert linked(mixed) == linked(live)
    assert [title for kind, title, *_ in linked(mixed) if kind == "fix"]
