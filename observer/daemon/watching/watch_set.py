"""The watched work trees, those of recent sessions, and the inotify watches of their folders."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Sequence

from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.errors import NotFound
from observer.core.model import UNASSIGNED, Project, Session
from observer.core.paths import is_inside
from observer.daemon.health import Health
from observer.daemon.status import Watched
from observer.daemon.watching.inotify import (
    MORE,
    Call,
    FolderWatch,
    WatchDenied,
    WatchLimitReached,
    WatchLost,
    most_folders,
    watch_folders,
)
from observer.daemon.watching.worktree import TooLarge, WatchedTree
from observer.policy import Policies
from observer.policy.apply import Exclusion
from observer.projects import non_project_dirs
from observer.projects.fs_probe import file_system_of, mounts
from observer.store.interface import Store, StoreReader

RECENT_MS = 14 * 86_400_000
"""A project without a session for this long is not watched."""
MOST_ROOTS = 12
MOST_SESSIONS = 300

DISTANT = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "davfs", "autofs"}
    | {"afpfs", "webdav"}
)
"""File systems of other machines: the kernel does not report writes there."""


def recent_roots(reader: StoreReader, *, now_ms: int) -> tuple[list[str], frozenset[int | None]]:
    """Return the roots of recent sessions, latest first, and their projects; roots may be gone."""
    projects = {project.id: project for project in reader.projects()}
    recent = [
        session
        for session in reader.sessions(limit=MOST_SESSIONS)
        if session.last_ms >= now_ms - RECENT_MS and session.project_id in projects
    ]
    found = (_root_of(session, projects[session.project_id]) for session in recent)
    roots = list(dict.fromkeys(root for root in found if root))[:MOST_ROOTS]
    return roots, frozenset({None, UNASSIGNED, *(session.project_id for session in recent)})


def refusal(root: str, *, excluded: Iterable[str], mounts: Sequence[tuple[str, str]]) -> str | None:
    """Return why a root is not watched, "" if that need not be shown, None if it can be watched.

    Does not access file systems that may not answer.
    """
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


def _root_of(session: Session, project: Project) -> str:
    around = [root for root in project.roots if is_inside(session.cwd, root)]
    return max(around, key=len, default=next(iter(project.roots), ""))


log = logging.getLogger(__name__)

REFRESH_S = 60.0
"""How often the projects are read again, and trees without inotify watches are polled."""
SOON_S = 2.0
"""How soon a project is watched after its first event, and a tree after its watch was lost."""
POLLED = "polled once a minute; the kernel watches no more folders for this user"


class WatchSet:
    """The watched trees by root, those of the latest sessions first."""

    def __init__(self, store: Store, settings: Settings, health: Health) -> None:
        self._store = store
        self._most_files = settings.watch_max_files
        self._excluded = Exclusion(settings.exclude).folders
        self._policies = Policies()
        self._health = health
        self._trees: dict[str, WatchedTree] = {}
        self._refused: dict[str, str] = {}
        self._known: frozenset[int | None] = frozenset({None})
        self._inotify: FolderWatch | None = None
        self._folders: frozenset[str] = frozenset()
        self._next_refresh_s = 0.0
        self._polled: frozenset[str] = frozenset()
        self._denied = ""
        self._is_lost = False

    def is_news(self, projects: Iterable[int | None]) -> bool:
        """Return True if a project is new, so that it may have to be watched."""
        if self._known.issuperset(projects):
            return False
        self._due_in(SOON_S)
        return True

    def tree(self, root: str) -> WatchedTree | None:
        """Return the tree at a root."""
        return self._trees.get(root)

    def tree_of(self, path: str) -> WatchedTree | None:
        """Return the innermost tree that contains a path."""
        folder = path
        while folder not in self._trees:
            folder, _, last = folder.rpartition("/")
            if not last:
                return None
        return self._trees[folder]

    def shown(self) -> tuple[Watched, ...]:
        """Return the trees that are watched, and those that are not, with reasons; any thread."""
        trees = [
            Watched(
                root=tree.root,
                files=tree.files,
                folders=len(tree.folders),
                reason=(self._denied or POLLED) if tree.root in self._polled else "",
            )
            for tree in self._trees.values()
        ]
        return (*trees, *(Watched(root=root, reason=why) for root, why in self._refused.items()))

    def wait_s(self) -> float:
        """Return the time until the next refresh."""
        return max(self._next_refresh_s - time.monotonic(), 0)

    def wait(self, call: Call, *, wait_s: float) -> set[str]:
        """Return the paths that changed, as soon as there are some; none at the end of the wait."""
        try:
            if self._inotify:
                return self._inotify.wait(call, wait_ms=max(int(wait_s * 1000), 1))
            call.wait(wait_s)
        except WatchLost as error:
            self._lose(error)
        finally:
            call.clear()
        return set()

    def refresh_if_due(self) -> frozenset[str]:
        """Find the projects to watch if it is time; return the roots of trees to scan.

        Raises:
            StoreUnavailable: nothing changed.
        """
        if self.wait_s():
            return frozenset()
        with self._store.read() as reader:
            roots, self._known = recent_roots(reader, now_ms=now_ms())
        before, self._trees = self._trees, {}
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
        unseen = self._trees.keys() - (() if self._is_lost else before.keys())
        self._is_lost = False
        self._update_watches()
        return self._polled | unseen

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
        self._trees = {root: one for root, one in self._trees.items() if one is not tree}
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
            self._trees[root] = tree
        except (TooLarge, NotFound, OSError) as error:
            self._refused[root] = str(error)

    def _update_watches(self) -> None:
        """Watch the folders of the trees by inotify, as far as its limits allow."""
        budget = most_folders()
        folders: set[str] = set()
        polled = []
        for tree in self._trees.values():
            if len(folders | tree.folders) <= budget:
                folders |= tree.folders
            else:
                polled.append(tree.root)
        if folders != self._folders or (folders and not self._inotify):
            polled = self._watch(frozenset(folders)) or polled
        self._polled = frozenset(polled)
        if polled:
            why = self._denied or f"{len(polled)} projects are {POLLED}: {MORE}"
            self._health.degrade("watching", why)
        else:
            self._health.recover("watching")

    def _watch(self, folders: frozenset[str]) -> list[str]:
        """Watch these folders from now on; return the roots of trees that cannot be watched."""
        before, self._inotify = self._inotify, None
        self._folders, self._denied = folders, ""
        try:
            # Before the other is closed, so that nothing is missed between them.
            self._inotify = watch_folders(folders) if folders else None
        except WatchLimitReached as error:
            log.warning("%s", error)
            self._denied = f"polled once a minute: {error}" * isinstance(error, WatchDenied)
            return list(self._trees)
        except WatchLost as error:
            self._lose(error)
        finally:
            if before:
                before.close()
        return []

    def _lose(self, error: WatchLost) -> None:
        log.info("scanning all projects: %s", error)
        self.close()
        self._is_lost = True
        self._due_in(SOON_S)

    def _due_in(self, wait_s: float) -> None:
        self._next_refresh_s = min(self._next_refresh_s, time.monotonic() + wait_s)
