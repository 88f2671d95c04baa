"""Following every worktree of a project through git: `sync_worktree` is the entry of this room.

Git is read outside of any transaction. An interrupted synchronisation is repeated with one result.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from observer.core.model import Item, Project, Validity
from observer.core.value import Value
from observer.git import log as git
from observer.git.log import CommitDiff, DiffEntry
from observer.git.process import uncommitted_paths
from observer.staleness.history_walk import (
    ABSENT,
    FILE,
    NO_COMMIT,
    OUTSIDE,
    REVERTS,
    HistoryWalk,
    RepositoryView,
    fingerprint_of,
)
from observer.store.anchors import Anchor, AnchorSet, WorktreeView
from observer.store.interface import Store
from observer.store.reader import StoreReader
from observer.store.writer import Writer

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
    """Return True if the item is of uncommitted work on another branch."""
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
            self._arrive()
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
        self._arrive()

    def _go(self, chunk: Sequence[CommitDiff], trunk: set[str]) -> None:
        """Walk some commits; those of side branches only settle pending anchors."""
        commits = {step.commit for step in chunk}
        back = {commit for step in chunk for commit in REVERTS.findall(step.message)}
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

    def _arrive(self) -> None:
        """Keep where HEAD is, and the anchor sets that depend on the branch, if that changed."""
        there = replace(self._worktree, head=self._git.head, branch=self._git.branch)
        anchor_sets: Sequence[AnchorSet] = ()
        if there.branch != self._worktree.branch:
            with self._store.read() as reader:
                anchor_sets = reader.unsettled(self._worktree.id)
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
            anchor_sets = self._anchor(fresh)
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

    def _anchor(self, fresh: Sequence[NewItem]) -> list[AnchorSet]:
        """Return the anchor sets of items; of those that held at a commit unknown here, none."""
        walk = HistoryWalk(self._git.fingerprints)
        by_base: defaultdict[str, list[NewItem]] = defaultdict(list)
        for each in fresh:
            by_base[each.target.base].append(each)
        head = self._worktree.head
        here = set(by_base)
        if here - {head}:
            here = self._git.held(here, by=head)
        settle = self._follow(walk, by_base, here)
        away = [base for base in by_base.keys() - here if self._git.has(base)]
        steps = {step.commit: step for step in self._git.named(away)}
        for base in away:
            settle += self._anchor_at(walk, by_base[base], steps[base], is_here=False)
        # Compared with HEAD is what no commit of the trunk led to.
        for path in sorted({anchor.path for one in settle for anchor in one.anchors}):
            blob = self._git.blob_at(self._worktree.head, path)
            walk.move(DiffEntry(path, path, "", blob), NO_COMMIT)
        return walk.changed()

    def _follow(
        self, walk: HistoryWalk, by_base: dict[str, list[NewItem]], here: set[str]
    ) -> list[AnchorSet]:
        """Walk from the oldest of the bases to HEAD; return the anchor sets off the trunk."""
        head, beside = self._worktree.head, list[AnchorSet]()
        since = self._git.before(sorted(here)) if here else head
        trunk = set(git.first_parents(self._git.root, head, since=since))
        for step in git.commits_between(self._git.root, since, head):
            self._pause()
            walk.step(step, is_trunk=step.commit in trunk)
            if step.commit in here:
                made = self._anchor_at(walk, by_base[step.commit], step, is_here=True)
                beside += made if step.commit not in trunk else []
        return beside

    def _anchor_at(
        self, walk: HistoryWalk, fresh: Sequence[NewItem], step: CommitDiff, *, is_here: bool
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
                anchors=tuple(self._anchors(walk, each, step)),
            )
            walk.add(anchor_set)
            made.append(anchor_set)
        return made

    def _anchors(self, walk: HistoryWalk, fresh: NewItem, step: CommitDiff) -> Iterator[Anchor]:
        target = fresh.target
        if target.is_commit:
            yield from walk.of_commit(step)
        elif target.is_made:
            for path in target.files:
                for symbol in target.symbols or (OUTSIDE,):
                    yield Anchor(origin=path, path=path, symbol=symbol)
        else:
            for path in target.files:
                yield from self._mentioned(walk, path, target.symbols, step.commit)

    def _mentioned(
        self, walk: HistoryWalk, path: str, symbols: Sequence[str], commit: str
    ) -> Iterator[Anchor]:
        """Yield anchors of a note in a file; of uncommitted changes they are pending."""
        blob = self._git.blob_at(commit, path)
        known = self._git.fingerprints.of(blob, path)
        with self._store.read() as reader:
            sets = reader.anchored_in(self._worktree.id, [path])
        stored = HistoryWalk(self._git.fingerprints, sets)
        is_pending = stored.pending(path) or walk.pending(path)
        found = [symbol for symbol in symbols if fingerprint_of(known, symbol) != ABSENT]
        for symbol in found or ([FILE] if known else []):
            seen = None if is_pending else fingerprint_of(known, symbol)
            yield Anchor(origin=path, path=path, symbol=symbol, blob=blob, fingerprint=seen)


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

    Of a folder that is gone the view is deleted. `pause`, called between commits, may wait, or
    raise to stop. Raises: ObserverError.
    """
    news = False
    for root in project.roots:
        with RepositoryView(root) if Path(root).is_dir() else nullcontext() as repository:
            if repository and repository.head:
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
