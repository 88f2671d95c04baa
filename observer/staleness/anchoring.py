"""Mooring items: each at the commit at which it held, then followed to where HEAD is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence

from observer.git.commit_diffs import CommitDiff, Moved
from observer.staleness.changed_items import Fresh
from observer.staleness.history_walk import ABSENT, FILE, NOBODYS, OUTSIDE, Walk, print_of
from observer.staleness.repository import RepositoryView
from observer.store.anchors import Anchor, Mooring, Vantage
from observer.store.interface import Store


def moored(
    store: Store,
    repository: RepositoryView,
    vantage: Vantage,
    fresh: Sequence[Fresh],
    *,
    pause: Callable[[], None],
) -> list[Mooring]:
    """Return what ties items to the code, as it stands at the vantage's HEAD.

    Items that held at a commit which this repository does not have are left out.
    """
    return _Mooring(store, repository, vantage, pause).moored(fresh)


class _Mooring:
    """One round of mooring, through as much of the history as its items need."""

    def __init__(
        self, store: Store, repository: RepositoryView, vantage: Vantage, pause: Callable[[], None]
    ) -> None:
        self._store = store
        self._git = repository
        self._vantage = vantage
        self._pause = pause
        self._walk = Walk(repository.texts)

    def moored(self, fresh: Sequence[Fresh]) -> list[Mooring]:
        by_base: defaultdict[str, list[Fresh]] = defaultdict(list)
        for each in fresh:
            by_base[each.wish.base].append(each)
        here = self._here(by_base.keys())
        settle = self._follow(by_base, here)
        away = [base for base in by_base.keys() - here if self._git.has(base)]
        steps = {step.commit: step for step in self._git.named(away)}
        for base in away:
            settle += self._moor(by_base[base], steps[base], is_here=False)
        self._settle(settle)
        return self._walk.changed()

    def _here(self, bases: Collection[str]) -> set[str]:
        head = self._vantage.head
        if set(bases) <= {head}:
            return set(bases)
        return self._git.held(bases, by=head)

    def _follow(self, by_base: dict[str, list[Fresh]], here: set[str]) -> list[Mooring]:
        """Walk from the oldest of the bases to HEAD; return what was moored beside the trunk."""
        head, beside = self._vantage.head, list[Mooring]()
        since = self._git.before(sorted(here)) if here else head
        trunk = set(self._git.trunk(head, since=since))
        for step in self._git.steps(since, head):
            self._pause()
            self._walk.step(step, is_trunk=step.commit in trunk)
            if step.commit in here:
                made = self._moor(by_base[step.commit], step, is_here=True)
                beside += made if step.commit not in trunk else []
        return beside

    def _moor(self, fresh: Sequence[Fresh], step: CommitDiff, *, is_here: bool) -> list[Mooring]:
        made = []
        for each in fresh:
            mooring = Mooring(
                item=each.item,
                base=step.commit,
                branch=each.branch,
                at_ms=each.at_ms,
                updated_ms=each.at_ms,
                is_here=is_here,
                anchors=tuple(self._anchors(each, step)),
            )
            self._walk.moor(mooring)
            made.append(mooring)
        return made

    def _anchors(self, fresh: Fresh, step: CommitDiff) -> Iterator[Anchor]:
        wish = fresh.wish
        if wish.is_commit:
            yield from self._walk.of_commit(step)
        elif wish.is_made:
            for path in wish.files:
                for symbol in wish.symbols or (OUTSIDE,):
                    yield Anchor(origin=path, path=path, symbol=symbol)
        else:
            for path in wish.files:
                yield from self._mentioned(path, wish.symbols, step.commit)

    def _mentioned(self, path: str, symbols: Sequence[str], commit: str) -> Iterator[Anchor]:
        """Anchor a note to a file it names: to the symbols it names, else to its being there.

        A note made while the file was being worked on tells of that work: what is committed next.
        """
        blob = self._git.blob_at(commit, path)
        known = self._git.texts.prints(blob, path)
        is_pending = self._is_pending(path)
        found = [symbol for symbol in symbols if print_of(known, symbol) != ABSENT]
        for symbol in found or ([FILE] if known else []):
            seen = None if is_pending else print_of(known, symbol)
            yield Anchor(origin=path, path=path, symbol=symbol, blob=blob, print=seen)

    def _is_pending(self, path: str) -> bool:
        with self._store.read() as reader:
            known = Walk(self._git.texts, reader.moored_to(self._vantage.id, [path]))
        return known.pending(path) or self._walk.pending(path)

    def _settle(self, moorings: Sequence[Mooring]) -> None:
        """Compare with HEAD what no step of the trunk led to."""
        paths = {anchor.path for mooring in moorings for anchor in mooring.anchors}
        for path in sorted(paths):
            blob = self._git.blob_at(self._vantage.head, path)
            self._walk.move(Moved(path, path, "", blob), NOBODYS)
