"""Fingerprints of the symbols of a file, and following anchors by them from commit to commit.

A fingerprint covers a symbol without those nested in it, without comments and layout.
"""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import chain

from msgspec.structs import replace

from observer.code.languages import language_of
from observer.code.outline import outline
from observer.git import log as git
from observer.git.log import CommitDiff, DiffEntry
from observer.git.process import Blobs
from observer.store.anchors import Anchor, AnchorSet

OUTSIDE = ""
"""Name of the text outside of all symbols."""
FILE = "/"
"""Name of the existence of a file; never the name of a symbol."""
ABSENT = ""
"""Fingerprint of what does not exist."""
MOST_BYTES = 512 << 10
"""A larger file is data: it has one fingerprint, of all its bytes."""

_QUOTES = str.maketrans("'", '"', "\\")
_LAST_COMMA = re.compile(r",(?=[)\]}])")

Fingerprints = Mapping[str, str]


def fingerprints(data: bytes, path: str) -> Fingerprints:
    """Return the fingerprint of each symbol by its qualified name, the rest under `OUTSIDE`."""
    if len(data) > MOST_BYTES or b"\0" in data:
        return {OUTSIDE: _digest(data)}
    text = data.decode("utf-8", "replace")
    lines = text.split("\n")
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for symbol in outline(text, language_of(path)):
        texts[symbol.path].append(symbol.text)
        inside = slice(symbol.first_line - 1, symbol.last_line)
        lines[inside] = [""] * len(lines[inside])
    found = {}
    for name, parts in {**texts, OUTSIDE: lines}.items():
        # Without what a formatter decides: spaces, sorts of quotes, last commas.
        packed = _LAST_COMMA.sub("", "".join("".join(parts).split()).translate(_QUOTES))
        found[name] = _digest(packed.encode("utf-8", "replace"))
    return found


def fingerprint_of(known: Fingerprints, name: str) -> str:
    """Return a symbol's fingerprint, `ABSENT` for none; a bare name is that of all classes."""
    if name == FILE:
        return "there" if known else ABSENT
    if name in known or not name:
        return known.get(name, ABSENT)
    tail = f".{name}"
    found = [known[each] for each in sorted(known) if each.endswith(tail)]
    return found[0] if len(found) == 1 else _digest("".join(found).encode()) if found else ABSENT


def touched(before: Fingerprints, after: Fingerprints) -> list[str]:
    """Return the symbols in which two versions of a file differ; `OUTSIDE` if in none."""
    names = [name for name in {**after, **before} if name]
    return [name for name in names if before.get(name) != after.get(name)] or [OUTSIDE]


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=9).hexdigest()


MOST_ANCHORS = 64
"""Of one item; what a larger commit touched beyond that is not followed."""
KEPT_FILES = 2_000
"""Versions of files whose fingerprints are cached."""
SECOND_MS = 1_000
"""git knows no smaller time: what is committed in the same second may come after."""

REVERTS = re.compile(r"This reverts commit ([0-9a-f]{40,64})")
"""What git writes into the message of a commit that reverts another one."""

Text = Callable[[str], bytes | None]
"""Returns the content that git calls by a name; None if it is missing or too large to look at."""


NO_COMMIT = CommitDiff(commit="", parents=(), committed_ms=0, authored_ms=0, message="", files=())
"""Stands for the unknown commit of a change."""


class FileFingerprints:
    """Fingerprints of files by blob id, with a cache of those asked for last."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._known: OrderedDict[tuple[str, str], Fingerprints] = OrderedDict()

    def of(self, blob: str, path: str) -> Fingerprints:
        """Return the fingerprints of a blob at a path; none without a blob."""
        if not blob:
            return {}
        key = blob, path.rpartition("/")[2]
        if key in self._known:
            self._known.move_to_end(key)
        else:
            data = self._text(blob)
            self._known[key] = {OUTSIDE: blob} if data is None else fingerprints(data, path)
            if len(self._known) > KEPT_FILES:
                self._known.popitem(last=False)
        return self._known[key]


class HistoryWalk:
    """Anchor sets as they are after the commits walked so far."""

    def __init__(
        self, fingerprints: FileFingerprints, anchor_sets: Iterable[AnchorSet] = ()
    ) -> None:
        self._fingerprints = fingerprints
        self._anchor_sets: dict[int, AnchorSet] = {}
        self._in_file: defaultdict[str, set[int]] = defaultdict(set)
        self._based: defaultdict[str, set[int]] = defaultdict(set)
        self._reverted: defaultdict[str, set[int]] = defaultdict(set)
        self._changed: set[int] = set()
        for anchor_set in anchor_sets:
            self.add(anchor_set)
        self._changed.clear()

    def add(self, anchor_set: AnchorSet) -> None:
        """Add an anchor set, to be followed from here on."""
        # An item stays listed under paths where it was: looking twice costs less than unlisting.
        self._anchor_sets[anchor_set.item] = anchor_set
        self._based[anchor_set.base].add(anchor_set.item)
        self._reverted[anchor_set.reverted].add(anchor_set.item)
        for anchor in anchor_set.anchors:
            self._in_file[anchor.path].add(anchor_set.item)
        self._changed.add(anchor_set.item)

    def update(self, anchor_set: AnchorSet) -> None:
        """Replace the anchor set of its item, if it differs."""
        if self._anchor_sets.get(anchor_set.item) != anchor_set:
            self.add(anchor_set)

    def pending(self, path: str) -> bool:
        """Return True if an anchor in a file waits for a commit."""
        known = (self._anchor_sets[item] for item in self._in_file[path])
        anchors = (each.anchors for each in known if not each.is_discarded)
        return any(each.path == path and each.fingerprint is None for each in chain(*anchors))

    def changed(self) -> list[AnchorSet]:
        """Return the anchor sets that were added or replaced, by item."""
        return [self._anchor_sets[item] for item in sorted(self._changed)]

    def step(self, step: CommitDiff, *, is_trunk: bool) -> None:
        """Settle what a commit commits and reverts; compare what it changed if on the trunk."""
        for commit in REVERTS.findall(step.message):
            for item in list(self._based[commit]):
                known = self._anchor_sets[item]
                if not known.is_discarded:
                    back = replace(known, reverted=step.commit, reverted_ms=step.committed_ms)
                    self.update(back)
            for item in list(self._reverted[commit]):
                self.update(replace(self._anchor_sets[item], reverted="", reverted_ms=0))
        for moved in step.files:
            self.move(moved, step, is_trunk=is_trunk)

    def move(self, moved: DiffEntry, step: CommitDiff, *, is_trunk: bool = True) -> None:
        """Follow the anchors of one file."""
        for item in sorted(self._in_file[moved.old] | self._in_file[moved.path]):
            anchor_set = self._anchor_sets[item]
            anchors = [
                self._followed(anchor, moved, step, anchor_set)
                if anchor.path in moved[:2] and (is_trunk or anchor.fingerprint is None)
                else anchor
                for anchor in anchor_set.anchors
            ]
            self.update(_landed(anchor_set, anchors, step))

    def drop_commits(self, commits: Collection[str]) -> None:
        """Mark the anchor sets of commits that left the history."""
        for anchor_set in list(self._anchor_sets.values()):
            is_here = anchor_set.is_here and anchor_set.base not in commits
            self.update(replace(anchor_set, is_here=is_here))
            if anchor_set.reverted in commits:
                self.update(replace(anchor_set, is_here=is_here, reverted="", reverted_ms=0))

    def add_commits(self, commits: Collection[str]) -> None:
        """Mark the anchor sets of commits that came into the history."""
        for anchor_set in list(self._anchor_sets.values()):
            if anchor_set.base in commits:
                self.update(replace(anchor_set, is_here=True))

    def of_commit(self, step: CommitDiff) -> Iterator[Anchor]:
        """Yield anchors for what a commit changed beside its first parent."""
        room = MOST_ANCHORS
        for moved in step.files:
            after = self._fingerprints.of(moved.blob, moved.path)
            before = self._fingerprints.of(moved.before, moved.old)
            names = touched(before, after) if moved.blob else [OUTSIDE]
            for name in names[: max(room, 0)]:
                yield Anchor(
                    origin=moved.path,
                    path=moved.path,
                    symbol=name,
                    blob=moved.blob,
                    fingerprint=fingerprint_of(after, name),
                )
            room -= len(names)

    def _followed(
        self, anchor: Anchor, moved: DiffEntry, step: CommitDiff, anchor_set: AnchorSet
    ) -> Anchor:
        now = self._fingerprints.of(moved.blob, moved.path)
        current = fingerprint_of(now, anchor.symbol)
        path = moved.path if anchor.path == moved.old else anchor.path
        if anchor.fingerprint is None:
            is_gone = anchor_set.is_discarded and _is_new_work(step, anchor_set)
            if is_gone or step.committed_ms + SECOND_MS <= anchor_set.at_ms:
                return replace(anchor, path=path)
            return replace(anchor, path=path, fingerprint=current, blob=moved.blob)
        reason = "renamed" if path != anchor.origin else ""
        if current != anchor.fingerprint:
            is_gone = not moved.blob or (anchor.symbol != OUTSIDE and current == ABSENT)
            reason = "deleted" if is_gone else "changed"
        if reason == "deleted" and (elsewhere := self._moved_to(anchor, step)):
            reason, path = "renamed", elsewhere
        if reason == anchor.reason:
            return replace(anchor, path=path)
        since_ms = step.committed_ms if reason else 0
        commit = step.commit if reason else ""
        return replace(anchor, path=path, reason=reason, commit=commit, since_ms=since_ms)

    def _moved_to(self, anchor: Anchor, step: CommitDiff) -> str:
        """Return the file to which a commit moved an unchanged symbol, "" if to none."""
        if anchor.symbol == OUTSIDE or anchor.fingerprint == ABSENT:
            return ""
        plain = anchor.symbol.rpartition(".")[2]
        for moved in step.files:
            if moved.path != anchor.path and moved.blob:
                known = self._fingerprints.of(moved.blob, moved.path)
                if anchor.fingerprint in {
                    fingerprint_of(known, anchor.symbol),
                    fingerprint_of(known, plain),
                }:
                    return moved.path
        return ""


def _is_new_work(step: CommitDiff, anchor_set: AnchorSet) -> bool:
    """Return True if a commit cannot have what was discarded before it.

    One that was made of a commit from between has it: a pick or a rebase keeps the author's time.
    """
    is_rewritten = step.committed_ms > step.authored_ms + 2 * SECOND_MS
    is_of_then = anchor_set.at_ms - SECOND_MS < step.authored_ms <= anchor_set.reverted_ms
    return step.committed_ms > anchor_set.reverted_ms and not (is_rewritten and is_of_then)


def _landed(anchor_set: AnchorSet, anchors: Sequence[Anchor], step: CommitDiff) -> AnchorSet:
    """Return an anchor set with these anchors, based on the commit if it committed some."""
    had = [anchor for anchor in anchor_set.anchors if anchor.fingerprint is None]
    still = [anchor for anchor in anchors if anchor.fingerprint is None]
    if len(still) < len(had):
        anchor_set = replace(anchor_set, base=step.commit, is_here=True)
        # Symbols that are not in a file are left out, if others of the item are.
        with_some = {each.origin for each in anchors if each.fingerprint}
        anchors = [
            each for each in anchors if each.fingerprint != ABSENT or each.origin not in with_some
        ]
    return replace(anchor_set, anchors=tuple(anchors))


MOST_NAMED = 100
"""Commits named in one question."""


class RepositoryView(AbstractContextManager["RepositoryView"]):
    """A worktree's repository, and a process for its texts. Raises: NotFound."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.head = git.resolve_commit(root, "HEAD")
        self.branch = git.current_branch(root)
        self._blobs = Blobs(root)
        self.fingerprints = FileFingerprints(self._text)

    def __exit__(self, *_: object) -> None:
        """End its process."""
        self._blobs.close()

    def has(self, commit: str) -> bool:
        """Return True if the repository has this commit."""
        found = self._blobs.get(commit)
        return found is not None and found.kind == "commit"

    def leads_here(self, commit: str) -> bool:
        """Return True if a commit exists and shares history with HEAD."""
        return self.has(commit) and git.is_related(self.root, commit, self.head)

    def blob_at(self, commit: str, path: str) -> str:
        """Return git's name of a file's content in a commit, "" if it is not there."""
        found = self._blobs.get(f"{commit}:{path}")
        return found.id if found and found.kind == "blob" else ""

    def named(self, commits: Sequence[str]) -> Iterator[CommitDiff]:
        """Yield those of the commits that exist."""
        for start in range(0, len(commits), MOST_NAMED):
            yield from git.commits_by_hash(self.root, commits[start : start + MOST_NAMED])

    def held(self, commits: Collection[str], *, by: str) -> set[str]:
        """Return which of these commits another contains; those that are not there are in none."""
        if len(commits) > MOST_NAMED:
            return git.reachable_commits(self.root, by).intersection(commits)
        # A few are asked after by what they have beyond it: nothing, mostly, however long the
        # history is.
        there = set(filter(self.has, commits))
        return there - git.reachable_commits(self.root, *there, without=by) if there else there

    def before(self, commits: Sequence[str]) -> str:
        """Return a commit that all of these, if not too many, contain and none is, or ""."""
        if len(commits) > MOST_NAMED:
            return ""
        shared = git.merge_base(self.root, commits)
        return git.resolve_commit(self.root, f"{shared}^") if shared in commits else shared

    def _text(self, blob: str) -> bytes | None:
        found = self._blobs.get(blob)
        return found.data if found else None
