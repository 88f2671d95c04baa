"""Edits that git, or the deletion of a file, took back before a commit had them.

The observation of the command links to them. What a commit reverts is found in the history.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from observer.core.model import Item
from observer.staleness.changed_items import NewItem
from observer.store.reader import StoreReader

_EDIT = "file-write"


def with_discards(reader: StoreReader, fresh: Sequence[NewItem]) -> list[NewItem]:
    """Return the items, each with when its work was discarded, unless it went on afterwards."""
    at_ms = discards(reader, [each.item for each in fresh])
    return [
        replace(each, discarded_ms=at_ms[each.item])
        if at_ms.get(each.item, 0) >= each.at_ms
        else each
        for each in fresh
    ]


def discards(reader: StoreReader, ids: Collection[int]) -> Mapping[int, int]:
    """Return when each of these edits was discarded; those that were not are left out."""
    links = [each for each in reader.linked_to(sorted(ids)) if each[1].kind == "reverts"]
    if not links:
        return {}
    named = {number for source, link in links for number in (source, link.target)}
    known = {item.id: item for item in reader.items(sorted(named))}
    found: dict[int, int] = {}
    for source, link in links:
        undo, edit = known.get(source), known.get(link.target)
        if undo and edit and _is_discard(undo, edit):
            found.setdefault(edit.id, undo.created_ms)
    return found


def _is_discard(undo: Item, edit: Item) -> bool:
    """Return True if an observation says that all of an edit is gone.

    A git command takes back all that is not committed of a file. What was edited back may be one
    of several edits that the item stands for, or be written again by the same.
    """
    if edit.type != _EDIT:
        return False
    is_alone = undo.type == _EDIT and undo.session_id is None and edit.folded == 1
    return undo.type == "command" or is_alone
