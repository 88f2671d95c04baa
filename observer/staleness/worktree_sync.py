"""Following every worktree of a project through git: `sync_worktree` is the entry of this room.

Git is read and code compared outside of any transaction. An interrupted synchronisation is repeated
with the same result.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path

from msgspec.structs import replace

from observer.core.model import Project, Validity
from observer.git import log as git
from observer.git.log import CommitDiff, DiffEntry
from observer.git.process import uncommitted_paths
from observer.staleness.anchoring import Anchoring, changed_items, discards, with_discards
from observer.staleness.history_walk import (
    FILE,
    NO_COMMIT,
    OUTSIDE,
    HistoryWalk,
    RepositoryView,
    reverts,
)
from observer.store.anchors import Anchor, AnchorSet, WorktreeView
from observer.store.interface import Store
from observer.store.writer import Writer

NAMED, COMMIT_CHARS = 3, 10
"""Most symbols or files that one `Validity.subject` names, and characters of a commit there."""


def validity(anchor_set: AnchorSet, *, branch: str) -> list[Validity]:
    """Return the validity of an item in a worktree that is on `branch`; empty if it holds."""
    landed = [anchor for anchor in anchor_set.anchors if anchor.fingerprint is not None]
    off = [anchor for anchor in landed if anchor.reason in {"changed", "deleted"}]
    found = list(_renamed(landed))
    if anchor_set.is_discarded:
        return [*found, Validity(reason="reverted", since_ms=anchor_set.reverted_ms)]
    # What was only said or run while HEAD was there is not taken back with it.
    if anchor_set.reverted and off:
        found.append(
            Validity(reason="reverted", commit=anchor_set.reverted, since_ms=anchor_set.reverted_ms)
        )
    elif not anchor_set.is_here or is_pending_on(anchor_set, branch):
        # Unless the code is here: cherry-picked, squashed or rebased.
        is_of_branch = anchor_set.branch == branch
        if off or not (landed or is_of_branch):
            where = "" if is_of_branch else anchor_set.branch
            found.append(Validity(reason="elsewhere", branch=where, commit=anchor_set.base))
    elif off:
        found.append(_moved_on(off, landed))
    return found


def is_pending_on(anchor_set: AnchorSet, branch: str) -> bool:
    """Return True if the item is about uncommitted work on another branch."""
    return anchor_set.is_pending and anchor_set.branch not in {"", branch}


def _moved_on(off: Sequence[Anchor], landed: Sequence[Anchor]) -> Validity:
    """Return what changed: one commit for all of it, or each behind the names that it changed."""
    off = sorted(off, key=lambda anchor: (anchor.since_ms or sys.maxsize, anchor.commit))
    commits = {anchor.commit for anchor in off}
    is_gone = all(anchor.reason == "deleted" for anchor in off)
    names: dict[str, str] = {}
    for anchor in off:
        name = anchor.path if anchor.symbol in {OUTSIDE, FILE} else anchor.symbol
        names.setdefault(name, anchor.commit[:COMMIT_CHARS] if len(commits) > 1 else "")
    runs = groupby(islice(names.items(), NAMED), key=itemgetter(1))
    said = [
        ", ".join(name for name, _ in run) + f" in {commit}" * bool(commit) for commit, run in runs
    ]
    more = len(names) - NAMED
    return Validity(
        reason="deleted" if is_gone else "changed",
        subject=", ".join(said) + (f" and {more} more" if more > 0 else ""),
        commit=off[0].commit if len(commits) == 1 else "",
        share=round(len(off) / len(landed), 3),
        since_ms=off[0].since_ms,
    )


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
MOST_ASKED = 500
"""Files that git is asked about at once."""

Write = Callable[[Callable[[Writer], None]], None]
"""Runs changes of the store in a transaction of their own."""


class WorktreeSync:
    """Follows one worktree and anchors new items; `pause` may wait, or raise to stop."""

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
        """Follow HEAD, then anchor; return True if anything changed. Raises: ObserverError."""
        begun = self._worktree
        if begun.head != self._git.head:
            self._move()
        elif begun.branch != self._git.branch:
            self._arrive(self._unsettled())
        self._take_up()
        return self._worktree != begun

    def _move(self) -> None:
        # Before the commits since then are taken for those of the edits that were discarded.
        with self._store.read() as reader:
            batch = changed_items(reader, self._worktree)
        if gone := self._discarded(batch.undone - batch.seen):
            self._keep(gone, self._worktree)
        old, new = self._worktree.head, self._git.head
        root = self._git.root
        trunk = git.first_parents(root, new, since=old)
        leap = git.diff_commits(
            root, old, git.resolve_commit(root, f"{trunk[-1]}^") if trunk else new
        )
        lost = git.reachable_commits(root, old, without=new)
        if leap or lost:  # back to where the path to the new commit begins
            walk = self._walk(leap, lost)
            for moved in leap:
                walk.move(moved, NO_COMMIT)
            walk.drop_commits(lost)
            self._keep(walk.changed(), self._worktree)
        steps = git.commits_between(root, old, new)
        while chunk := list(islice(steps, STEPS)):
            self._go(chunk, set(trunk))
        self._arrive(self._unsettled())

    def _go(self, chunk: Sequence[CommitDiff], trunk: set[str]) -> None:
        """Walk some commits; those of side branches only settle pending anchors."""
        commits = {step.commit for step in chunk}
        back = {commit for step in chunk for commit in reverts(step)}
        walk = self._walk([moved for step in chunk for moved in step.files], commits | back)
        for step in chunk:
            self._pause()
            walk.step(step, is_trunk=step.commit in trunk)
        walk.add_commits(commits)
        behind = [step.commit for step in chunk if step.commit in trunk]
        head = behind[-1] if behind else self._worktree.head
        self._keep(walk.changed(), replace(self._worktree, head=head))

    def _walk(self, files: Iterable[DiffEntry], commits: Iterable[str]) -> HistoryWalk:
        paths = {path for moved in files for path in moved[:2]}
        with self._store.read() as reader:
            known = reader.anchored_in(self._worktree.id, sorted(paths))
            known += reader.based_on(self._worktree.id, sorted(commits))
        return HistoryWalk(
            self._git.fingerprints, {anchor_set.item: anchor_set for anchor_set in known}.values()
        )

    def _unsettled(self) -> Sequence[AnchorSet]:
        """Return the anchor sets whose validity depends on the branch, if that changed."""
        if self._worktree.branch == self._git.branch:
            return ()
        with self._store.read() as reader:
            return reader.unsettled(self._worktree.id)

    def _arrive(self, anchor_sets: Sequence[AnchorSet]) -> None:
        there = replace(self._worktree, head=self._git.head, branch=self._git.branch)
        self._keep(self._carried(anchor_sets), there)

    def _carried(self, anchor_sets: Sequence[AnchorSet]) -> Sequence[AnchorSet]:
        """Rebase pending anchor sets on the branch to which uncommitted work was carried."""
        here = self._git.branch
        if not any(is_pending_on(anchor_set, here) for anchor_set in anchor_sets):
            return anchor_sets
        shown = git.checked_out_branches(self._git.root)
        away = [
            each for each in anchor_sets if is_pending_on(each, here) and each.branch not in shown
        ]
        paths = {anchor.path for anchor_set in away for anchor in anchor_set.anchors}
        changed = uncommitted_paths(self._git.root, sorted(paths)[:MOST_ASKED]) or ()
        carried = {
            anchor_set.item
            for anchor_set in away
            if any(anchor.path in changed for anchor in anchor_set.anchors)
        }
        return [replace(one, branch=here) if one.item in carried else one for one in anchor_sets]

    def _take_up(self) -> None:
        """Anchor the items that are new or changed, and drop the anchors of those that are gone."""
        while True:
            with self._store.read() as reader:
                batch = changed_items(reader, self._worktree)
                fresh = with_discards(reader, batch.fresh)
            if batch.change == self._worktree.change:
                return
            anchoring = Anchoring(self._store, self._git, self._worktree, self._pause)
            anchor_sets = anchoring.anchor(fresh)
            loose = batch.seen - {anchor_set.item for anchor_set in anchor_sets}
            anchor_sets += self._discarded(batch.undone - batch.seen)
            there = replace(self._worktree, change=batch.change)
            self._keep(self._carried(anchor_sets), there, loose=loose)

    def _discarded(self, undone: Collection[int]) -> list[AnchorSet]:
        with self._store.read() as reader:
            at_ms = discards(reader, undone)
            known = reader.anchor_sets(self._worktree.id, sorted(at_ms))
        return [
            replace(one, reverted_ms=at_ms[one.item])
            for one in known
            if one.is_pending and not one.is_discarded and one.at_ms <= at_ms[one.item]
        ]

    def _keep(
        self, anchor_sets: Sequence[AnchorSet], worktree: WorktreeView, *, loose: Iterable[int] = ()
    ) -> None:
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
    found = {
        anchor_set.item: validity(anchor_set, branch=worktree.branch) for anchor_set in anchor_sets
    }
    writer.put_validity(worktree.id, found)


def sync_worktree(
    store: Store, write: Write, project: Project, *, pause: Callable[[], None] = lambda: None
) -> bool:
    """Follow every worktree of a project to its HEAD, and anchor new items; True if that changed.

    The view of a folder that is gone, or no repository, is deleted. `pause` is called between
    commits; it may wait, or raise to stop. Raises: ObserverError.
    """
    news = False
    for root in project.roots:
        if not Path(root).is_dir():
            _forget(store, write, root)
            continue
        with RepositoryView(root) as repository:
            if repository.head:
                worktree = _worktree(store, write, project, repository)
                news |= WorktreeSync(store, write, repository, worktree, pause=pause).follow()
            else:
                _forget(store, write, root)
    return news


def _worktree(
    store: Store, write: Write, project: Project, repository: RepositoryView
) -> WorktreeView:
    """Return the view of a worktree: its own, a copy of a related one, or a new one."""
    with store.read() as reader:
        known = [each for each in reader.worktrees() if each.project_id == project.id]
    own = next((each for each in known if each.root == repository.root), None)
    if own and repository.leads_here(own.head):
        return own
    if own:  # its history was thrown away
        _forget(store, write, repository.root)
    begun = WorktreeView(
        root=repository.root, project_id=project.id, head=repository.head, branch=repository.branch
    )
    like = next((each for each in known if each != own and repository.leads_here(each.head)), None)
    if like:
        begun = replace(begun, head=like.head, branch=like.branch, change=like.change)

    def begin(writer: Writer) -> None:
        writer.put_worktree(begun, like=like.id if like else 0)

    write(begin)
    with store.read() as reader:
        return next(each for each in reader.worktrees() if each.root == repository.root)


def _forget(store: Store, write: Write, root: str) -> None:
    with store.read() as reader:
        gone = [each.id for each in reader.worktrees() if each.root == root]
    for worktree in gone:
        write(lambda writer, worktree=worktree: writer.drop_worktree(worktree))  # type: ignore[misc]  # a default binds it
