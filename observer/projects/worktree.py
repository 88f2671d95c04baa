"""What a repository says about a folder: read from its files, and from git where only git knows.

A remote has one name for every spelling: `host/owner/name` of `git@host:owner/name.git` and
`https://user:token@host/owner/name`, or a path on this machine.
"""

from __future__ import annotations

import os
import re
from collections.abc import MutableMapping
from functools import partial
from itertools import takewhile
from pathlib import Path

from observer.core.errors import NotFound
from observer.core.model import Place
from observer.core.paths import open_plain
from observer.git.process import git_output, repository_at
from observer.git.repository import Repository, parse_config, read_config, read_first_line
from observer.projects.fs_probe import ProbedPlace, inode_of, non_project_dirs, stamp_of

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_HELPER = re.compile(r"([A-Za-z0-9_-]+)::")
_SCP = re.compile(r"(?:[^/]*@)?(\[[^\]/]*\]|[^/:\[\]]+):(.*)", re.DOTALL)
_OTHER_NAMES = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
"""Hosts that serve the same repositories through a port that firewalls let pass."""
_CASELESS = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})
"""Hosts to which the case of owners and names is all one."""
_DEFAULT_PORTS = {"http": "80", "https": "443"}


def normalise(url: str, *, base: str) -> str:
    """Return the name of a remote, "" for a command (`ext::…`); paths are meant from `base`.

    Raises: ValueError (a local path that no file system can hold: NUL, lone surrogates).
    """
    url = url.strip()
    if helper := _HELPER.match(url):
        return "" if helper[1] == "ext" else normalise(url[helper.end() :], base=base)
    if scheme := _SCHEME.match(url):
        kind = scheme[1].lower()
        rest = url[scheme.end() :]
        rest = re.split(r"[?#]", rest, maxsplit=1)[0]
        authority, _, path = rest.partition("/")
        if kind == "file":
            return os.path.realpath(f"/{path}").removesuffix("/.git")
        host, port = _host_and_port(authority)
        if not (port.isdigit() or not port):
            # An unescaped slash in a password ends the authority early; what follows the last @ is
            # the host, and nothing before it may be kept.
            authority, _, path = rest.rpartition("@")[2].partition("/")
            host, port = _host_and_port(authority)
        if port and (kind not in _DEFAULT_PORTS or port == _DEFAULT_PORTS[kind]):
            port = ""  # the port of an ssh server says nothing about the repository
        return _join(f"{host}:{port}" if port else host, path)
    if scp := _SCP.match(url):
        inside = scp[1].strip("[]")  # [host:port] or an IPv6 address
        return _join(inside.partition(":")[0] if inside.count(":") == 1 else inside, scp[2])
    here = os.path.join(base, os.path.expanduser(url))
    return os.path.realpath(here).removesuffix("/.git") if url else ""


def _host_and_port(authority: str) -> tuple[str, str]:
    host = authority.rpartition("@")[2]
    if host.startswith("["):
        name, _, port = host[1:].partition("]")
        return name, port.removeprefix(":")
    name, _, port = host.partition(":")
    return name, port


def _join(host: str, path: str) -> str:
    parts = [part for part in path.split("/") if part]
    if parts:
        parts[-1] = parts[-1].removesuffix(".git") or parts[-1]
    host = host.lower()
    host = _OTHER_NAMES.get(host, host)
    name = "/".join([host, *parts])
    return name.lower() if host in _CASELESS else name


WAIT_S = 5.0
"""Longest wait for the oldest commit; a history of a million commits takes about this long."""
TABLES_WAIT_S = 1.0
"""Longest wait for what is in tables, which is asked each time that a folder is looked at."""

_LINE_BYTES = 8192
_MOST_REMOTES = 32
_STUB = "refs/heads/.invalid"
"""What HEAD points to where the refs are in tables (reftable)."""
_TABLES = os.path.join("reftable", "tables.list")
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def work_tree(folder: str, root_commits: MutableMapping[str, str]) -> ProbedPlace | None:
    """Return the work tree or bare repository around an existing folder, None if none is readable.

    The oldest commit is taken from `root_commits`, by inode, else asked of git and put there.
    """
    try:
        return _read(repository_at(folder), root_commits)
    except (NotFound, OSError, ValueError):
        return None


def _read(repository: Repository, root_commits: MutableMapping[str, str]) -> ProbedPlace | None:
    root, git_dir, common_dir, _ = repository
    if root in non_project_dirs() or _as_text(root + common_dir) != root + common_dir:
        return None
    expected = _ref(git_dir)
    watched = (
        f"{git_dir}/HEAD",
        f"{common_dir}/{expected or 'HEAD'}",
        f"{common_dir}/packed-refs",
        f"{common_dir}/config",
        *(f"{folder}/{_TABLES}" for folder in (git_dir, common_dir) if expected == _STUB),
    )
    stamp = stamp_of(watched)
    ref = claimed = _ref(git_dir)
    if ref == _STUB:  # in tables, which only git knows
        ref = _git(root, "symbolic-ref", "--quiet", "HEAD", wait_s=TABLES_WAIT_S)
        commit = _git(root, "rev-parse", "--verify", "--quiet", "HEAD", wait_s=TABLES_WAIT_S)
    else:
        commit = read_first_line(f"{common_dir}/{ref}" if ref else f"{git_dir}/HEAD")
        if ref and not _HASH.fullmatch(commit):
            commit = _packed(watched[2], ref)
    commit = commit if _HASH.fullmatch(commit) else ""
    inode = inode_of(common_dir)
    if commit and inode not in root_commits:
        # "" where the history is cut short or too long.
        asked = ("rev-list", "--max-parents=0", "--timestamp", "HEAD", "--")
        lines = () if os.path.exists(f"{common_dir}/shallow") else _git(root, *asked).splitlines()
        roots = sorted((int(when), name) for when, name in map(str.split, lines))
        root_commits[inode] = roots[0][1] if roots else ""
    place = Place(
        root=root,
        git=True,
        common_dir=common_dir,
        inode=inode,
        remotes=_remotes(common_dir, root),
        root_commit=root_commits.get(inode, "") if commit else "",
        branch=_as_text(ref.removeprefix("refs/heads/")),
        commit=commit,
    )
    # HEAD moved to another branch between the two readings: the wrong ref is watched, look again.
    return ProbedPlace(place, watched, stamp if claimed == expected else ())


def _ref(git_dir: str) -> str:
    """Return the full name of the branch that HEAD points to, "" when it is detached."""
    head = read_first_line(os.path.join(git_dir, "HEAD"))
    return head.removeprefix("ref:").strip() if head.startswith("ref:") else ""


def _packed(path: str, ref: str) -> str:
    try:
        with open(open_plain(Path(path), os.O_RDONLY), "rb") as file:
            lines = iter(partial(file.readline, _LINE_BYTES), b"")
            refs = takewhile(lambda line: line.endswith(b"\n"), lines)  # a longer line is none
            named = (line for line in refs if line.rstrip().endswith(b" " + os.fsencode(ref)))
            return next(named, b"").partition(b" ")[0].decode("latin-1")
    except OSError:
        return ""


def _remotes(common_dir: str, root: str) -> tuple[str, ...]:
    urls = {
        setting.subsection: setting.value
        for setting in parse_config(read_config(os.path.join(common_dir, "config")))
        if setting.section == "remote" and setting.key == "url" and setting.value
    }
    names = sorted(urls, key=lambda name: (name != "origin", name))[:_MOST_REMOTES]
    try:
        found = [normalise(_as_text(urls[name]), base=root) for name in names]
    except ValueError:
        return ()
    return tuple(dict.fromkeys(remote for remote in found if remote))


def _as_text(name: str) -> str:
    """Return a name as it can be stored: bytes that are not valid UTF-8 are replaced."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _git(root: str, *words: str, wait_s: float = WAIT_S) -> str:
    try:
        return git_output(root, *words, wait_s=wait_s) or ""
    except NotFound:
        return ""
