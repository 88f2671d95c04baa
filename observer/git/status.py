"""Files of a work tree as git sees them: uncommitted, untracked, ignored.

Paths are relative to the work tree; one that is not valid UTF-8 matches no file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from observer.core.errors import NotFound
from observer.git.configuration import user_setting
from observer.git.process import Blobs, git_output, repository_at

WAIT_S = 1.0
"""As long as git may take; named files cost it 5 to 20 ms even in a large repository."""


def uncommitted_paths(
    root: str, paths: Sequence[str], *, wait_s: float = WAIT_S
) -> frozenset[str] | None:
    """Return those of the paths, relative to `root`, that no commit holds as they are.

    What git ignores, or never heard of before it was deleted, is none of them. None if git does not
    say: it is not installed, there is no repository, or it took too long.
    """
    asked = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    words = ("--literal-pathspecs", *asked, "--ignore-submodules=all", "--", *paths)
    try:
        answer = git_output(root, *words, wait_s=wait_s)
    except NotFound:
        return None
    if answer is None:
        return None
    # Each record is two letters, a blank, and the path.
    return frozenset(record[3:] for record in answer.split("\0")[:-1])


FileStatus = Literal["changed", "gone", "new"]

MOST_PATHS = 100
"""Paths that git is asked about by name; of more it lists all, which then is faster."""

_STANDINGS: dict[str, FileStatus] = {"C": "changed", "R": "gone", "?": "new"}
_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")


def is_under_way(root: str) -> bool:
    """Return True while a rebase, merge, pick or revert is not finished. Raises: NotFound."""
    git_dir = Path(repository_at(root).git_dir)
    return any((git_dir / name).exists() for name in _UNDER_WAY)


class WorkTree:
    """A checkout, and git's view of its files; changes nothing. Raises: NotFound (no answer)."""

    def __init__(self, root: str) -> None:
        self.root = root
        repository = repository_at(root)
        self._git_dir = Path(repository.git_dir)
        self._common_dir = Path(repository.common_dir)
        excludes = user_setting("core.excludesFile", "--type=path")
        self._settings = ["-c", f"core.excludesFile={excludes[-1]}"] if excludes else []

    def changed_files(self, paths: Sequence[str] = ()) -> dict[str, FileStatus]:
        """Return files, of all or some paths, that differ from the index or are new to it."""
        named = () if len(paths) > MOST_PATHS else paths
        answer = self._listed("-t", "-m", "-d", "-o", "--exclude-standard", "--", *named)
        found: dict[str, FileStatus] = {}
        for line in answer:
            standing = _STANDINGS.get(line[:1])
            # A deleted file is listed twice, as changed too.
            if standing and found.get(line[2:]) != "gone":
                found[line[2:]] = standing
        return found

    def ignored_folders(self) -> frozenset[str]:
        """Return the outermost folders of which git ignores everything."""
        answer = self._listed("-o", "-i", "--exclude-standard", "--directory")
        return frozenset(line[:-1] for line in answer if line.endswith("/"))

    def ignored(self, paths: Sequence[str]) -> list[str]:
        """Return those paths that git ignores, but names that it would quote. Raises: NotFound."""
        asked = (*self._settings, "check-ignore", "--", *paths)
        answer = git_output(self.root, *asked) if paths else None
        return answer.split("\n") if answer else []

    def is_tracked(self, path: str) -> bool:
        """Return True if git knows the file, or a file in the folder."""
        return bool(self._listed("--", path))

    def staged(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Return files as they are in the index; those it lacks, or too large, are left out."""
        with Blobs(self.root) as blobs:
            found = {path: blobs.get(f":{path}") for path in paths}
        return {path: blob.data for path, blob in found.items() if blob and blob.data is not None}

    @property
    def is_locked(self) -> bool:
        """Whether git is about to change the index, and perhaps files."""
        return os.path.exists(self._git_dir / "index.lock")

    def index_changed_ms(self) -> int:
        """Return when git last changed the index: by checkout, reset, add, commit …; 0 if never."""
        return _mtime_ms(self._git_dir / "index")

    def has_own_writes(self, *, since_ms: int) -> bool:
        """Return True if git itself wrote differing files: in a conflict, or from a stash."""
        if any((self._git_dir / name).exists() for name in _UNDER_WAY):
            return self.index_changed_ms() >= since_ms
        return _mtime_ms(self._common_dir / "refs") >= since_ms

    def _listed(self, *words: str) -> list[str]:
        asked = ("--literal-pathspecs", *self._settings, "ls-files", "-z", *words)
        return (git_output(self.root, *asked) or "").split("\0")[:-1]


def _mtime_ms(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except OSError:
        return 0
