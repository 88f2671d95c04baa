"""Finding the repository around a folder and its owner without running git, and its safe mirror.

`find_repository` searches as git does, but takes no bare repository inside a work tree
(`safe.bareRepository=explicit`), nor `core.worktree`: the work tree is where `.git` is.

`mirror` makes a stand-in for the folder that `GIT_COMMON_DIR` names: links to objects and refs, and
our own configuration. For git then nothing exists that runs a program.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from observer.core.errors import NotFound
from observer.core.paths import FileStamp, file_stamp, home, make_private, read_head
from observer.git import configuration

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


def find_repository(folder: str) -> Repository | None:
    """Return the repository around an existing folder, whoever owns it; ValueError for no path."""
    bare = ""
    real = Path(os.path.realpath(folder))
    for level in map(str, (real, *real.parents)):
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

    As root, the user behind sudo is an owner too. Source: git-config(1), safe.directory.
    """
    allowed = {os.geteuid()}
    if allowed == {0} and (behind := os.environ.get("SUDO_UID", "")).isdigit():
        allowed.add(int(behind))
    for path in repository.owned:
        owner = os.lstat(path).st_uid
        if owner not in allowed:
            return f"{path} belongs to another user (uid {owner})"
    return ""


def read_first_line(path: str) -> str:
    """Return the first line of a small file without its end, "" if it cannot be read."""
    try:
        return os.fsdecode(read_head(path, _LINE_BYTES).partition(b"\n")[0])
    except OSError:
        return ""


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
    line = read_first_line(entry)
    if not line.startswith(_GITFILE):
        return "", True
    named = os.path.realpath(os.path.join(os.path.dirname(entry), line[len(_GITFILE) :].strip()))
    return (named, False) if _is_git_dir(named) else ("", True)


def _common_dir(git_dir: str) -> str:
    shared = read_first_line(os.path.join(git_dir, "commondir")).strip()
    return os.path.realpath(os.path.join(git_dir, shared)) if shared else git_dir


def _is_git_dir(folder: str) -> bool:
    if not os.path.lexists(os.path.join(folder, "HEAD")):
        return False
    shared = _common_dir(folder)
    return all(os.path.isdir(os.path.join(shared, part)) for part in ("objects", "refs"))


_LINKED = ("HEAD", "logs", "objects", "packed-refs", "refs", "reftable", "shallow", "worktrees")
_EXCLUDE = "info/exclude"
_WHOSE = "git_dir"
"""A link to what the folder stands in for; git does not know it."""

_known: dict[tuple[str, str], tuple[tuple[FileStamp, FileStamp], str]] = {}


def mirror(repository: Repository) -> str:
    """Return the stand-in of a repository, up to date. Raises: OSError (it cannot be written)."""
    files = _files(repository)
    stamps = (file_stamp(files[0]), file_stamp(files[1]))
    above = str(home().run)
    key = (above, repository.git_dir)
    if (known := _known.get(key)) and known[0] == stamps and os.path.exists(f"{known[1]}/config"):
        return known[1]
    folder = _made(repository, above, configuration.safe_config(repository_settings(repository)))
    _known[key] = (stamps, folder)
    return folder


def repository_settings(repository: Repository) -> list[configuration.Setting]:
    """Return what the repository's own configuration says, that of its work tree last."""
    shared, own = _files(repository)
    found = list(configuration.parse_config(configuration.read_config(shared)))
    if any(setting.name == "extensions.worktreeconfig" for setting in found):
        found += configuration.parse_config(configuration.read_config(own))
    return found


def _files(repository: Repository) -> tuple[str, str]:
    return f"{repository.common_dir}/config", f"{repository.git_dir}/config.worktree"


def _made(repository: Repository, above: str, text: str) -> str:
    name = hashlib.sha256(os.fsencode(repository.git_dir)).hexdigest()[:32]
    if not home().root.is_dir():  # to look at a repository makes no home
        return _filled(Path(_spare(), name), repository, text)
    try:
        make_private(Path(above))
        beside = make_private(Path(above, "git"))
        for one in beside.iterdir():
            if (one / _WHOSE).is_symlink() and not (one / _WHOSE).exists():  # what it was for
                shutil.rmtree(one, ignore_errors=True)
        return _filled(beside / name, repository, text)
    except OSError:  # the home cannot be written, but git can still be read
        return _filled(Path(_spare(), name), repository, text)


def _filled(folder: Path, repository: Repository, text: str) -> str:
    make_private(folder)
    make_private(folder / "info")
    _link(folder / _WHOSE, repository.git_dir)
    for entry in _LINKED:
        _link(folder / entry, f"{repository.common_dir}/{entry}")
    _link(folder / _EXCLUDE, f"{repository.common_dir}/{_EXCLUDE}")
    _replace(folder / "config", lambda spare: spare.write_text(text, encoding="utf-8"))
    return str(folder)


@cache
def _spare() -> str:
    folder = tempfile.mkdtemp(prefix="observer-git-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _link(path: Path, target: str) -> None:
    try:
        path.symlink_to(target)
    except FileExistsError:
        if os.readlink(path) != target:
            _replace(path, lambda spare: spare.symlink_to(target))


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    """Write beside a path, then put it there: another process may be reading."""
    spare = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    write(spare)
    spare.replace(path)
