"""Which project the notes of a folder belong to, and which of its files must not be stored."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from observer.core.model import Place
from observer.core.paths import is_inside, read_head
from observer.note_files.folders import NoteFolder
from observer.policy import Policies
from observer.policy.apply import Exclusion
from observer.policy.parse import PathPattern
from observer.projects import PlaceCache, match_project, missing_roots, new_project
from observer.store.interface import Writer

IGNORE = ".gitignore"
IGNORE_BYTES = 65_536


class FolderPlace:
    """Where one note folder lies. Safe to share between threads.

    Args:
        folder: the note folder.
        exclude: folders of which nothing is recorded: the user's setting.
        now_ms: the clock.
    """

    def __init__(
        self, folder: NoteFolder, *, exclude: Sequence[str], now_ms: Callable[[], int]
    ) -> None:
        self._folder = folder
        self._exclusion = Exclusion(exclude)
        self._policies = Policies()
        self._places = PlaceCache()
        self._now_ms = now_ms
        self._ignored: tuple[tuple[int, int], list[tuple[bool, PathPattern]]] = ((0, 0), [])

    def now(self) -> Place:
        """Return the work tree around the folder, with its branch and commit as of now."""
        return self._places.at(self._folder.path)

    def excluding(self, place: Place, path: str) -> str:
        """Return why nothing of a file must be stored; "" if nothing is against it."""
        whole = f"{self._folder.path}/{path}"
        if self._exclusion.folders and self._exclusion.holds(whole):
            return "left out by the setting exclude"
        policy = self._policies.of(place)
        if policy.problem:
            return "the repository's .observer.toml cannot be used"
        inside = whole[len(place.root) :].lstrip("/") if is_inside(whole, place.root) else ""
        return "left out by the repository's .observer.toml" if policy.excludes(inside) else ""

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Return True if the folder's own `.gitignore` names a path, or a folder around it."""
        names = PurePosixPath(path).parts
        is_ignored = False
        for is_meant, pattern in self._patterns():
            if is_ignored != is_meant and pattern.matches(names, is_folder=is_folder):
                is_ignored = is_meant
        return is_ignored

    def project_id(self, writer: Writer) -> int | None:
        """Return the project of the folder's notes, made if it is new; None for no project."""
        known = writer.projects()
        if self._folder.project:
            named = (project.id for project in known if project.uuid == self._folder.project)
            return next(named, None)
        place = self.now()
        if not place.git:
            return None
        if found := match_project(place, known, gone=missing_roots(place, known)):
            return found.id
        made = new_project(place, id=max(each.id for each in known) + 1, at_ms=self._now_ms())
        writer.put_project(made)
        return made.id

    def _patterns(self) -> list[tuple[bool, PathPattern]]:
        file = f"{self._folder.path}/{IGNORE}"
        try:
            found = os.lstat(file)
            stamp = (found.st_mtime_ns, found.st_size)
            if stamp != self._ignored[0]:
                text = read_head(file, IGNORE_BYTES).decode("utf-8", "replace")
                self._ignored = (stamp, _parsed(text))
        except OSError:
            return []
        return self._ignored[1]


def _parsed(text: str) -> list[tuple[bool, PathPattern]]:
    """Return patterns in their order, each with whether it ignores; what is no pattern is not."""
    found = []
    for line in map(str.strip, text.splitlines()):
        if line and line[0] != "#":
            try:
                found.append((line[0] != "!", PathPattern(line.removeprefix("!"))))
            except ValueError:
                continue
    return found
