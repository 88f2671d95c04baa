"""Project identity: which project an event belongs to (step 5 of an event's way).

A place is the work tree of a folder, else the folder with a project marker. One that is gone or
unreadable is `Place(root="")`: `unassigned`.

Of evidence that could be read in two ways: the first remote (`origin`) is the identity, and stays
when a work tree changes it; only if remotes and oldest commits both differ has another repository
taken its path. A copy without a remote is another project while the original exists; then it is
that, moved. A clone whose remote is the path of a known work tree is that project. A folder without
git and without a marker belongs to the nearest known project without git that contains it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from operator import itemgetter

import msgspec

from observer.commands.command_line import entered_folder
from observer.core.events import Command, Event, FileRead, FileWrite, Intent
from observer.core.model import Place, Project, item_uuid
from observer.core.paths import is_inside
from observer.projects.fs_probe import NOWHERE, ProbedPlace, inode_of, non_project_dirs, stamp_of
from observer.projects.worktree import work_tree
from observer.redaction.redact import redact

MARKERS = (
    ".git",
    ".hg",
    ".svn",
    ".observer.toml",
    "pyproject.toml",
    "setup.py",
    "requirements.txt",
    "package.json",
    "deno.json",
    "Cargo.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "composer.json",
    "Gemfile",
    "mix.exs",
    "pubspec.yaml",
    "Package.swift",
    "CMakeLists.txt",
    "meson.build",
    "Makefile",
)
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


MOST_KNOWN = 64
"""Folders kept of a project: the first, and the newest; agents make worktrees by the hundred."""

_NONE: frozenset[str] = frozenset()


def match_project(
    place: Place, projects: Sequence[Project], *, gone: frozenset[str] = _NONE
) -> Project | None:
    """Return the known project of a place, if any; `gone` are its folders that no longer exist."""
    if not place.root:
        return None
    origin = place.remotes[0] if place.remotes else None
    # Another project may have had this remote before; whose first it is comes first.
    of_remote = (p for p in projects if origin in p.remotes)
    return (
        _best(of_remote, lambda p: -p.remotes.index(place.remotes[0]))
        or _by_path(place, projects)
        or _by_lineage(place, projects)
        or next((one for one in projects if _was_moved(place, one, gone)), None)
        or _by_surroundings(place, projects)
    )


def update_project(project: Project, place: Place, *, gone: frozenset[str] = _NONE) -> Project:
    """Return the project updated from a matching place; itself if nothing is new.

    Folders in `gone` are forgotten, and a name that they gave. A policy's name stays until another.
    """
    if _by_surroundings(place, [project]) and place.root not in project.roots:
        return project
    roots = [root for root in project.roots if root not in gone]
    common_dirs = [path for path in project.common_dirs if main_folder(path) not in gone]
    is_known = not place.remotes or place.remotes[0] in project.remotes
    # The oldest commit is that of a project's first repository; others may differ.
    first = project.common_dirs[:1] in ((), (place.common_dir,))
    changed = msgspec.structs.replace(
        project,
        roots=_with(roots, place.root),
        common_dirs=_with(common_dirs, place.common_dir),
        inodes=_with(project.inodes, place.inode),
        remotes=project.remotes if is_known else (place.remotes[0], *project.remotes),
        root_commit=(place.root_commit if first else "")
        or project.root_commit
        or place.root_commit,
    )
    is_named_by_policy = place.name and place.name != project.name
    is_homeless = gone & set(folders_of(project)) and not (
        {project.name} & {place.name, *map(_name, folders_of(changed))}
    )
    if is_named_by_policy or is_homeless:
        name = place_name(place)
        earlier = tuple(n for n in changed.earlier_names if n not in (name, changed.name))
        earlier_names = (*earlier, changed.name)
        changed = msgspec.structs.replace(changed, name=name, earlier_names=earlier_names)
    return project if changed == project else changed


def new_project(place: Place, *, id: int, at_ms: int) -> Project:  # noqa: A002 - the field's name
    """Return the new project that begins with a place; its uuid follows from root and time."""
    return Project(
        id=id,
        uuid=item_uuid(f"project:{place.root}", at_ms),
        name=place_name(place),
        roots=(place.root,),
        common_dirs=_with((), place.common_dir),
        inodes=_with((), place.inode),
        remotes=place.remotes[:1],
        root_commit=place.root_commit,
        created_ms=at_ms,
    )


def place_name(place: Place) -> str:
    """Return the name a place gives: its policy's, else the folder of its main work tree."""
    if place.name:
        return place.name
    main = main_folder(place.common_dir)
    return _name(main if main != place.common_dir else place.root)


def folders_of(project: Project) -> tuple[str, ...]:
    """Return all folders known of a project: its roots, then main work trees not among them."""
    return tuple(dict.fromkeys((*project.roots, *map(main_folder, project.common_dirs))))


def main_folder(common_dir: str) -> str:
    """Return the main work tree of a repository; without one, the repository itself."""
    return common_dir.removesuffix("/.git")


def _by_path(place: Place, projects: Iterable[Project]) -> Project | None:
    here = [
        p
        for p in projects
        if (place.common_dir in p.common_dirs or place.root in p.roots)
        # Unless another repository now lives there.
        and not (
            place.remotes
            and p.remotes
            and {*place.remotes}.isdisjoint(p.remotes)
            and _is_same_history(place, p) is False
        )
    ]
    return _best(
        here, lambda p: 2 * (place.common_dir in p.common_dirs) + bool(_is_same_history(place, p))
    )


def _by_lineage(place: Place, projects: Iterable[Project]) -> Project | None:
    origin = place.remotes[0] if place.remotes else ""
    own = {place.root, place.common_dir}
    return next(
        (
            p
            for p in projects
            if origin in (*p.roots, *p.common_dirs) or (place.git and own & set(p.remotes))
        ),
        None,
    )


def _was_moved(place: Place, project: Project, gone: frozenset[str]) -> bool:
    is_gone = bool(project.roots) and gone.issuperset(project.roots)
    same_history = _is_same_history(place, project)
    if place.inode and place.inode in project.inodes:
        return bool(same_history) or (is_gone and same_history is None)
    # On another file system a move is a copy and a deletion. Two remotes are two forks.
    return bool(same_history) and is_gone and not (place.remotes and project.remotes)


def _by_surroundings(place: Place, projects: Iterable[Project]) -> Project | None:
    if place.git or place.marker:
        return None
    around = [
        (len(root), p.id, p)
        for p in projects
        for root in p.roots
        if not p.common_dirs and is_inside(place.root, root)
    ]
    return max(around, key=itemgetter(0, 1), default=(0, 0, None))[2]


def _is_same_history(place: Place, project: Project) -> bool | None:
    """Return whether both have one oldest commit; None where it is not known of both."""
    is_known = place.root_commit and project.root_commit
    return place.root_commit == project.root_commit if is_known else None


def _best(projects: Iterable[Project], score: Callable[[Project], int]) -> Project | None:
    """Return the project with the highest score; of equals the newest."""
    return max(projects, key=lambda p: (score(p), p.id), default=None)


def _name(folder: str) -> str:
    return os.path.basename(folder).removesuffix(".git") or folder


def _with(known: Sequence[str], more: str) -> tuple[str, ...]:
    both = (*known, more) if more and more not in known else tuple(known)
    return both if len(both) <= MOST_KNOWN else (both[0], *both[1 - MOST_KNOWN :])
