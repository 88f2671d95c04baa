"""The contract of a store, continued: what items are about in the code, and what became of it.

All of it is derived, from items and from git; `observer.staleness` keeps it. A *worktree* is a work
tree from which the memory is looked at: the same item may hold in one and not in another.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Literal, Protocol

from observer.core.model import ItemChange, Validity
from observer.core.value import Value

ANYWHERE = 0
"""The worktree of what is so from every work tree."""


ValidityById = Mapping[int, tuple[Validity, ...]]


class WorktreeView(Value):
    """A work tree, the commit up to which it was followed, and the last change taken up."""

    root: str
    project_id: int
    id: int = 0
    head: str = ""
    branch: str = ""
    change: int = 0


class Anchor(Value):
    """One thing in the code that an item is about: a symbol of a file, or what is outside of all.

    `origin` is the file's path as the item names it, `path` where it is now. `blob` is git's name
    of the file's content when the item held, `print` the fingerprint of the symbol's text in it:
    None until the work that the item tells of is committed, empty where the symbol was not there.
    `reason` is empty while the code is as it was; then `commit` and `since_ms` tell what moved on.
    """

    origin: str
    path: str
    symbol: str = ""
    blob: str = ""
    print: str | None = None
    reason: Literal["", "changed", "deleted", "renamed"] = ""
    commit: str = ""
    since_ms: int = 0


class AnchorSet(Value):
    """What ties an item to the code, seen from one worktree.

    It held at the commit `base`, on `branch`, at `at_ms`; `is_here` tells whether the worktree's
    history has that commit. `reverted` is the commit that took it back.
    """

    item: int
    base: str
    branch: str = ""
    at_ms: int = 0
    updated_ms: int = 0
    is_here: bool = True
    reverted: str = ""
    reverted_ms: int = 0
    anchors: tuple[Anchor, ...] = ()

    @property
    def is_pending(self) -> bool:
        """Whether some of the work that the item tells of is not committed yet."""
        return any(anchor.print is None for anchor in self.anchors)


class StalenessReader(Protocol):
    """Reads of what became of items."""

    def worktrees(self) -> list[WorktreeView]:
        """Return all worktrees, by id."""

    def anchor_sets(self, worktree: int, ids: Sequence[int]) -> list[AnchorSet]:
        """Return what ties these items to the code; those that nothing ties are left out."""

    def anchored_in(self, worktree: int, paths: Sequence[str]) -> list[AnchorSet]:
        """Return the anchor sets with an anchor in one of these files, by where they are now."""

    def based_on(self, worktree: int, commits: Sequence[str]) -> list[AnchorSet]:
        """Return the anchor sets of items that held at one of these commits, or were reverted."""

    def unsettled(self, worktree: int) -> list[AnchorSet]:
        """Return the anchor sets that are not here, or of work that is not committed yet."""

    def changes_in(self, project_id: int, *, after: int, limit: int) -> list[ItemChange]:
        """Return the next changes of a project's items after a number, without vectors."""

    def snapshot(self) -> Hashable:
        """Return what tells this snapshot from any in which something else is stored.

        It may differ between two of the same, but is never the same for two that differ.
        """

    def seen_from(self, folder: str) -> None:
        """Say from which folder items are looked at, from now on; "" where nobody told.

        Every read of items says with each how it stands (`Item.validity`): in the work tree around
        that folder, and for other projects in their newest work tree.
        """

    def validity(self, ids: Sequence[int]) -> ValidityById:
        """Return what must be said of items, seen from the folder; most have nothing."""

    def vectors_of(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Return the vectors of items in eight bits a dimension; those without are left out."""

    def moved_to(self, ends: Sequence[str], *, limit: int) -> list[int]:
        """Return items of which a file was renamed to a path that ends so, newest first."""


class StalenessWriter(Protocol):
    """Changes of what became of items."""

    def put_worktree(self, worktree: WorktreeView, *, like: int = 0) -> int:
        """Insert (id 0) or replace a worktree; returns its id.

        A new one begins with all that is known from the worktree `like`.
        """

    def drop_worktree(self, worktree: int) -> None:
        """Forget a work tree that is gone."""

    def put_anchor_sets(self, worktree: int, anchor_sets: Iterable[AnchorSet]) -> None:
        """Insert or replace, by item."""

    def drop_anchor_sets(self, worktree: int, ids: Iterable[int]) -> None:
        """Cast items off."""

    def put_validity(self, worktree: int, validity: Mapping[int, Sequence[Validity]]) -> None:
        """Say this, and nothing else, of these items."""
