"""Anchoring new items: each at the commit at which it held, then followed to HEAD."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from observer.core.model import Item
from observer.core.value import Value
from observer.git.log import CommitDiff, DiffEntry, commits_between, first_parents
from observer.staleness.history_walk import (
    ABSENT,
    FILE,
    NO_COMMIT,
    OUTSIDE,
    HistoryWalk,
    RepositoryView,
    fingerprint_of,
)
from observer.store.anchors import Anchor, AnchorSet, WorktreeView
from observer.store.interface import Store
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
        if undo and edit and edit.type == _EDIT:
            # A git command takes back all that is not committed of a file. What was edited back may
            # be one of several edits that the item stands for, or be written again by the same.
            is_alone = undo.type == _EDIT and undo.session_id is None and edit.folded == 1
            if undo.type == "command" or is_alone:
                found.setdefault(edit.id, undo.created_ms)
    return found


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
    """What an item is about, by its own words, and `base`, the commit at which it held.

    `is_commit`: it is about that commit; `is_made`: about work that was not committed yet.
    """

    base: str
    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    is_commit: bool = False
    is_made: bool = False


def anchor_target(item: Item) -> AnchorTarget | None:
    """Return what an item is about; None if it is not about the code of some commit."""
    if item.kind == "note" and item.commit:
        text = f"{item.title}\n{item.narrative}"
        names = (name.rpartition("::")[2] for name in _QUOTED.findall(text))
        return AnchorTarget(
            base=item.commit,
            files=_inside(_FILE.findall(text)),
            symbols=tuple(dict.fromkeys(names))[:MOST_SYMBOLS],
        )
    if item.kind == "summary":
        return AnchorTarget(base=item.commit) if item.commit else None
    if item.type == "commit":
        named = _HASH.fullmatch(item.facts[0]) if item.facts else None
        return AnchorTarget(base=named[1], is_commit=True) if named else None
    if item.type not in ON_A_BRANCH or not item.commit:
        return None
    touched = map(_SYMBOL.fullmatch, item.facts)
    return AnchorTarget(
        base=item.commit,
        files=_inside(item.files_modified),
        symbols=tuple(dict.fromkeys(one[2] for one in touched if one))[:MOST_SYMBOLS],
        is_made=True,
    )


def names_files(text: str) -> bool:
    """Return True if a note with this text is about files of its repository."""
    return bool(_inside(_FILE.findall(text)))


def _inside(paths: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    own = (path for path in paths if not path.startswith(("/", "~", "../")))
    return tuple(dict.fromkeys(own))[:MOST_FILES]


PAGE = 1_000
"""Items read at once, to bound memory."""
MOST = 20_000
"""Most items that are followed through the history together."""


class NewItem(Value):
    """An item to be anchored, held at `at_ms` on `branch`; its work was discarded then, or 0."""

    item: int
    target: AnchorTarget
    branch: str
    at_ms: int
    discarded_ms: int = 0


class ItemChanges(NamedTuple):
    """The items changed: `fresh` to anchor, `seen` all ids, `undone` ids that these reverted."""

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


class Anchoring:
    """Anchors items, walking as much history as they need; `pause` may wait, or raise to stop."""

    def __init__(
        self, store: Store, repository: RepositoryView, worktree: WorktreeView,
        pause: Callable[[], None],
    ) -> None:  # fmt: skip
        self._store = store
        self._git = repository
        self._worktree = worktree
        self._pause = pause
        self._walk = HistoryWalk(repository.fingerprints)

    def anchor(self, fresh: Sequence[NewItem]) -> list[AnchorSet]:
        """Return the anchor sets of items; of those that held at a commit unknown here, none."""
        by_base: defaultdict[str, list[NewItem]] = defaultdict(list)
        for each in fresh:
            by_base[each.target.base].append(each)
        head = self._worktree.head
        here = set(by_base)
        if here - {head}:
            here = self._git.held(here, by=head)
        settle = self._follow(by_base, here)
        away = [base for base in by_base.keys() - here if self._git.has(base)]
        steps = {step.commit: step for step in self._git.named(away)}
        for base in away:
            settle += self._anchor_at(by_base[base], steps[base], is_here=False)
        # Compared with HEAD is what no commit of the trunk led to.
        for path in sorted({anchor.path for one in settle for anchor in one.anchors}):
            blob = self._git.blob_at(self._worktree.head, path)
            self._walk.move(DiffEntry(path, path, "", blob), NO_COMMIT)
        return self._walk.changed()

    def _follow(self, by_base: dict[str, list[NewItem]], here: set[str]) -> list[AnchorSet]:
        """Walk from the oldest of the bases to HEAD; return the anchor sets off the trunk."""
        head, beside = self._worktree.head, list[AnchorSet]()
        since = self._git.before(sorted(here)) if here else head
        trunk = set(first_parents(self._git.root, head, since=since))
        for step in commits_between(self._git.root, since, head):
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
        """Yield anchors of a note in a file; of uncommitted changes they are pending."""
        blob = self._git.blob_at(commit, path)
        known = self._git.fingerprints.of(blob, path)
        with self._store.read() as reader:
            sets = reader.anchored_in(self._worktree.id, [path])
        walk = HistoryWalk(self._git.fingerprints, sets)
        is_pending = walk.pending(path) or self._walk.pending(path)
        found = [symbol for symbol in symbols if fingerprint_of(known, symbol) != ABSENT]
        for symbol in found or ([FILE] if known else []):
            seen = None if is_pending else fingerprint_of(known, symbol)
            yield Anchor(origin=path, path=path, symbol=symbol, blob=blob, fingerprint=seen)
