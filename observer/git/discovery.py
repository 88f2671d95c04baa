"""Which repository is around a folder, found without running git, and whose it is.

As git looks for it, with two differences: a folder that is laid out as a bare repository is not
taken for one inside a work tree (`safe.bareRepository=explicit`), and `core.worktree` is not read:
the work tree is where `.git` is.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from observer.core.errors import NotFound
from observer.core.paths import read_head

_LINE_BYTES = 8192
_GITFILE = "gitdir:"


class NoRepository(NotFound):
    """There is no repository around a folder, or one in which git is not run."""


class ForeignRepository(NoRepository):
    """There is one, which belongs to another user."""


class Repository(NamedTuple):
    """A repository on the disk; all paths are real ones.

    `root` is the work tree, or the repository itself if it is bare. A linked work tree has a
    `git_dir` of its own and shares the `common_dir`. `owned` are the paths whose owner counts.
    """

    root: str
    git_dir: str
    common_dir: str
    owned: tuple[str, ...]

    @property
    def is_bare(self) -> bool:
        """Whether there is no work tree."""
        return self.root == self.git_dir


def find(folder: str) -> Repository | None:
    """Return the repository around an existing folder, whoever owns it; None without one.

    Raises:
        ValueError: no file system can hold the path (NUL, lone surrogates).
    """
    bare = ""
    for level in _upwards(os.path.realpath(folder)):
        entry = os.path.join(level, ".git")
        git_dir, is_broken = _git_dir_at(entry)
        if git_dir:
            common_dir = _common_dir(git_dir)
            return Repository(level, git_dir, common_dir, (level, entry, git_dir, common_dir))
        if is_broken:
            return None
        if not bare and os.path.basename(level) != ".git" and _is_git_dir(level):
            bare = level
    return Repository(bare, bare, _common_dir(bare), (bare,)) if bare else None


def refusal(repository: Repository) -> str:
    """Return why git is not run in a repository, "" if it is.

    Like git: what another user owns could have been laid out for us. As root, the user behind sudo
    counts too. Source: git-config(1), safe.directory.
    """
    allowed = {os.geteuid()}
    if allowed == {0} and (behind := os.environ.get("SUDO_UID", "")).isdigit():
        allowed.add(int(behind))
    for path in repository.owned:
        owner = os.lstat(path).st_uid
        if owner not in allowed:
            return f"{path} belongs to another user (uid {owner})"
    return ""


def first_line(path: str) -> str:
    """Return the first line of a small file without its end, "" if it cannot be read."""
    try:
        return os.fsdecode(read_head(path, _LINE_BYTES).partition(b"\n")[0])
    except OSError:
        return ""


def _upwards(folder: str) -> Iterator[str]:
    yield folder
    while folder != "/":
        folder = os.path.dirname(folder)
        yield folder


def _git_dir_at(entry: str) -> tuple[str, bool]:
    """Return the repository that `.git` is or names, and whether it names none."""
    try:
        mode = os.stat(entry).st_mode
    except OSError:
        return "", False
    if stat.S_ISDIR(mode):
        return (os.path.realpath(entry) if _is_git_dir(entry) else ""), False
    if not stat.S_ISREG(mode):
        return "", True
    line = first_line(entry)
    if not line.startswith(_GITFILE):
        return "", True
    named = os.path.realpath(os.path.join(os.path.dirname(entry), line[len(_GITFILE) :].strip()))
    return (named, False) if _is_git_dir(named) else ("", True)


def _common_dir(git_dir: str) -> str:
    shared = first_line(os.path.join(git_dir, "commondir")).strip()
    return os.path.realpath(os.path.join(git_dir, shared)) if shared else git_dir


def _is_git_dir(folder: str) -> bool:
    if not os.path.lexists(os.path.join(folder, "HEAD")):
        return False
    shared = _common_dir(folder)
    return all(os.path.isdir(os.path.join(shared, part)) for part in ("objects", "refs"))
