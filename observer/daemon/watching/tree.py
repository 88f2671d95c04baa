"""One watched work tree: its folders, what was last seen in its files, and what was saved since."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from typing import NamedTuple

from watchfiles import DefaultFilter

from observer.capture.policy import Policies
from observer.capture.repository.worktree import MOST_PATHS, Standing, WorkTree
from observer.capture.saves import Save, is_passing
from observer.daemon.watching.sight import NOTHING, UNKNOWN, Sight, Sights, see, text_of
from observer.paths import is_inside

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
    standing: Standing | None
    before: Sight | None
    now: Sight


class Tree:
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
        self._sights = Sights()
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
        return path not in self._ignored and not is_passing(path.rpartition("/")[2])

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
        is_moved = self._git.moved_ms() >= since_ms - SLACK_MS
        is_gits = self._git.writes_of_its_own(since_ms=since_ms - SLACK_MS)
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
        differing = self._git.differing(named)
        if not named or len(named) > MOST_PATHS:
            known = set(self._sights)
        else:
            known = {path for path in self._sights if any(is_inside(path, one) for one in named)}
            # A log that is written all the time must not start git each time.
            dull = [path for path in named if path not in differing and path not in known]
            self._ignored |= {f"{self.root}/{path}" for path in self._git.ignored(dull)}
        found: list[_Change] = []
        for path in sorted(differing.keys() | known):
            if is_passing(path.rpartition("/")[2]) or self._is_excluded(path):
                continue
            before = self._sights.get(path)
            now = see(self.root, path, before, with_text=len(found) < MOST_READ)
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
            in_git = UNKNOWN if data is None else Sight(UNKNOWN.stamp, text_of(data))
            before = seen or (NOTHING if standing == "new" else in_git)
            at_ms = now.stamp[0] // 1_000_000 if now.stamp else now_ms
            at_ms = at_ms if since_ms - SLACK_MS <= at_ms <= now_ms else now_ms
            yield Save(
                path=path,
                from_ms=at_ms,
                to_ms=at_ms,
                old=None if before.stamp is None else before.text or "",
                new=None if now.stamp is None else now.text or "",
                is_told=before.is_known and now.is_known,
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
