"""Anchoring new items: each at the commit at which it held, then followed to HEAD."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence

from observer.git.commit_diffs import CommitDiff, DiffEntry
from observer.staleness.changed_items import NewItem
from observer.staleness.history_walk import (
    ABSENT,
    FILE,
    NO_COMMIT,
    OUTSIDE,
    HistoryWalk,
    fingerprint_of,
)
from observer.staleness.repository import RepositoryView
from observer.store.anchors import Anchor, AnchorSet, WorktreeView
from observer.store.interface import Store


def anchored(
    store: Store,
    repository: RepositoryView,
    worktree: WorktreeView,
    fresh: Sequence[NewItem],
    *,
    pause: Callable[[], None],
) -> list[AnchorSet]:
    """Return the anchor sets of items, as of the worktree's HEAD.

    Items that held at a commit which this repository does not have are left out.
    """
    return _Anchoring(store, repository, worktree, pause).anchor(fresh)


class _Anchoring:
    """Anchors one batch of items, walking as much of the history as they need."""

    def __init__(
        self,
        store: Store,
        repository: RepositoryView,
        worktree: WorktreeView,
        pause: Callable[[], None],
    ) -> None:
        self._store = store
        self._git = repository
        self._worktree = worktree
        self._pause = pause
        self._walk = HistoryWalk(repository.fingerprints)

    def anchor(self, fresh: Sequence[NewItem]) -> list[AnchorSet]:
        by_base: defaultdict[str, list[NewItem]] = defaultdict(list)
        for each in fresh:
            by_base[each.target.base].append(each)
        here = self._here(by_base.keys())
        settle = self._follow(by_base, here)
        away = [base for base in by_base.keys() - here if self._git.has(base)]
        steps = {step.commit: step for step in self._git.named(away)}
        for base in away:
            settle += self._anchor_at(by_base[base], steps[base], is_here=False)
        self._settle(settle)
        return self._walk.changed()

    def _here(self, bases: Collection[str]) -> set[str]:
        head = self._worktree.head
        if set(bases) <= {head}:
            return set(bases)
        return self._git.held(bases, by=head)

    def _follow(self, by_base: dict[str, list[NewItem]], here: set[str]) -> list[AnchorSet]:
        """Walk from the oldest of the bases to HEAD; return the anchor sets off the trunk."""
        head, beside = self._worktree.head, list[AnchorSet]()
        since = self._git.before(sorted(here)) if here else head
        trunk = set(self._git.trunk(head, since=since))
        for step in self._git.steps(since, head):
            self._pause()
            self._walk.step(step, is_trunk=step.commit in trunk)
            if step.commit in here:
                made = self._anchor_at(by_base[step.commit], step, is_here=True)
                beside += made if step.commit not in trunk else []
        return beside

    def _anchor_at(
        self, fresh: Sequence[NewItem], step: CommitDiff, *, is_here: bool
    ) -> list[AnchorSet]:
        made = []
        for each in fresh:
            anchor_set = AnchorSet(
                item=each.item,
                base=step.commit,
                branch=each.branch,
                at_ms=each.at_ms,
                updated_ms=each.at_ms,
                is_here=is_here,
                reverted_ms=each.discarded_ms,
                anchors=tuple(self._anchors(each, step)),
            )
            self._walk.add(anchor_set)
            made.append(anchor_set)
        return made

    def _anchors(self, fresh: NewItem, step: CommitDiff) -> Iterator[Anchor]:
        target = fresh.target
        if target.is_commit:
            yield from self._walk.of_commit(step)
        elif target.is_made:
            for path in target.files:
                for symbol in target.symbols or (OUTSIDE,):
                    yield Anchor(origin=path, path=path, symbol=symbol)
        else:
            for path in target.files:
                yield from self._mentioned(path, target.symbols, step.commit)

    def _mentioned(self, path: str, symbols: Sequence[str], commit: str) -> Iterator[Anchor]:
        """Yield anchors of a note in a file it names: for the symbols it names, else the file.

        A note made while the file has uncommitted changes is about those: its anchors are pending.
        """
        blob = self._git.blob_at(commit, path)
        known = self._git.fingerprints.of(blob, path)
        is_pending = self._is_pending(path)
        found = [symbol for symbol in symbols if fingerprint_of(known, symbol) != ABSENT]
        for symbol in found or ([FILE] if known else []):
            seen = None if is_pending else fingerprint_of(known, symbol)
            yield Anchor(origin=path, path=path, symbol=symbol, blob=blob, fingerprint=seen)

    def _is_pending(self, path: str) -> bool:
        with self._store.read() as reader:
            known = HistoryWalk(
                self._git.fingerprints, reader.anchored_in(self._worktree.id, [path])
            )
        return known.pending(path) or self._walk.pending(path)

    def _settle(self, anchor_sets: Sequence[AnchorSet]) -> None:
        """Compare with HEAD the anchor sets that no commit of the trunk led to."""
        paths = {anchor.path for anchor_set in anchor_sets for anchor in anchor_set.anchors}
        for path in sorted(paths):
            blob = self._git.blob_at(self._worktree.head, path)
            self._walk.move(DiffEntry(path, path, "", blob), NO_COMMIT)
