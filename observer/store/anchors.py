"""The contract of a store, continued: anchors of items in the code, and their validity.

All of it is derived, from items and from git, by `observer.staleness`. Validity is relative to a
git worktree: the same item may hold in one and not in another.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Literal, Protocol

from observer.core.model import ItemChange, Validity
from observer.core.value import Value

ValidityById = Mapping[int, tuple[Validity, ...]]


class WorktreeView(Value):
    """A worktree as it was last synchronised.

    `head` is the commit up to which it was followed, `change` the number of the last change of an
    item that was anchored. `id` 0 is not stored yet.
    """

    root: str
    project_id: int
    id: int = 0
    head: str = ""
    branch: str = ""
    change: int = 0


class Anchor(Value):
    """One thing in the code that an item is about: a symbol of a file, or what is outside of all.

    `origin` is the file's path as the item names it, `path` where it is now. `blob` is git's name
    of the file's content when the item held, `fingerprint` that of the symbol's text in it:
    None until the work that the item describes is committed, empty where the symbol was not there.
    `reason` is empty while the code is as it was; then `commit` and `since_ms` say what changed it.
    """

    origin: str
    path: str
    symbol: str = ""
    blob: str = ""
    fingerprint: str | None = None
    reason: Literal["", "changed", "deleted", "renamed"] = ""
    commit: str = ""
    since_ms: int = 0


class AnchorSet(Value):
    """The anchors of one item, seen from one worktree.

    It held at the commit `base`, on `branch`, at `at_ms`; `is_here` says whether the worktree's
    history has that commit. `reverted` is the commit that took it back; without one, what was never
    committed was discarded at `reverted_ms`.
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
        """Whether some of the work that the item describes is not committed yet."""
        return any(anchor.fingerprint is None for anchor in self.anchors)

    @property
    def is_discarded(self) -> bool:
        """Whether the work that the item describes was thrown away before a commit had it."""
        return self.is_pending and self.reverted_ms > 0 and not self.reverted


class StalenessReader(Protocol):
    """Reads of worktree views, anchor sets and validity."""

    def worktrees(self) -> list[WorktreeView]:
        """Return all worktrees, by id."""

    def anchor_sets(self, worktree: int, ids: Sequence[int]) -> list[AnchorSet]:
        """Return the anchor sets of these items; items without one are left out."""

    def anchored_in(self, worktree: int, paths: Sequence[str]) -> list[AnchorSet]:
        """Return the anchor sets with an anchor in one of these files, by where they are now."""

    def based_on(self, worktree: int, commits: Sequence[str]) -> list[AnchorSet]:
        """Return the anchor sets of items that held at one of these commits, or were reverted."""

    def unsettled(self, worktree: int) -> list[AnchorSet]:
        """Return the anchor sets that are not here, or of work that is not committed yet."""

    def changes_in(self, project_id: int, *, after: int, limit: int) -> list[ItemChange]:
        """Return the next changes of a project's items after a number, without vectors."""

    def snapshot(self) -> Hashable:
        """Return a token for this snapshot; a snapshot of other content never has the same.

        Two snapshots of the same content may have different tokens.
        """

    def set_folder(self, folder: str) -> None:
        """Set the folder whose worktree validity is relative to; "" if unknown.

        Every later read of items fills in `Item.validity`: for the worktree around that folder,
        and for other projects in their newest worktree.
        """

    def validity(self, ids: Sequence[int]) -> ValidityById:
        """Return the validity of items by id, seen from the folder; most items have none."""

    def vectors_of(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Return the vectors of items in eight bits a dimension; those without are left out."""

    def moved_to(self, ends: Sequence[str], *, limit: int) -> list[int]:
        """Return items of which a file was renamed to a path that ends so, newest first."""


class StalenessWriter(Protocol):
    """Changes of worktree views, anchor sets and validity."""

    def put_worktree(self, worktree: WorktreeView, *, like: int = 0) -> int:
        """Insert (id 0) or replace a worktree; returns its id.

        A new one begins with a copy of all that is stored for the worktree view `like`.
        """

    def drop_worktree(self, worktree: int) -> None:
        """Delete a worktree view and all that is stored for it."""

    def put_anchor_sets(self, worktree: int, anchor_sets: Iterable[AnchorSet]) -> None:
        """Insert or replace, by item."""

    def drop_anchor_sets(self, worktree: int, ids: Iterable[int]) -> None:
        """Delete the anchor sets of these items."""

    def put_validity(self, worktree: int, validity: Mapping[int, Sequence[Validity]]) -> None:
        """Replace the validity of these items."""
