"""Project identity: which project an event belongs to (step 5 of an event's way).

`detect` and `worktree` read what the file system and git say about a folder (a `Place`), `lookup`
caches it; `identity` decides, without any I/O, which known project such a place belongs to.
"""

from observer.projects.detect import (
    PlaceCache,
    detect_place,
    event_folder,
    known_project_at,
    missing_roots,
    work_tree_of,
)
from observer.projects.fs_probe import non_project_dirs
from observer.projects.identity import match_project, new_project, update_project

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
