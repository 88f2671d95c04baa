"""Items that changed since a worktree was last synchronised, and what each is to be anchored to.

`anchor_target` is pure; it reads facts in the format in which `observer.observations` writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from observer.core.model import Item
from observer.core.value import Value
from observer.store.anchors import WorktreeView
from observer.store.reader import StoreReader

MOST_FILES = 16
MOST_SYMBOLS = 24
"""Most of one item that is not a commit."""

ON_A_BRANCH = frozenset({"command", "file-write", "commit", "fix", "rejected", "arc"})
"""Types of observations about the code as it was; others hold on every branch."""

_HASH = re.compile(r"commit ([0-9a-f]{40,64})")
_SYMBOL = re.compile(r"(added|changed|resigned|removed) (\S.*)")
_FILE = re.compile(r"(?<![\w/.-])(?:[\w.-]+/){0,12}[\w-][\w.-]*\.[A-Za-z]\w{0,9}(?![\w/-])")
_QUOTED = re.compile(r"`([A-Za-z_][\w.:]{2,80})(?:\(\))?`")


class AnchorTarget(Value):
    """What an item is about, by its own words; git has not been asked.

    `base` is the commit at which it held; `is_commit` says that the item is about that commit, so
    that its files and symbols are those of the commit. `is_made` says that the item is about work
    that was not committed yet.
    """

    base: str
    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    is_commit: bool = False
    is_made: bool = False


def anchor_target(item: Item) -> AnchorTarget | None:
    """Return what an item is about; None if it is not about the code of some commit."""
    if item.kind == "note":
        return _of_note(item) if item.commit else None
    if item.kind == "summary":
        return AnchorTarget(base=item.commit) if item.commit else None
    if item.type == "commit":
        named = _HASH.fullmatch(item.facts[0]) if item.facts else None
        return AnchorTarget(base=named[1], is_commit=True) if named else None
    if item.type not in ON_A_BRANCH or not item.commit:
        return None
    return AnchorTarget(
        base=item.commit,
        files=_inside(item.files_modified),
        symbols=tuple(dict.fromkeys(_symbols(item)))[:MOST_SYMBOLS],
        is_made=True,
    )


def names_files(text: str) -> bool:
    """Return True if a note with this text is about files of its repository."""
    return bool(_inside(_FILE.findall(text)))


def _of_note(item: Item) -> AnchorTarget:
    text = f"{item.title}\n{item.narrative}"
    names = (name.rpartition("::")[2] for name in _QUOTED.findall(text))
    return AnchorTarget(
        base=item.commit,
        files=_inside(_FILE.findall(text)),
        symbols=tuple(dict.fromkeys(names))[:MOST_SYMBOLS],
    )


def _symbols(item: Item) -> Iterator[str]:
    for fact in item.facts:
        if named := _SYMBOL.fullmatch(fact):
            yield named[2]


def _inside(paths: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    """Return the paths that lie in the project."""
    own = (path for path in paths if not path.startswith(("/", "~", "../")))
    return tuple(dict.fromkeys(own))[:MOST_FILES]


PAGE = 1_000
"""Items read at once, to bound memory."""
MOST = 20_000
"""Most items that are followed through the history together."""


class NewItem(Value):
    """An item to be anchored; it held at `at_ms`, on `branch`.

    Its work was discarded at `discarded_ms`, 0 if it was not.
    """

    item: int
    target: AnchorTarget
    branch: str
    at_ms: int
    discarded_ms: int = 0


class ItemChanges(NamedTuple):
    """The items changed up to a change number: `fresh` to anchor, `seen` the ids of all.

    `undone` are the ids of older items that these say to have reverted.
    """

    change: int
    fresh: list[NewItem]
    seen: set[int]
    undone: set[int]


def changed_items(reader: StoreReader, worktree: WorktreeView) -> ItemChanges:
    """Return the items changed since `worktree.change`, at most about `MOST` to anchor."""
    batch = ItemChanges(worktree.change, [], set(), set())
    while len(batch.fresh) < MOST:
        page = reader.changes_in(worktree.project_id, after=batch.change, limit=PAGE)
        if not page:
            return batch
        batch = batch._replace(change=page[-1].change)
        known = {
            anchor_set.item: anchor_set.updated_ms
            for anchor_set in reader.anchor_sets(worktree.id, [change.id for change in page])
        }
        for change in page:
            # A vector that was added changes an item too, but not what it is about.
            if change.item and change.item.updated_ms == known.get(change.id):
                continue
            batch.seen.add(change.id)
            links = change.item.links if change.item else ()
            batch.undone.update(link.target for link in links if link.kind == "reverts")
            if change.item and (wanted := anchor_target(change.item)):
                at_ms = change.item.updated_ms
                batch.fresh.append(
                    NewItem(item=change.id, target=wanted, branch=change.item.branch, at_ms=at_ms)
                )
    return batch
