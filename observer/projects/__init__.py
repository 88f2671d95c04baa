"""Project identity: which project an event belongs to (step 5 of an event's way).

A place is the work tree of a folder, else the folder with a project marker; `identity` decides
which project it belongs to. One that is gone or unreadable is `Place(root="")`: `unassigned`.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, MutableMapping, Sequence

from observer.commands.command_line import entered_folder
from observer.core.events import Command, Event, FileRead, FileWrite, Intent
from observer.core.model import Place, Project
from observer.core.paths import is_inside
from observer.projects.fs_probe import NOWHERE, ProbedPlace, inode_of, non_project_dirs, stamp_of
from observer.projects.identity import folders_of, match_project, new_project, update_project
from observer.projects.worktree import work_tree
from observer.redaction.redact import redact

__all__ = [
    "PlaceCache",
    "detect_place",
    "event_folder",
    "known_project_at",
    "match_project",
    "missing_roots",
    "new_project",
    "non_project_dirs",
    "update_project",
    "work_tree_of",
]

MARKERS = (
    ".git", ".hg", ".svn", ".observer.toml", "pyproject.toml", "setup.py", "requirements.txt",
    "package.json", "deno.json", "Cargo.toml", "go.mod", "pom.xml", "build.gradle",
    "build.gradle.kts", "settings.gradle", "composer.json", "Gemfile", "mix.exs", "pubspec.yaml",
    "Package.swift", "CMakeLists.txt", "meson.build", "Makefile",
)  # fmt: skip
"""Files that make a folder without git, or with a broken one, a project."""


def detect_place(folder: str) -> Place:
    """Return what the disk says about a folder, or its nearest ancestor that exists.

    `$HOME`, what lies above it and the folders for temporary files are never a project.
    """
    return probe_place(folder, {}).place


def probe_place(folder: str, root_commits: MutableMapping[str, str]) -> ProbedPlace:
    """Look at a folder, asking git for the oldest commit only of inodes not in `root_commits`."""
    try:
        wanted = os.path.realpath(folder) if os.path.isabs(folder) else ""
        path = wanted
        while path and not (os.path.isdir(path) and os.access(path, os.X_OK)):
            path = "" if path == "/" else os.path.dirname(path)
        start = path
    except ValueError:  # NUL or lone surrogates
        return NOWHERE
    if not start:
        return NOWHERE
    exists = start == wanted or os.path.isfile(wanted)
    return work_tree(start, root_commits) or _plain(start, exists=exists)


def missing_roots(place: Place, projects: Iterable[Project]) -> frozenset[str]:
    """Return the missing folders, or taken by others, of projects of the inode or oldest commit.

    They show that it was moved rather than copied.
    """
    return frozenset(
        folder
        for project in projects
        if place.inode in filter(None, project.inodes)
        or place.root_commit == project.root_commit != ""
        for folder in folders_of(project)
        if folder != place.root and not _is_there(folder, place, project)
    )


def _is_there(folder: str, place: Place, project: Project) -> bool:
    if not place.git:
        return inode_of(folder) == place.inode
    inner = os.path.join(folder, ".git")
    if os.path.isfile(inner):  # a linked worktree or submodule
        return True
    return inode_of(inner if os.path.isdir(inner) else folder) in project.inodes


def _plain(start: str, *, exists: bool) -> ProbedPlace:
    # In hidden folders of `$HOME` clients run the user's own hooks.
    home = os.path.realpath(os.path.expanduser("~"))
    if start.startswith(os.path.join(home, ".")):
        return NOWHERE
    barred, root, marker = non_project_dirs(), start, ""
    while root not in barred and not marker:
        found = (one for one in MARKERS if os.path.lexists(os.path.join(root, one)))
        marker = next(found, "")
        root = root if marker else os.path.dirname(root)
    if not marker and (not exists or start in barred):
        return NOWHERE
    root = root if marker else start
    watched = (os.path.join(root, ".git", "HEAD"),)
    stamp = stamp_of(watched)
    return ProbedPlace(Place(root=root, inode=inode_of(root), marker=marker), watched, stamp)


FRESH_S = 30.0
"""Longest time for which a place is believed without looking at more than its watched files."""
MOST_FOLDERS = 4096
"""Folders remembered; the one looked at longest ago goes first."""


class PlaceCache:
    """Remembers places; a hit costs a few `stat` calls and never a process. Thread-safe.

    Branch, commit and remotes are right at every call. What else may change (a folder becomes a
    work tree, a marker appears) is seen within `FRESH_S`. A folder that was deleted keeps the place
    it had: its last events come after it is gone.
    """

    def __init__(self, *, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._entries: dict[str, tuple[ProbedPlace, float]] = {}
        self._root_commits: dict[str, str] = {}
        self._lock = threading.Lock()

    def at(self, folder: str) -> Place:
        """Return the place of a folder, `Place(root="")` where there is none."""
        seen, until_s = self._entries.get(folder, (NOWHERE, 0.0))
        if until_s > self._now_s() and seen.stamp == stamp_of(seen.watched):
            return seen.place
        with self._lock:
            now = probe_place(folder, self._root_commits)
            if seen.place.root and not os.path.isdir(folder):
                now = seen
            self._entries.pop(folder, None)  # so that the order is that of the latest lookup
            self._entries[folder] = now, self._now_s() + FRESH_S
            while len(self._entries) > MOST_FOLDERS:
                del self._entries[next(iter(self._entries))]
            while len(self._root_commits) > MOST_FOLDERS:
                del self._root_commits[next(iter(self._root_commits))]
            return now.place


def known_project_at(folder: str, projects: Sequence[Project]) -> Project | None:
    """Return the known project around a folder, or None."""
    return match_project(redact(detect_place(folder)), projects)


def work_tree_of(path: str, cwd: str) -> str:
    """Return the work tree that a path, maybe relative to `cwd`, lies in; "" if in none."""
    barred = non_project_dirs()
    folder = os.path.normpath(os.path.join(cwd, path)).rpartition("/")[0]
    try:
        while folder and folder not in barred:
            if os.access(f"{folder}/.git", os.F_OK):
                return folder
            folder = folder.rpartition("/")[0]
    except ValueError:  # NUL or lone surrogates
        return ""
    return ""


def event_folder(event: Event, work_tree_of: Callable[[str, str], str] = work_tree_of) -> str:
    """Return the folder that an event belongs to, "" if it names none.

    A file that was written or read counts where its work tree is, and a command in the work tree
    below the client's folder which it enters first; all else counts where the client is.
    """
    here, body = event.cwd or (event.roots[0] if event.roots else ""), event.body
    if event.client == "cursor" and not any(is_inside(event.cwd, root) for root in event.roots):
        # Cursor runs the user's own hooks in ~/.cursor: only its workspace folders count.
        here = event.roots[0] if event.roots else event.cwd
    body = body.of if isinstance(body, Intent) else body
    if isinstance(body, Command) and (entered := entered_folder(body.command)):
        below = work_tree_of(os.path.join(os.path.expanduser(entered), ".git"), here)
        return below if is_inside(below, os.path.realpath(here)) else here
    path = body.path if isinstance(body, FileWrite) else ""
    if isinstance(body, FileRead):
        path = next(iter(body.paths), "")
    return (work_tree_of(path, here) if path else "") or here
