"""What git says of the files in a work tree: which differ from the index, and what it ignores.

Paths are relative to the work tree. Those that are no UTF-8 come with replacement characters, and
then name no file.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from observer.capture.repository.blobs import Blobs
from observer.capture.repository.program import ask

Standing = Literal["changed", "gone", "new"]

MOST_PATHS = 100
"""Paths that git is asked about by name; of more it tells all, which then is faster."""

_STANDINGS: dict[str, Standing] = {"C": "changed", "R": "gone", "?": "new"}
_UNDER_WAY = (
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "rebase-merge",
    "rebase-apply",
)


class WorkTree:
    """A checkout, and git's view of its files. Runs git; changes nothing.

    Args:
        root: the folder with `.git` in it.

    Raises:
        NotFound: git is not installed.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self._git_dir = Path(ask(root, "rev-parse", "--absolute-git-dir") or f"{root}/.git")
        common = ask(root, "rev-parse", "--path-format=absolute", "--git-common-dir")
        self._common_dir = Path(common or self._git_dir)
        excludes = _users_excludes(root)
        self._settings = ["-c", f"core.excludesFile={excludes}"] if excludes else []

    def differing(self, paths: Sequence[str] = ()) -> dict[str, Standing]:
        """Return files that differ from the index or are unknown to it, ignored ones left out.

        Args:
            paths: files and folders to look at; none, or more than `MOST_PATHS`, means all.
        """
        named = () if len(paths) > MOST_PATHS else paths
        told = self._listed("-t", "-m", "-d", "-o", "--exclude-standard", "--", *named)
        found: dict[str, Standing] = {}
        for line in told:
            standing = _STANDINGS.get(line[:1])
            # What is gone is told twice, as changed too.
            if standing and found.get(line[2:]) != "gone":
                found[line[2:]] = standing
        return found

    def ignored_folders(self) -> frozenset[str]:
        """Return the outermost folders of which git ignores everything."""
        told = self._listed("-o", "-i", "--exclude-standard", "--directory")
        return frozenset(line[:-1] for line in told if line.endswith("/"))

    def ignored(self, paths: Sequence[str]) -> list[str]:
        """Return those of the paths that git ignores; names that it would quote are left out."""
        told = ask(self.root, *self._settings, "check-ignore", "--", *paths) if paths else None
        return told.split("\n") if told else []

    def is_tracked(self, path: str) -> bool:
        """Tell whether git knows the file, or a file in the folder."""
        return bool(self._listed("--", path))

    def staged(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Return files as they are in the index; those it lacks, or too large, are left out."""
        with Blobs(self.root) as blobs:
            found = {path: blobs.get(f":{path}") for path in paths}
        return {path: blob.data for path, blob in found.items() if blob and blob.data is not None}

    @property
    def is_locked(self) -> bool:
        """Whether git is about to change the index, and perhaps files."""
        return (self._git_dir / "index.lock").exists()

    def moved_ms(self) -> int:
        """Return when git last changed the index: by checkout, reset, add, commit …; 0 if never."""
        return _mtime_ms(self._git_dir / "index")

    def writes_of_its_own(self, *, since_ms: int) -> bool:
        """Tell whether git wrote files that differ from the index: conflicts, or a stash."""
        if any((self._git_dir / name).exists() for name in _UNDER_WAY):
            return self.moved_ms() >= since_ms
        return _mtime_ms(self._common_dir / "refs") >= since_ms

    def _listed(self, *words: str) -> list[str]:
        told = (
            ask(self.root, "--literal-pathspecs", *self._settings, "ls-files", "-z", *words) or ""
        )
        return told.split("\0")[:-1]


def _users_excludes(root: str) -> str:
    """Return the file that `core.excludesFile` names, for which our git reads no settings."""
    # What these point to is another repository; what GIT_CONFIG_* say is the user's own wish.
    env = {k: v for k, v in os.environ.items() if k[:4] != "GIT_" or k[:10] == "GIT_CONFIG"}
    done = subprocess.run(  # noqa: S603 - no shell; only reads
        ["git", "-C", root, "config", "--type=path", "--get", "core.excludesFile"],  # noqa: S607 - the user's git
        env=env,
        capture_output=True,
        check=False,
    )
    return os.fsdecode(done.stdout).rstrip("\n")


def _mtime_ms(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except OSError:
        return 0
