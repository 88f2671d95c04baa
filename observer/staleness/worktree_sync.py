"""Keeping the store up with one work tree: where HEAD went, and what is new in the memory.

All reading of git and comparing of code happens outside of any transaction; what came of it is
written in short ones. Whatever dies in between is done again, with the same result.

What must be said of an item, from how its anchors stand; pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice

from msgspec.structs import replace

from observer.core.model import Validity
from observer.git.commit_diffs import CommitDiff, DiffEntry
from observer.staleness.anchoring import moored
from observer.staleness.changed_items import changed_items
from observer.staleness.history_walk import FILE, NO_COMMIT, OUTSIDE, HistoryWalk, reverts
from observer.staleness.repository import RepositoryView
from observer.store.anchors import Anchor, AnchorSet, WorktreeView
from observer.store.interface import Store, Writer

NAMED = 3
"""Symbols or files that one line names."""


def validity(anchor_set: AnchorSet, *, branch: str) -> list[Validity]:
    """Return what must be said of an item, seen from a work tree that is on `branch`."""
    landed = [anchor for anchor in anchor_set.anchors if anchor.print is not None]
    off = [anchor for anchor in landed if anchor.reason in {"changed", "deleted"}]
    told = list(_renamed(landed))
    # What was only said or run while HEAD was there is not taken back with it.
    if anchor_set.reverted and off:
        told.append(
            Validity(reason="reverted", commit=anchor_set.reverted, since_ms=anchor_set.reverted_ms)
        )
    elif not anchor_set.is_here or is_pending_on(anchor_set, branch):
        told += _elsewhere(anchor_set, branch, landed=landed, off=off)
    elif off:
        told.append(_moved_on(off, landed))
    return told


def is_pending_on(anchor_set: AnchorSet, branch: str) -> bool:
    """Tell whether it is of uncommitted work on another branch."""
    return anchor_set.is_pending and anchor_set.branch not in {"", branch}


def _elsewhere(
    anchor_set: AnchorSet, branch: str, *, landed: Sequence[Anchor], off: Sequence[Anchor]
) -> Iterator[Validity]:
    """Say where an item holds, unless the same code is here: picked, squashed or rebased."""
    is_same_code = bool(landed) and not off
    was_rewritten = anchor_set.branch == branch and not off
    if not is_same_code and not was_rewritten:
        where = "" if anchor_set.branch == branch else anchor_set.branch
        yield Validity(reason="elsewhere", branch=where, commit=anchor_set.base)


def _moved_on(off: Sequence[Anchor], landed: Sequence[Anchor]) -> Validity:
    gone = [anchor for anchor in off if anchor.reason == "deleted"]
    is_gone = len(gone) == len(off)
    first = min(off, key=lambda anchor: anchor.since_ms)
    return Validity(
        reason="deleted" if is_gone else "changed",
        subject=_named(off),
        commit=first.commit,
        share=round(len(off) / len(landed), 3),
        since_ms=first.since_ms,
    )


def _named(off: Sequence[Anchor]) -> str:
    names = list(dict.fromkeys(_name(anchor) for anchor in off))
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _name(anchor: Anchor) -> str:
    return anchor.path if anchor.symbol in {OUTSIDE, FILE} else anchor.symbol


def _renamed(landed: Sequence[Anchor]) -> Iterator[Validity]:
    moved = {
        (anchor.origin, anchor.path): anchor
        for anchor in landed
        if anchor.path != anchor.origin and anchor.reason != "deleted"
    }
    for (origin, path), anchor in moved.items():
        renaming = anchor.reason == "renamed"
        yield Validity(
            reason="renamed",
            subject=origin,
            path=path,
            commit=anchor.commit if renaming else "",
            since_ms=anchor.since_ms if renaming else 0,
        )


STEPS = 200
"""Commits followed between two transactions."""
ITEMS = 1_000
"""Items written in one transaction."""

Write = Callable[[Callable[[Writer], None]], None]
"""Runs changes of the store in a transaction of their own."""


class WorktreeSync:
    """One work tree, seen from its worktree.

    Args:
        store: what is read.
        write: how it is changed.
        repository: the work tree.
        worktree: how far it was followed.
        pause: called between commits; may wait, or raise to stop.
    """

    def __init__(
        self,
        store: Store,
        write: Write,
        repository: RepositoryView,
        worktree: WorktreeView,
        *,
        pause: Callable[[], None],
    ) -> None:
        self._store = store
        self._write = write
        self._git = repository
        self._worktree = worktree
        self._pause = pause

    def follow(self) -> bool:
        """Go where HEAD went, then take up what is new in the memory; tell whether there was any.

        Raises:
            ObserverError: the repository, or the store, cannot be read or written.
        """
        begun = self._worktree
        if begun.head != self._git.head:
            self._move()
        elif begun.branch != self._git.branch:
            self._arrive(self._unsettled())
        self._take_up()
        return self._worktree != begun

    def _move(self) -> None:
        old, new = self._worktree.head, self._git.head
        trunk = self._git.trunk(new, since=old)
        leap = self._git.leap(old, self._git.parent(trunk[-1]) if trunk else new)
        self._leave(leap, lost=self._git.contained(old, without=new))
        steps = self._git.steps(old, new)
        while chunk := list(islice(steps, STEPS)):
            self._go(chunk, set(trunk))
        self._arrive(self._unsettled())

    def _leave(self, leap: Sequence[DiffEntry], *, lost: set[str]) -> None:
        """Go back to where the way to the new commit begins."""
        if not leap and not lost:
            return
        walk = self._walk(leap, lost)
        for moved in leap:
            walk.move(moved, NO_COMMIT)
        walk.leave(lost)
        self._keep(walk.changed(), self._worktree)

    def _go(self, chunk: Sequence[CommitDiff], trunk: set[str]) -> None:
        """Take some steps; those of side branches only land what was not committed yet."""
        commits = {step.commit for step in chunk}
        back = {commit for step in chunk for commit in reverts(step)}
        walk = self._walk([moved for step in chunk for moved in step.files], commits | back)
        for step in chunk:
            self._pause()
            walk.step(step, is_trunk=step.commit in trunk)
        walk.come(commits)
        behind = [step.commit for step in chunk if step.commit in trunk]
        head = behind[-1] if behind else self._worktree.head
        self._keep(walk.changed(), replace(self._worktree, head=head))

    def _walk(self, files: Iterable[DiffEntry], commits: Iterable[str]) -> HistoryWalk:
        """Return a walk with the anchor_sets that changes of these files, or commits, concern."""
        paths = {path for moved in files for path in moved[:2]}
        with self._store.read() as reader:
            known = reader.anchored_in(self._worktree.id, sorted(paths))
            known += reader.based_on(self._worktree.id, sorted(commits))
        return HistoryWalk(
            self._git.texts, {anchor_set.item: anchor_set for anchor_set in known}.values()
        )

    def _unsettled(self) -> Sequence[AnchorSet]:
        """Return the anchor_sets of which another branch makes something else."""
        if self._worktree.branch == self._git.branch:
            return ()
        with self._store.read() as reader:
            return reader.unsettled(self._worktree.id)

    def _arrive(self, anchor_sets: Sequence[AnchorSet]) -> None:
        there = replace(self._worktree, head=self._git.head, branch=self._git.branch)
        self._keep(self._carried(anchor_sets), there)

    def _carried(self, anchor_sets: Sequence[AnchorSet]) -> Sequence[AnchorSet]:
        """Take uncommitted work along to the branch that it was carried to."""
        here = self._git.branch
        if not any(is_pending_on(anchor_set, here) for anchor_set in anchor_sets):
            return anchor_sets
        shown = self._git.checked_out()
        away = [
            each for each in anchor_sets if is_pending_on(each, here) and each.branch not in shown
        ]
        paths = {anchor.path for anchor_set in away for anchor in anchor_set.anchors}
        changed = self._git.uncommitted(sorted(paths))
        carried = {
            anchor_set.item
            for anchor_set in away
            if any(anchor.path in changed for anchor in anchor_set.anchors)
        }
        return [replace(one, branch=here) if one.item in carried else one for one in anchor_sets]

    def _take_up(self) -> None:
        """Moor the items that are new or changed, and cast off those that are gone."""
        while True:
            with self._store.read() as reader:
                told = changed_items(reader, self._worktree)
            if told.change == self._worktree.change:
                return
            anchor_sets = moored(
                self._store, self._git, self._worktree, told.fresh, pause=self._pause
            )
            loose = told.seen - {anchor_set.item for anchor_set in anchor_sets}
            there = replace(self._worktree, change=told.change)
            self._keep(self._carried(anchor_sets), there, loose=loose)

    def _keep(
        self, anchor_sets: Sequence[AnchorSet], worktree: WorktreeView, *, loose: Iterable[int] = ()
    ) -> None:
        """Write what came of a part of the way; that it is done, at last."""
        last = max(0, len(anchor_sets) - 1) // ITEMS * ITEMS
        for start in range(0, last, ITEMS):
            self._write(partial(_put, worktree, anchor_sets[start : start + ITEMS]))

        def finish(writer: Writer) -> None:
            _put(worktree, anchor_sets[last:], writer)
            writer.drop_anchor_sets(worktree.id, loose)
            writer.put_validity(worktree.id, dict.fromkeys(loose, ()))
            writer.put_worktree(worktree)

        self._write(finish)
        self._worktree = worktree


def _put(worktree: WorktreeView, anchor_sets: Sequence[AnchorSet], writer: Writer) -> None:
    writer.put_anchor_sets(worktree.id, anchor_sets)
    told = {
        anchor_set.item: validity(anchor_set, branch=worktree.branch) for anchor_set in anchor_sets
    }
    writer.put_validity(worktree.id, told)
