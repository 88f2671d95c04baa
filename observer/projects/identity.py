"""Which project a place belongs to. Pure: `detect_place` and `missing_roots` did the I/O.

Decided, where evidence could be read in two ways:

- The first remote (`origin`) is the identity: a fork that also knows its upstream stays apart.
- A work tree keeps its identity when its remote changes. Only if remotes and oldest commits both
  differ has another repository taken its path.
- A copy without a remote is another project while the original exists; then it is that, moved.
- A clone whose remote is the path of a known work tree is that project.
- A folder without git and without a marker belongs to the nearest known project without git that
  contains it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter

import msgspec

from observer.core.model import Place, Project, item_uuid
from observer.core.paths import is_inside

MOST_FOLDERS = 64
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
    return both if len(both) <= MOST_FOLDERS else (both[0], *both[1 - MOST_FOLDERS :])
