"""Which commits are no news any more: git has taken them back, or others stand in their place."""

from __future__ import annotations

from collections.abc import Iterable

from observer.model import Item
from observer.store.interface import Reader

_AWAY = frozenset({"elsewhere", "reverted"})


def discarded(reader: Reader, items: Iterable[Item]) -> frozenset[int]:
    """Return the commits among items that were reset, reverted, amended, squashed or rebased away.

    A commit of another branch is none of this one's history either.
    """
    commits = [item for item in items if item.type == "commit"]
    away = {item.id for item in commits if any(one.reason in _AWAY for one in item.standing)}
    links = reader.linked_to([item.id for item in commits]) if commits else []
    return frozenset(away | {link.target for _, link in links if link.kind == "replaces"})
