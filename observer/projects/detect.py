"""What the disk says about a folder: its work tree, else the folder with a project marker.

Nothing here raises for what it finds: a folder that is gone, unreadable, corrupt or somebody
else's gives weaker evidence, in the end `Place(root="")`, which means `unassigned`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, MutableMapping

from observer.core.model import Place, Project
from observer.projects.fs_probe import NOWHERE, ProbedPlace, inode_of, non_project_dirs, stamp_of
from observer.projects.identity import folders_of
from observer.projects.worktree import work_tree

MARKERS = (
    ".git",  # broken or unreadable, else git would have answered
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
"""Files that make a folder without git a project."""


def detect_place(folder: str) -> Place:
    """Return what the disk says about a folder; forks git once, for the oldest commit.

    A folder that does not exist gets the evidence of its nearest existing ancestor, if that is a
    work tree or has a project marker. `$HOME`, what lies above it and the folders for temporary
    files are never a project, even as git work trees.
    """
    return probe_place(folder, {}).place


def probe_place(folder: str, root_commits: MutableMapping[str, str]) -> ProbedPlace:
    """Look at a folder, asking git for the oldest commit only of inodes not in `root_commits`."""
    try:
        wanted = os.path.realpath(folder) if os.path.isabs(folder) else ""
        start = _existing(wanted)
    except ValueError:  # NUL or lone surrogates
        return NOWHERE
    if not start:
        return NOWHERE
    exists = start == wanted or os.path.isfile(wanted)
    return work_tree(start, root_commits) or _plain(start, exists=exists)


def missing_roots(place: Place, projects: Iterable[Project]) -> frozenset[str]:
    """Return the missing folders of projects related to `place` by inode or oldest commit.

    They are the evidence that `place` was moved rather than copied; the pure `match_project` and
    `update_project` take them as an argument. A folder counts as missing, too, when another one
    took its path.
    """
    return frozenset(
        folder
        for project in projects
        if _is_akin(place, project)
        for folder in folders_of(project)
        if folder != place.root and not _is_there(folder, place, project)
    )


def _is_akin(place: Place, project: Project) -> bool:
    same_inode = bool(place.inode) and place.inode in project.inodes
    return same_inode or (bool(place.root_commit) and place.root_commit == project.root_commit)


def _is_there(folder: str, place: Place, project: Project) -> bool:
    if not place.git:
        return inode_of(folder) == place.inode
    inner = os.path.join(folder, ".git")
    if os.path.isfile(inner):  # a linked worktree or submodule
        return True
    return inode_of(inner if os.path.isdir(inner) else folder) in project.inodes


def _existing(path: str) -> str:
    """Return the nearest folder at or above a path that exists and may be entered."""
    while path and not (os.path.isdir(path) and os.access(path, os.X_OK)):
        path = "" if path == "/" else os.path.dirname(path)
    return path


def _plain(start: str, *, exists: bool) -> ProbedPlace:
    if _is_settings(start):
        return NOWHERE
    folder = start
    while folder not in non_project_dirs():
        for marker in MARKERS:
            if os.path.lexists(os.path.join(folder, marker)):
                return _seen(folder, marker)
        folder = os.path.dirname(folder)
    return _seen(start, "") if exists and start not in non_project_dirs() else NOWHERE


def _is_settings(folder: str) -> bool:
    """Whether a folder lies in a hidden one of `$HOME`, where clients run the user's own hooks."""
    home = os.path.realpath(os.path.expanduser("~"))
    return folder.startswith(os.path.join(home, "."))


def _seen(root: str, marker: str) -> ProbedPlace:
    watched = (os.path.join(root, ".git", "HEAD"),)
    stamp = stamp_of(watched)
    return ProbedPlace(Place(root=root, inode=inode_of(root), marker=marker), watched, stamp)
