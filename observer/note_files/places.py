"""Which project the notes of a folder belong to, and which of its files must not be stored."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath

from observer.core.errors import ObserverError
from observer.core.model import Place, Project
from observer.core.paths import is_inside, read_head
from observer.git.blame import last_commits, trunk_times
from observer.git.status import uncommitted_paths
from observer.note_files.folders import NoteFolder
from observer.policy import Policies
from observer.policy.apply import Exclusion
from observer.policy.policies import PathPattern
from observer.projects import PlaceCache, match_project, missing_roots, new_project
from observer.store.writer import Writer

IGNORE = ".gitignore"
IGNORE_BYTES = 65_536
MANY = 20
"""From so many files on git is asked once about all of the folder."""
TRUNK = 1_000
"""Commits among which the last before a time is looked for."""
GIT_WAIT_S = 5.0
"""Nobody waits for it but the thread that reads files."""


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
        self._known_commits: tuple[str, Mapping[str, str]] = ("", {})
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

    def commits(
        self, place: Place, files: Mapping[str, int], *, projects: Sequence[Project]
    ) -> Mapping[str, str]:
        """Return the commit as of which each file says what it says; unknown ones are left out.

        That is the last one that changed the file; of a file that is not committed as it is, or
        lies outside of the repository of its project, the last one before it was written.

        Args:
            place: as `now` returns it.
            files: their paths in the folder, with when they were modified, in milliseconds.
            projects: those that are known.
        """
        if not files:
            return {}
        try:
            if root := self._project_elsewhere(projects):
                return _last_before(root, files)
            if place.commit and is_inside(self._folder.path, place.root):
                return self._commits_here(place, files)
        except ObserverError:  # git does not answer
            return {}
        return {}

    def _commits_here(self, place: Place, files: Mapping[str, int]) -> Mapping[str, str]:
        above = self._folder.path[len(place.root) :].strip("/")
        named = {path: f"{above}/{path}".lstrip("/") for path in files}
        changed = uncommitted_paths(place.root, list(named.values()), wait_s=GIT_WAIT_S)
        if changed is None:
            return {}
        committed = [whole for whole in named.values() if whole not in changed]
        known = self._last_commits(place, above, committed) if committed else {}
        made = {
            path: known[whole]
            for path, whole in named.items()
            if whole in known and whole not in changed
        }
        others = {path: at_ms for path, at_ms in files.items() if path not in made}
        return made | (_last_before(place.root, others) if others else {})

    def _project_elsewhere(self, projects: Sequence[Project]) -> str:
        """Return the work tree of the project that the notes belong to, unless they are in it."""
        roots = [each.roots for each in projects if each.uuid == self._folder.project]
        if not roots or any(is_inside(self._folder.path, root) for root in roots[0]):
            return ""
        return next(filter(os.path.isdir, roots[0]), "")

    def _last_commits(self, place: Place, above: str, paths: Sequence[str]) -> Mapping[str, str]:
        """Return `last_commits`; of many files, those of the whole folder, kept for the next."""
        if len(paths) < MANY:
            return last_commits(place.root, paths)
        if self._known_commits[0] != place.commit:
            self._known_commits = (place.commit, last_commits(place.root, [above or "."]))
        return self._known_commits[1]

    def ignoring(self) -> Callable[..., bool]:
        """Return what says, as of now, whether the folder's own `.gitignore` names a path.

        It is called with the path and `is_folder`, and knows the folders around it too.
        """
        patterns = self._patterns()

        def ignores(path: str, *, is_folder: bool) -> bool:
            is_ignored = False
            names = PurePosixPath(path).parts if patterns else ()
            for is_meant, pattern in patterns:
                if is_ignored != is_meant and pattern.matches(names, is_folder=is_folder):
                    is_ignored = is_meant
            return is_ignored

        return ignores

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


def _last_before(root: str, files: Mapping[str, int]) -> dict[str, str]:
    """Return the last commit before the time of each file; the oldest known one is before all."""
    trunk = trunk_times(root, at_most=1)
    if trunk and min(files.values()) < trunk[0][0]:
        trunk = trunk_times(root, at_most=TRUNK)
    if not trunk:
        return {}
    return {
        path: next((commit for made_ms, commit in trunk if made_ms <= at_ms), trunk[-1][1])
        for path, at_ms in files.items()
    }


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
