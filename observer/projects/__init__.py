"""Project identity: which project a happening belongs to (step 5 of an event's way).

`disk` and `worktree` read what the file system and git say (`Place`), `places` remembers it;
`identity` decides, without looking at anything, which known project that evidence means.
"""

from observer.projects.detect import look, vanished
from observer.projects.fs_probe import ground
from observer.projects.identity import enrich, found, recognise
from observer.projects.lookup import Places, folder_of, known_at, work_tree_of

__all__ = [
    "Places",
    "enrich",
    "folder_of",
    "found",
    "ground",
    "known_at",
    "look",
    "recognise",
    "vanished",
    "work_tree_of",
]
