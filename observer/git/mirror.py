"""A stand-in for a repository's folder: its objects and refs by links, our configuration.

git reads settings, attributes and hooks from the folder that `GIT_COMMON_DIR` names. We name one of
our own, in which the configuration holds nothing but the format of the repository. So no filter,
text conversion, external diff, hook, monitor, signature program, pager, credential helper, alias or
include that a repository brings along exists for the git that we run.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

from observer.core.paths import home, make_private
from observer.git import configuration
from observer.git.discovery import Repository

_LINKED = ("HEAD", "logs", "objects", "packed-refs", "refs", "reftable", "shallow", "worktrees")
_EXCLUDE = "info/exclude"
_WHOSE = "git_dir"
"""A link to what the folder stands in for; git does not know it."""

_Stamp = tuple[int, int, int] | None
_known: dict[tuple[str, str], tuple[tuple[_Stamp, _Stamp], str]] = {}


def mirror(repository: Repository) -> str:
    """Return the stand-in of a repository, brought up to date.

    Raises:
        OSError: it cannot be written.
    """
    files = _files(repository)
    stamps = (_stamp(files[0]), _stamp(files[1]))
    above = str(home().run)
    key = (above, repository.git_dir)
    if (known := _known.get(key)) and known[0] == stamps and os.path.exists(f"{known[1]}/config"):
        return known[1]
    folder = _made(repository, above, configuration.described(settings_of(repository)))
    _known[key] = (stamps, folder)
    return folder


def settings_of(repository: Repository) -> list[configuration.Setting]:
    """Return what the repository's own configuration says, that of its work tree last."""
    shared, own = _files(repository)
    found = list(configuration.parse(configuration.read(shared)))
    if any(setting.name == "extensions.worktreeconfig" for setting in found):
        found += configuration.parse(configuration.read(own))
    return found


def _files(repository: Repository) -> tuple[str, str]:
    return f"{repository.common_dir}/config", f"{repository.git_dir}/config.worktree"


def _stamp(path: str) -> _Stamp:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size


def _made(repository: Repository, above: str, text: str) -> str:
    name = hashlib.sha256(os.fsencode(repository.git_dir)).hexdigest()[:32]
    try:
        make_private(Path(above))
        beside = make_private(Path(above, "git"))
        _forget_gone(beside)
        folder = make_private(beside / name)
    except OSError:  # the home cannot be written, which is no reason to be blind
        folder = make_private(Path(_spare(), name))
    make_private(folder / "info")
    _link(folder / _WHOSE, repository.git_dir)
    for entry in _LINKED:
        _link(folder / entry, f"{repository.common_dir}/{entry}")
    _link(folder / _EXCLUDE, f"{repository.common_dir}/{_EXCLUDE}")
    _put(folder / "config", text)
    return str(folder)


def _forget_gone(folder: Path) -> None:
    """Remove the stand-ins of repositories and work trees that are no more."""
    for one in folder.iterdir():
        if (one / _WHOSE).is_symlink() and not (one / _WHOSE).exists():
            shutil.rmtree(one, ignore_errors=True)


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


def _put(path: Path, text: str) -> None:
    _replace(path, lambda spare: spare.write_text(text, encoding="utf-8"))


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    """Write beside a path, then put it there: another process may be reading."""
    spare = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    write(spare)
    spare.replace(path)
