"""What git says about a folder: through GitPython, and by the program where only that can tell.

HEAD is read here rather than through GitPython, whose way asks a `cat-file` process and knows
neither SHA-256 nor a repository without commits. Where refs are in tables, the program is asked.
"""

from __future__ import annotations

import configparser
import os
import re
import threading
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from observer.capture.project.evidence import Seen, first_line, ground, inode_of, stamp_of
from observer.capture.project.remotes import normalise
from observer.model import Place

if TYPE_CHECKING:
    from git import Repo

# A machine without git has folders too; without this GitPython would refuse to be imported on it.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")

WAIT_S = 5.0
"""Longest wait for the oldest commit; a history of a million commits takes about this long."""

_STUB = "refs/heads/.invalid"
"""What HEAD points to where the refs are in tables (reftable)."""
_TABLES = os.path.join("reftable", "tables.list")
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_UNREADABLE = (configparser.Error, OSError, ValueError)
_ENVIRONMENT = threading.Lock()


def work_tree(folder: str, root_commits: MutableMapping[str, str]) -> Seen | None:
    """Return the work tree (or bare repository) around an existing folder; None without one.

    The oldest commit is taken from `root_commits` (by inode of the repository), else asked of git
    and put there. A repository that cannot be read counts as none.
    """
    from git import Repo  # noqa: PLC0415 - 60 to 250 ms, and most commands never look at a folder
    from git.exc import GitError  # noqa: PLC0415 - as above

    try:
        with (
            _without_git_variables(),
            Repo(folder, search_parent_directories=True, expand_vars=False) as repo,
        ):
            return _read(repo, root_commits)
    except (GitError, *_UNREADABLE):
        return None


def _read(repo: Repo, root_commits: MutableMapping[str, str]) -> Seen | None:
    git_dir = os.path.realpath(repo.git_dir)
    common_dir = os.path.realpath(repo.common_dir)
    root = os.path.realpath(os.path.join(git_dir, repo.working_tree_dir or common_dir))
    if root in ground():
        return None
    expected = _ref(git_dir)
    watched = (
        os.path.join(git_dir, "HEAD"),
        os.path.join(common_dir, expected or "HEAD"),
        os.path.join(common_dir, "packed-refs"),
        os.path.join(common_dir, "config"),
        *(os.path.join(folder, _TABLES) for folder in (git_dir, common_dir) if expected == _STUB),
    )
    stamp = stamp_of(watched)
    ref = told = _ref(git_dir)
    if ref == _STUB:
        ref, commit = _asked(repo)
    else:
        commit = _commit(git_dir, common_dir, ref)
    inode = inode_of(common_dir)
    if commit and inode not in root_commits:
        root_commits[inode] = _root_commit(repo, common_dir)
    place = Place(
        root=root,
        git=True,
        common_dir=common_dir,
        inode=inode,
        remotes=_remotes(common_dir, root),
        root_commit=root_commits.get(inode, "") if commit else "",
        branch=ref.removeprefix("refs/heads/"),
        commit=commit,
    )
    # HEAD moved to another branch between the two readings: the wrong ref is watched, look again.
    return Seen(place, watched, stamp if told == expected else ())


@contextmanager
def _without_git_variables() -> Iterator[None]:
    """Hide `GIT_*`: GitPython and git obey them even for a repository named by its path."""
    with _ENVIRONMENT:
        names = [name for name in os.environ if name.startswith("GIT_")]
        hidden = {name: os.environ.pop(name) for name in names}
        try:
            yield
        finally:
            os.environ.update(hidden)


def _ref(git_dir: str) -> str:
    """Return the full name of the branch that HEAD points to, "" when it is detached."""
    head = first_line(os.path.join(git_dir, "HEAD"))
    return head.removeprefix("ref:").strip() if head.startswith("ref:") else ""


def _asked(repo: Repo) -> tuple[str, str]:
    """Return what `_ref` and `_commit` would, asked of git; nothing where it knows no tables."""
    ref = _git(repo, "symbolic-ref", "--quiet", "HEAD")
    return ref, _hash(_git(repo, "rev-parse", "--verify", "--quiet", "HEAD"))


def _commit(git_dir: str, common_dir: str, ref: str) -> str:
    if not ref:
        return _hash(first_line(os.path.join(git_dir, "HEAD")))
    loose = _hash(first_line(os.path.join(common_dir, ref)))
    return loose or _packed(os.path.join(common_dir, "packed-refs"), os.fsencode(ref))


def _packed(path: str, ref: bytes) -> str:
    try:
        with open(path, "rb") as file:
            found = next((line for line in file if line.rstrip().endswith(b" " + ref)), b"")
    except OSError:
        return ""
    return _hash(found.partition(b" ")[0].decode("latin-1"))


def _hash(text: str) -> str:
    return text if _HASH.fullmatch(text) else ""


def _remotes(common_dir: str, root: str) -> tuple[str, ...]:
    from git import GitConfigParser  # noqa: PLC0415 - as in work_tree

    try:
        with GitConfigParser(
            os.path.join(common_dir, "config"), read_only=True, merge_includes=False
        ) as config:
            urls = {
                section[8:-1]: str(config.get_value(section, "url"))
                for section in config.sections()
                if section.startswith('remote "') and config.has_option(section, "url")
            }
        names = sorted(urls, key=lambda name: (name != "origin", name))
        found = [normalise(urls[name], base=root) for name in names]
    except _UNREADABLE:
        return ()
    return tuple(dict.fromkeys(remote for remote in found if remote))


def _root_commit(repo: Repo, common_dir: str) -> str:
    """Return the oldest commit without parents, "" where the history is cut short or too long."""
    if os.path.exists(os.path.join(common_dir, "shallow")):
        return ""
    answer = _git(repo, "rev-list", "--max-parents=0", "--timestamp", "HEAD", "--")
    roots = sorted((int(when), name) for when, name in map(str.split, answer.splitlines()))
    return roots[0][1] if roots else ""


def _git(repo: Repo, *words: str) -> str:
    """Return what the program prints, "" where it fails or takes too long."""
    from git.exc import GitError  # noqa: PLC0415 - as in work_tree

    settings = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_GRAFT_FILE": os.devnull,
        "GIT_NO_REPLACE_OBJECTS": "1",
    }
    command = ["git", f"--git-dir={repo.git_dir}", *words]
    try:
        return str(repo.git.execute(command, env=settings, kill_after_timeout=WAIT_S))
    except (GitError, *_UNREADABLE):
        return ""
