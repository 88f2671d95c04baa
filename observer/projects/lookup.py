"""Which folder an event belongs to, and a cache of the places of folders."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from observer.core.events import AnyBody, Command, Event, FileRead, FileWrite, Intent
from observer.core.model import Place, Project
from observer.core.paths import is_inside
from observer.projects.detect import detect_place, probe_place
from observer.projects.fs_probe import ProbedPlace, non_project_dirs, stamp_of
from observer.projects.identity import match_project
from observer.redaction.redact import redact
from observer.shell.command_line import entered_folder

FRESH_S = 30.0
"""Longest time for which a place is believed without looking at more than its watched files."""
MOST_FOLDERS = 4096
"""Folders remembered; the one looked at longest ago goes first."""


class _Entry(NamedTuple):
    seen: ProbedPlace
    until_s: float


class PlaceCache:
    """Remembers places; a hit costs a few `stat` calls and never a process. Thread-safe.

    HEAD, its ref, the packed refs and the repository's configuration are watched by their stamps,
    so branch, commit and remotes are right at every call. What else may change (a folder becomes
    a work tree, a marker appears) is seen within `FRESH_S`. A folder that was deleted keeps the
    place it had: its last events come after it is gone.
    """

    def __init__(self, *, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._entries: dict[str, _Entry] = {}
        self._root_commits: dict[str, str] = {}
        self._lock = threading.Lock()

    def at(self, folder: str) -> Place:
        """Return the place of a folder, `Place(root="")` where there is none."""
        entry = self._entries.get(folder)
        if entry and entry.until_s > self._now_s():
            seen = entry.seen
            if seen.stamp == stamp_of(seen.watched):
                return seen.place
        with self._lock:
            return self._look(folder, entry)

    def _look(self, folder: str, before: _Entry | None) -> Place:
        seen = probe_place(folder, self._root_commits)
        if before and before.seen.place.root and not os.path.isdir(folder):
            seen = before.seen
        self._entries.pop(folder, None)  # so that the order is that of the latest lookup
        self._entries[folder] = _Entry(seen, self._now_s() + FRESH_S)
        while len(self._entries) > MOST_FOLDERS:
            del self._entries[next(iter(self._entries))]
        while len(self._root_commits) > MOST_FOLDERS:
            del self._root_commits[next(iter(self._root_commits))]
        return seen.place


def known_project_at(folder: str, projects: Sequence[Project]) -> Project | None:
    """Return the known project around a folder, or None."""
    return match_project(redact(detect_place(folder)), projects)


def work_tree_of(path: str, cwd: str) -> str:
    """Return the work tree that a path, maybe relative to `cwd`, lies in; "" if in none."""
    return _work_tree_around(os.path.normpath(os.path.join(cwd, path)))


def event_folder(event: Event, work_tree_of: Callable[[str, str], str] = work_tree_of) -> str:
    """Return the folder that an event belongs to, "" if it names none.

    A file that was written or read counts where its work tree is, whatever the client's folder, and
    a command in the work tree below that folder which it enters first; a file outside any work
    tree, and all else, counts where the client is. Whoever has many events gives a `work_tree_of`
    that remembers.
    """
    here, body = _client_folder(event), event.body
    body = body.of if isinstance(body, Intent) else body
    if isinstance(body, Command) and (entered := entered_folder(body.command)):
        below = work_tree_of(os.path.join(os.path.expanduser(entered), ".git"), here)
        return below if is_inside(below, os.path.realpath(here)) else here
    path = _path(body)
    return (work_tree_of(path, here) if path else "") or here


def _client_folder(event: Event) -> str:
    is_within = any(is_inside(event.cwd, root) for root in event.roots)
    if event.client == "cursor" and not is_within:
        # Cursor runs the user's own hooks in ~/.cursor: only its workspace folders count.
        return event.roots[0] if event.roots else event.cwd
    return event.cwd or (event.roots[0] if event.roots else "")


def _path(body: AnyBody) -> str:
    if isinstance(body, FileWrite):
        return body.path
    return next(iter(body.paths), "") if isinstance(body, FileRead) else ""


def _work_tree_around(path: str) -> str:
    barred = non_project_dirs()
    folder = path.rpartition("/")[0]
    try:
        while folder and folder not in barred:
            if os.access(f"{folder}/.git", os.F_OK):
                return folder
            folder = folder.rpartition("/")[0]
    except ValueError:  # NUL or lone surrogates
        return ""
    return ""
