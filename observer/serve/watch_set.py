"""The watched work trees, those of recent sessions: their folders, and what was saved in each."""

from __future__ import annotations

import logging
import os
import stat
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from watchfiles import DefaultFilter

from observer.core.clock import now_ms
from observer.core.errors import NotFound
from observer.core.model import UNASSIGNED
from observer.core.paths import is_inside
from observer.core.text import is_utf8
from observer.git.process import MOST_PATHS, FileStatus, WorkTree
from observer.ingest.file_changes import Save, is_temporary
from observer.projects.fs_probe import file_system_of, mounts, non_project_dirs
from observer.projects.policy import Policies
from observer.projects.policy.apply import Exclusion
from observer.serve import inotify
from observer.serve.worker import Services
from observer.store.reader import StoreReader
from observer.tools.status import Watched

log = logging.getLogger(__name__)

FILE_BYTES = 1 << 20  # larger files are data, or generated, and not reported
KEPT_CHARS = 4 << 20  # most characters of texts kept for one tree: those that git does not have

_BINARY_BYTES = 8_000
_PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = _PLAIN | os.O_DIRECTORY
_FILE = _PLAIN | os.O_NONBLOCK | os.O_NOCTTY


class FileSnapshot(NamedTuple):
    """A file's state: `stamp` is (mtime in ns, size), None if absent; `text` None if not kept."""

    stamp: tuple[int, int] | None
    text: str | None


NOTHING = FileSnapshot(None, None)
UNKNOWN = FileSnapshot((0, 0), None)


def take_snapshot(
    root: str, path: str, before: FileSnapshot | None, *, with_text: bool
) -> FileSnapshot | None:
    """Return the state of a file, None if it is not reported: large, binary, a link.

    A file below a link counts as absent. `before` is returned if the stamp is unchanged; only
    `with_text` the file is read.
    """
    try:
        descriptor = _open(root, path)
    except (FileNotFoundError, NotADirectoryError):
        return NOTHING
    except (OSError, ValueError):  # a link, unreadable, not a file name
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
    """Open a file of a work tree without following links in any component of its path."""
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
    """Return the text of a file with line feeds only, None if it is binary."""
    if b"\0" in data[:_BINARY_BYTES]:
        return None
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


MOST_READ = 300  # most files read in one scan; further ones are reported without their changes
SLACK_MS = 1_000  # how far inotify events may lag behind file times

UNWATCHED = frozenset({*DefaultFilter.ignore_dirs, "target", "venv"})
"""Folders that are not watched unless git tracks a file in them."""


class TooLarge(Exception):
    """A tree has more files than the user wants watched."""


class _Change(NamedTuple):
    path: str
    standing: FileStatus | None
    before: FileSnapshot | None
    now: FileSnapshot


class WatchedTree:
    """A work tree and its files that differ from git's index; raises TooLarge, NotFound."""

    def __init__(self, root: str, *, most_files: int, excluded: tuple[str, ...]) -> None:
        self.root = root
        self.folders: frozenset[str] = frozenset()
        self.files = 0
        self._most_files = most_files
        self._excluded = excluded
        self._policies = Policies()
        self.git = WorkTree(root)
        self._snapshots: dict[str, FileSnapshot] = {}
        self._ignored: set[str] = set()
        self.scan()
        self._remember(self._changes(()))

    def scan(self) -> None:
        """Find the folders to watch; raise TooLarge if there are too many files by now."""
        self._ignored.clear()
        ignored = {f"{self.root}/{path}" for path in self.git.ignored_folders()}
        folders, count = [], 0
        for folder, files in self._walk(ignored):
            folders.append(folder)
            count += files
            if count > self._most_files:
                raise TooLarge(f"more than {self._most_files:,} files (setting watch_max_files)")
        self.folders, self.files = frozenset(folders), count

    def concerns(self, path: str) -> bool:
        """Return True if a changed path may matter; does not access the disk."""
        return path not in self._ignored and not is_temporary(path.rpartition("/")[2])

    def is_shaped_by(self, path: str) -> bool:
        """Return True if a change at a path may have changed the set of folders to watch."""
        if path == self.root or path.endswith("/.gitignore"):
            return True
        is_folder = os.path.isdir(path) and not os.path.islink(path)  # noqa: PTH112, PTH114 - text
        return is_folder is not (path in self.folders)

    def look(self, paths: Collection[str], *, since_ms: int, now_ms: int) -> list[Save]:
        """Return what was saved by anything but git since `since_ms`, at `now_ms` by default.

        `paths` are absolute ones of changed files or folders; the root stands for all.
        """
        named = () if self.root in paths else tuple(map(self._relative, sorted(paths)))
        is_moved = self.git.index_changed_ms() >= since_ms - SLACK_MS
        is_gits = self.git.has_own_writes(since_ms=since_ms - SLACK_MS)
        changes = self._changes(named)
        self._remember(changes)
        reported = [one for one in changes if not (is_gits if one.standing else is_moved)]
        return list(self._saves(reported, since_ms=since_ms, now_ms=now_ms))

    def _remember(self, changes: Iterable[_Change]) -> None:
        """Keep how files are now, unless git has it; texts longest unchanged are dropped first."""
        for change in changes:
            self._snapshots.pop(change.path, None)
            if change.standing is not None:
                self._snapshots[change.path] = change.now
        excess = sum(len(one.text or "") for one in self._snapshots.values()) - KEPT_CHARS
        for path, known in self._snapshots.items():
            if excess <= 0:
                break
            excess -= len(known.text or "")
            self._snapshots[path] = known._replace(text=None)

    def _changes(self, named: tuple[str, ...]) -> list[_Change]:
        differing = self.git.changed_files(named)
        if not named or len(named) > MOST_PATHS:
            known = set(self._snapshots)
        else:
            known = {path for path in self._snapshots if any(is_inside(path, one) for one in named)}
            # A log that is written all the time must not start git each time.
            dull = [path for path in named if path not in differing and path not in known]
            self._ignored |= {f"{self.root}/{path}" for path in self.git.ignored(dull)}
        found: list[_Change] = []
        for path in sorted(differing.keys() | known):
            if is_temporary(path.rpartition("/")[2]) or self._is_excluded(path):
                continue
            before = self._snapshots.get(path)
            now = take_snapshot(self.root, path, before, with_text=len(found) < MOST_READ)
            # A file that is new and absent has a name that is not valid UTF-8.
            is_nameless = now == NOTHING and differing.get(path) == "new"
            if now and now != before and not is_nameless:
                found.append(_Change(path, differing.get(path), before, now))
        return found

    def _saves(self, changes: list[_Change], *, since_ms: int, now_ms: int) -> Iterator[Save]:
        asked = [one.path for one in changes if one.before is None and one.standing == "changed"]
        staged = self.git.staged(asked[:MOST_READ]) if asked else {}
        for path, standing, seen, now in changes:
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
                has_text=all(one.stamp is None or one.text is not None for one in (before, now)),
            )

    def _walk(self, ignored: Collection[str]) -> Iterator[tuple[str, int]]:
        """Yield each folder and its number of files, without ignored folders and nested trees."""
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
        below = self._relative(folder.path)
        return not (
            folder.name == ".git"
            or folder.path in ignored
            or self._is_excluded(below, is_folder=True)
            or not is_utf8(folder.path)
            or (folder.name in UNWATCHED and not self.git.is_tracked(below))
        )

    def _is_excluded(self, path: str, *, is_folder: bool = False) -> bool:
        if any(is_inside(f"{self.root}/{path}", folder) for folder in self._excluded):
            return True
        policy = self._policies.at(self.root)
        return bool(policy.problem) or policy.excludes(path, is_folder=is_folder)

    def _relative(self, path: str) -> str:
        return path[len(self.root) + 1 :]


RECENT_MS = 14 * 86_400_000  # a project without a session for this long is not watched
MOST_ROOTS = 12
MOST_SESSIONS = 300

DISTANT = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "davfs", "autofs"}
    | {"afpfs", "webdav"}
)  # file systems of other machines: the kernel does not report writes there


def recent_roots(reader: StoreReader, *, now_ms: int) -> tuple[list[str], frozenset[int | None]]:
    """Return the roots of recent sessions, latest first, and their projects; roots may be gone."""
    projects = {project.id: project for project in reader.projects()}
    recent = [
        session
        for session in reader.sessions(limit=MOST_SESSIONS)
        if session.last_ms >= now_ms - RECENT_MS and session.project_id in projects
    ]
    found = []
    for session in recent:
        known = projects[session.project_id].roots
        around = [root for root in known if is_inside(session.cwd, root)]
        found.append(max(around, key=len, default=next(iter(known), "")))
    roots = list(dict.fromkeys(filter(None, found)))[:MOST_ROOTS]
    return roots, frozenset({None, UNASSIGNED, *(session.project_id for session in recent)})


def refusal(root: str, *, excluded: Iterable[str], mounts: Sequence[tuple[str, str]]) -> str | None:
    """Return why a root is not watched, "" if that need not be shown, None if it can be watched."""
    if any(is_inside(root, folder) for folder in excluded):
        return "excluded"
    if (kind := file_system_of(root, mounts)) in DISTANT or kind.startswith("fuse."):
        return f"on a file system of another machine ({kind})"
    if (
        root in non_project_dirs()
        or not os.path.lexists(f"{root}/.git")
        or os.path.realpath(root) != root
    ):
        return ""
    return None


REFRESH_S = 60.0
"""How often the projects are read again, and it is tried again what could not be watched."""
SOON_S = 2.0
"""How soon a project is watched after its first event, and a tree after its watch was lost."""
BEYOND = "the kernel watches no more folders for this user"


class WatchSet:
    """The watched trees: `trees` by root, those of the latest sessions first."""

    def __init__(self, services: Services) -> None:
        self._store = services.store
        self._most_files = services.settings.watch_max_files
        self._excluded = Exclusion(services.settings.exclude).folders
        self._policies = Policies()
        self._health = services.health
        self.trees: dict[str, WatchedTree] = {}
        self._refused: dict[str, str] = {}
        self._known: frozenset[int | None] = frozenset({None})
        self._inotify: inotify.FolderWatch | None = None
        self._folders: frozenset[str] = frozenset()
        self._next_refresh_s = 0.0
        self._unwatched: dict[str, str] = {}
        self._is_lost = False

    def is_news(self, projects: Iterable[int | None]) -> bool:
        """Return True if a project is new, so that it may have to be watched."""
        if self._known.issuperset(projects):
            return False
        self._next_refresh_s = min(self._next_refresh_s, time.monotonic() + SOON_S)
        return True

    def tree_of(self, path: str) -> WatchedTree | None:
        """Return the innermost tree that contains a path."""
        folder = path
        while folder not in self.trees:
            folder, _, last = folder.rpartition("/")
            if not last:
                return None
        return self.trees[folder]

    def shown(self) -> tuple[Watched, ...]:
        """Return the trees that are watched, and those that are not, with reasons; any thread."""
        trees = [
            Watched(
                root=tree.root,
                files=tree.files,
                folders=len(tree.folders),
                reason=self._unwatched.get(tree.root, ""),
            )
            for tree in self.trees.values()
        ]
        return (*trees, *(Watched(root=root, reason=why) for root, why in self._refused.items()))

    def wait_s(self) -> float:
        """Return the time until the next refresh."""
        return max(self._next_refresh_s - time.monotonic(), 0)

    def wait(self, call: inotify.Call, *, wait_s: float) -> set[str]:
        """Return the paths that changed, as soon as there are some; none at the end of the wait."""
        try:
            if self._inotify:
                return self._inotify.wait(call, wait_ms=max(int(wait_s * 1000), 1))
            call.wait(wait_s)
        except inotify.WatchLost as error:
            self._lose(error)
        finally:
            call.clear()
        return set()

    def refresh_if_due(self) -> frozenset[str]:
        """Find the projects to watch if it is time, and return the roots to scan."""
        if self.wait_s():
            return frozenset()
        with self._store.read() as reader:
            roots, self._known = recent_roots(reader, now_ms=now_ms())
        before, self.trees = self.trees, {}
        self._refused = {}
        mounted = mounts()
        for root in roots:
            why = refusal(root, excluded=self._excluded, mounts=mounted)
            if why is None and (problem := self._policies.at(root).problem):
                why = f"nothing is recorded: {problem}"
            if why is None:
                self._add(root, before.get(root))
            elif why:
                self._refused[root] = why
        self._next_refresh_s = time.monotonic() + REFRESH_S
        unseen = self.trees.keys() - (() if self._is_lost else before.keys())
        self._is_lost = False
        self._update_watches()
        return frozenset(unseen)

    def update(self, tree: WatchedTree, paths: Iterable[str]) -> bool:
        """Follow folders that were created or deleted; return False if the tree is gone."""
        if not os.path.lexists(f"{tree.root}/.git"):
            self.give_up(tree, "")
            return False
        if any(map(tree.is_shaped_by, paths)):
            try:
                tree.scan()
            except (TooLarge, NotFound) as error:
                self.give_up(tree, str(error))
                return False
            self._update_watches()
        return True

    def give_up(self, tree: WatchedTree, why: str) -> None:
        """Stop watching a tree until the next refresh finds it; `why` is empty if it is gone."""
        self.trees = {root: one for root, one in self.trees.items() if one is not tree}
        if why:
            self._refused = {**self._refused, tree.root: why}
        self._update_watches()

    def close(self) -> None:
        """Remove all watches."""
        if self._inotify:
            self._inotify.close()
            self._inotify = None

    def _add(self, root: str, tree: WatchedTree | None) -> None:
        try:
            if tree is None:
                tree = WatchedTree(root, most_files=self._most_files, excluded=self._excluded)
                log.info("watching %s: %d files", root, tree.files)
            elif self._is_lost:
                tree.scan()
            self.trees[root] = tree
        except (TooLarge, NotFound, OSError) as error:
            self._refused[root] = str(error)

    def _update_watches(self) -> None:
        """Watch the folders of the trees by inotify, as far as its limits allow."""
        budget = inotify.most_folders()
        folders: set[str] = set()
        left: dict[str, str] = {}
        for tree in self.trees.values():
            if len(folders | tree.folders) <= budget:
                folders |= tree.folders
            else:
                left[tree.root] = BEYOND
        why = (
            f"{len(left)} projects are not watched, since {BEYOND}: {inotify.MORE}" if left else ""
        )
        if folders != self._folders or (folders and not self._inotify):
            refused = self._watch(frozenset(folders))
            left = dict.fromkeys(self.trees, refused) if refused else left
            why = refused or why
        self._unwatched = left
        if why:
            self._health.degrade("watching", why)
        else:
            self._health.recover("watching")

    def _watch(self, folders: frozenset[str]) -> str:
        """Watch these folders from now on; return why that cannot be done, or nothing."""
        before, self._inotify = self._inotify, None
        self._folders = folders
        try:
            # Before the other is closed, so that nothing is missed between them.
            self._inotify = inotify.watch_folders(folders) if folders else None
        except inotify.WatchRefused as error:
            return str(error)
        except inotify.WatchLost as error:
            self._lose(error)
        finally:
            if before:
                before.close()
        return ""

    def _lose(self, error: inotify.WatchLost) -> None:
        log.info("scanning all projects: %s", error)
        self.close()
        self._is_lost = True
        self._next_refresh_s = min(self._next_refresh_s, time.monotonic() + SOON_S)
