"""One watched work tree: its folders, what was last seen in its files, and what was saved since.

What a file looked like: read without following links, and kept as far as memory is given.
"""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from collections.abc import Collection, Iterator
from typing import NamedTuple

from watchfiles import DefaultFilter

from observer.core.paths import is_inside
from observer.git.status import MOST_PATHS, FileStatus, WorkTree
from observer.ingest.file_changes import Save, is_temporary
from observer.policy import Policies

FILE_BYTES = 1 << 20
"""Larger files are data, or generated; of them nothing is told."""
KEPT_CHARS = 4 << 20
"""Of the texts of one tree that are kept: those that git does not have."""

_BINARY_BYTES = 8_000
_PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = _PLAIN | os.O_DIRECTORY
_FILE = _PLAIN | os.O_NONBLOCK | os.O_NOCTTY


class FileSnapshot(NamedTuple):
    """A file as it was: `stamp` is None if it was not there, `text` None if it was not kept."""

    stamp: tuple[int, int] | None
    text: str | None

    @property
    def is_known(self) -> bool:
        """Whether all there was to see is still known."""
        return self.stamp is None or self.text is not None


NOTHING = FileSnapshot(None, None)
UNKNOWN = FileSnapshot((0, 0), None)


def take_snapshot(
    root: str, path: str, before: FileSnapshot | None, *, with_text: bool
) -> FileSnapshot | None:
    """Look at a file; None if it is none of which anything is told: large, binary, a link.

    A file below a symbolic link is not in the tree, whatever the index says: it counts as gone.

    Args:
        root: the work tree.
        path: relative to it.
        before: returned as it is if the file still bears its stamp.
        with_text: whether to read it.
    """
    try:
        descriptor = _open(root, path)
    except (FileNotFoundError, NotADirectoryError):
        return NOTHING
    except (OSError, ValueError):  # a link, unreadable, no name of a file
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > FILE_BYTES:
            return None
        stamp = (status.st_mtime_ns, status.st_size)
        if before and before.stamp == stamp:
            return before
        if not with_text:
            return FileSnapshot(stamp, None)
        text = text_of(os.read(descriptor, FILE_BYTES))
    finally:
        os.close(descriptor)
    return None if text is None else FileSnapshot(stamp, text)


def _open(root: str, path: str) -> int:
    """Open a file of a work tree; each folder on the way is opened as one, never as a link."""
    *folders, name = path.split("/")
    above = os.open(root, _FOLDER)
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER, dir_fd=above)
            os.close(above)
            above = inner
        return os.open(name, _FILE, dir_fd=above)
    finally:
        os.close(above)


def text_of(data: bytes) -> str | None:
    """Return the text of a file with plain line ends, None if it is binary."""
    if b"\0" in data[:_BINARY_BYTES]:
        return None
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


class Snapshots:
    """What was last seen in each file; the texts longest unchanged go first."""

    def __init__(self) -> None:
        self._seen: dict[str, FileSnapshot] = {}
        self._chars: OrderedDict[str, int] = OrderedDict()
        self._total = 0

    def __iter__(self) -> Iterator[str]:
        return iter(self._seen)

    def get(self, path: str) -> FileSnapshot | None:
        """Return what was seen there, None if nothing was noted."""
        return self._seen.get(path)

    def keep(self, path: str, sight: FileSnapshot) -> None:
        """Note what is there now."""
        self.drop(path)
        self._seen[path] = sight
        self._chars[path] = len(sight.text or "")
        self._total += self._chars[path]
        while self._total > KEPT_CHARS:
            oldest, chars = self._chars.popitem(last=False)
            self._total -= chars
            self._seen[oldest] = self._seen[oldest]._replace(text=None)

    def drop(self, path: str) -> None:
        """Forget what was there: git has it."""
        self._seen.pop(path, None)
        self._total -= self._chars.pop(path, 0)


MOST_READ = 300
"""Files read in one look; of further ones it is told that they changed, not what."""
SLACK_MS = 1_000
"""How far the kernel's word is behind a file's own time."""

UNWATCHED = frozenset({*DefaultFilter.ignore_dirs, "target", "venv"})
"""Folders that nobody edits, unless git tracks a file in them."""


class TooLarge(Exception):
    """A tree has more files than the user wants watched."""


class _Change(NamedTuple):
    path: str
    standing: FileStatus | None
    before: FileSnapshot | None
    now: FileSnapshot


class WatchedTree:
    """Knows of each file that differs from git's index what was last seen in it.

    Args:
        root: a work tree.
        most_files: above that many it is not watched.
        excluded: folders of which nothing is told; nor is it of what the tree's policy excludes.

    Raises:
        TooLarge: says how many files there are at least.
        NotFound: git is not installed.
    """

    def __init__(self, root: str, *, most_files: int, excluded: tuple[str, ...]) -> None:
        self.root = root
        self.folders: frozenset[str] = frozenset()
        self.files = 0
        self._most_files = most_files
        self._excluded = excluded
        self._policies = Policies()
        self._git = WorkTree(root)
        self._sights = Snapshots()
        self._ignored: set[str] = set()
        self.scan()
        for change in self._changes(()):
            self._sights.keep(change.path, change.now)

    def scan(self) -> None:
        """Find the folders to watch.

        Raises:
            TooLarge: there are too many files by now.
        """
        self._ignored.clear()
        ignored = {f"{self.root}/{path}" for path in self._git.ignored_folders()}
        folders, count = [], 0
        for folder, files in self._walk(ignored):
            folders.append(folder)
            count += files
            if count > self._most_files:
                raise TooLarge(f"more than {self._most_files:,} files (setting watch_max_files)")
        self.folders, self.files = frozenset(folders), count

    @property
    def is_busy(self) -> bool:
        """Whether git is writing files at the moment."""
        return self._git.is_locked

    def concerns(self, path: str) -> bool:
        """Tell whether a look at a path may find something; unlike a look it asks nobody."""
        return path not in self._ignored and not is_temporary(path.rpartition("/")[2])

    def is_shaped_by(self, path: str) -> bool:
        """Tell whether a change at a path may have changed which folders are to be watched."""
        if path == self.root or path.endswith("/.gitignore"):
            return True
        return _is_folder(path) is not (path in self.folders)

    def look(self, paths: Collection[str], *, since_ms: int, now_ms: int) -> list[Save]:
        """Return what was saved, by whoever and whatever but git.

        Args:
            paths: absolute, files or folders, that changed; the root means anything.
            since_ms: when the first of them did.
            now_ms: the time of what bears none.
        """
        named = () if self.root in paths else tuple(map(self._relative, sorted(paths)))
        is_moved = self._git.index_changed_ms() >= since_ms - SLACK_MS
        is_gits = self._git.has_own_writes(since_ms=since_ms - SLACK_MS)
        told = []
        for change in self._changes(named):
            if change.standing is None:
                self._sights.drop(change.path)
            else:
                self._sights.keep(change.path, change.now)
            if not (is_gits if change.standing else is_moved):
                told.append(change)
        return list(self._saves(told, since_ms=since_ms, now_ms=now_ms))

    def _changes(self, named: tuple[str, ...]) -> list[_Change]:
        """Return files that are not as they were seen last."""
        differing = self._git.changed_files(named)
        if not named or len(named) > MOST_PATHS:
            known = set(self._sights)
        else:
            known = {path for path in self._sights if any(is_inside(path, one) for one in named)}
            # A log that is written all the time must not start git each time.
            dull = [path for path in named if path not in differing and path not in known]
            self._ignored |= {f"{self.root}/{path}" for path in self._git.ignored(dull)}
        found: list[_Change] = []
        for path in sorted(differing.keys() | known):
            if is_temporary(path.rpartition("/")[2]) or self._is_excluded(path):
                continue
            before = self._sights.get(path)
            now = take_snapshot(self.root, path, before, with_text=len(found) < MOST_READ)
            # A file that is new and not there has a name that is no text.
            is_nameless = now == NOTHING and differing.get(path) == "new"
            if now and now != before and not is_nameless:
                found.append(_Change(path, differing.get(path), before, now))
        return found

    def _saves(self, told: list[_Change], *, since_ms: int, now_ms: int) -> Iterator[Save]:
        asked = [one.path for one in told if one.before is None and one.standing == "changed"]
        staged = self._git.staged(asked[:MOST_READ]) if asked else {}
        for path, standing, seen, now in told:
            data = staged.get(path)
            in_git = UNKNOWN if data is None else FileSnapshot(UNKNOWN.stamp, text_of(data))
            before = seen or (NOTHING if standing == "new" else in_git)
            at_ms = now.stamp[0] // 1_000_000 if now.stamp else now_ms
            at_ms = at_ms if since_ms - SLACK_MS <= at_ms <= now_ms else now_ms
            yield Save(
                path=path,
                from_ms=at_ms,
                to_ms=at_ms,
                old=None if before.stamp is None else before.text or "",
                new=None if now.stamp is None else now.text or "",
                has_text=before.is_known and now.is_known,
            )

    def _walk(self, ignored: Collection[str]) -> Iterator[tuple[str, int]]:
        """Yield each folder and how many files are in it, ignored and foreign ones left out."""
        waiting = [self.root]
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(folder) as entries:
                    found = list(entries)
            except OSError:  # unreadable, or gone
                continue
            if folder != self.root and any(entry.name == ".git" for entry in found):
                continue  # a work tree of its own
            folders = [entry for entry in found if entry.is_dir(follow_symlinks=False)]
            yield folder, len(found) - len(folders)
            waiting += [one.path for one in folders if self._is_watched(one, ignored)]

    def _is_watched(self, folder: os.DirEntry[str], ignored: Collection[str]) -> bool:
        if (
            folder.name == ".git"
            or folder.path in ignored
            or self._is_excluded(self._relative(folder.path), is_folder=True)
        ):
            return False
        if not _is_text(folder.path):
            return False
        return folder.name not in UNWATCHED or self._git.is_tracked(self._relative(folder.path))

    def _is_excluded(self, path: str, *, is_folder: bool = False) -> bool:
        if any(is_inside(f"{self.root}/{path}", folder) for folder in self._excluded):
            return True
        policy = self._policies.at(self.root)
        return bool(policy.problem) or policy.excludes(path, is_folder=is_folder)

    def _relative(self, path: str) -> str:
        return path[len(self.root) + 1 :]


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:  # bytes that are no UTF-8
        return False
    return True
