"""Commits and the files they changed, as blob hashes without text.

A `CommitDiff` is a commit compared with its first parent, a `DiffEntry` what became of one of its
files; `status.Blobs` reads the text. Names of files and branches are redacted, as in events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from observer.git.patch import RECORD, time_ms, unquote_path
from observer.git.process import git_output, stream_lines
from observer.redaction.redact import redact_text

FIELDS = ("H", "P", "ct", "at", "B")
"""git's letters of the fields that a header holds."""
MESSAGE_CHARS = 2_000

_RAW = ("--raw", "--no-abbrev", "--find-renames", "-l1000", "--no-relative", "-O/dev/null")
_LOG = (
    *("log", "--format=tformat:%x00" + "".join(f"%{field}%x00" for field in FIELDS)),
    *("--encoding=UTF-8", "--no-mailmap", "--no-notes", "--no-show-signature", "--no-decorate"),
    *("--no-color", "--root", "--diff-merges=first-parent", "--ignore-submodules=all", *_RAW),
)
_DIFF = ("diff-tree", "-r", "--ignore-submodules=all", *_RAW)
_FILE = ("100644", "100755", "120000")
"""Modes of what has text: files and symbolic links."""


class DiffEntry(NamedTuple):
    """One entry of a raw diff: `old` and `path` differ where the file was renamed.

    `before` and `blob` are the hashes of its content before and after; "" where it did not exist.
    """

    old: str
    path: str
    before: str
    blob: str


class CommitDiff(NamedTuple):
    """One commit; its message is cut at `MESSAGE_CHARS`."""

    commit: str
    parents: tuple[str, ...]
    committed_ms: int
    authored_ms: int
    message: str
    files: tuple[DiffEntry, ...]


def resolve_commit(root: str, rev: str) -> str:
    """Return the full hash of a commit, "" if no commit has that name here.

    Raises:
        NotFound: git is not installed or does not answer in time, or `root` cannot be a path.
    """
    if not rev or rev.startswith("-"):
        return ""
    return git_output(root, "rev-parse", "--verify", "--quiet", f"{rev}^{{commit}}") or ""


def current_branch(root: str) -> str:
    """Return the name of the branch that is checked out, "" if HEAD is detached.

    Raises:
        NotFound: git is not installed or does not answer in time, or `root` cannot be a path.
    """
    return redact_text(git_output(root, "symbolic-ref", "--short", "--quiet", "HEAD") or "")


def checked_out_branches(root: str) -> set[str]:
    """Return the names of the branches that are checked out in any work tree.

    Raises:
        NotFound: git is not installed or does not answer in time, or `root` cannot be a path.
    """
    lines = (git_output(root, "worktree", "list", "--porcelain") or "").split("\n")
    mark = "branch refs/heads/"
    return {redact_text(line.removeprefix(mark)) for line in lines if line.startswith(mark)}


def commits_between(root: str, since: str, to: str) -> Iterator[CommitDiff]:
    """Yield the commits that `to` contains and `since` does not, parents before children.

    Args:
        root: a folder of the repository.
        since: a commit, "" for the beginning.
        to: a commit.

    Raises:
        NotFound: git is not installed, or `root` cannot be a path.
        ObserverError: git failed; what was yielded before is right but not all.
    """
    return _steps(root, ("--topo-order", "--reverse", f"{since}..{to}" if since else to))


def commits_by_hash(root: str, commits: Sequence[str]) -> Iterator[CommitDiff]:
    """Yield those of the commits that exist, in the order given; raises as `commits_between`."""
    return _steps(root, ("--no-walk=unsorted", "--ignore-missing", *commits))


def _steps(root: str, words: Sequence[str]) -> Iterator[CommitDiff]:
    lines = stream_lines(root, (*_LOG, *words, "--"), record=RECORD, fields=len(FIELDS))
    header, files = b"", list[DiffEntry]()
    for line in lines:
        if line.startswith(RECORD):
            if header:
                yield _step(header, files)
            header, files = line, []
        elif line.startswith(b":"):
            files += _moved(line)
    if header:
        yield _step(header, files)


def diff_commits(root: str, old: str, new: str) -> tuple[DiffEntry, ...]:
    """Return the files in which two commits differ.

    Raises:
        NotFound: git is not installed or does not answer in time.
        ObserverError: there is no such commit, or git failed.
    """
    lines = stream_lines(root, (*_DIFF, old, new, "--"), record=RECORD, fields=0)
    return tuple(moved for line in lines for moved in _moved(line))


def first_parents(root: str, to: str, *, since: str = "") -> list[str]:
    """Return a commit and its first parents, newest first, up to those reachable from `since`."""
    return _listed(root, "--first-parent", to, *([f"^{since}"] if since else []))


def reachable_commits(root: str, *commits: str, without: str = "") -> set[str]:
    """Return the hashes of commits reachable from these, less those reachable from `without`."""
    return set(_listed(root, *commits, *([f"^{without}"] if without else [])))


def is_related(root: str, one: str, other: str) -> bool:
    """Return True if two commits have a history in common.

    Raises:
        NotFound: git is not installed or does not answer in time, or `root` cannot be a path.
    """
    return bool(git_output(root, "merge-base", one, other))


def merge_base(root: str, commits: Sequence[str]) -> str:
    """Return the best common ancestor of all these commits, "" if there is none.

    Raises:
        NotFound: git is not installed or does not answer in time, or `root` cannot be a path.
    """
    return git_output(root, "merge-base", "--octopus", *commits) or ""


def _listed(root: str, *words: str) -> list[str]:
    return (git_output(root, "rev-list", *words, "--") or "").split()


def _step(header: bytes, files: Iterable[DiffEntry]) -> CommitDiff:
    fields = header.split(RECORD)[1 : 1 + len(FIELDS)]
    commit, parents, committed, authored, message = (
        field.decode("utf-8", "replace") for field in fields
    )
    return CommitDiff(
        commit=commit,
        parents=tuple(parents.split()),
        committed_ms=time_ms(committed),
        authored_ms=time_ms(authored),
        message=message.strip()[:MESSAGE_CHARS],
        files=tuple(files),
    )


def _moved(line: bytes) -> Iterator[DiffEntry]:
    """Read a raw entry; what a submodule takes the place of is gone."""
    entry, *names = line.rstrip(b"\n").split(b"\t")
    if len(names) not in {1, 2}:  # a name so long that it was cut
        return
    mode_before, mode, before, blob, _ = entry[1:].decode("ascii").split(" ")
    before = before if mode_before in _FILE else ""
    blob = blob if mode in _FILE else ""
    old, path = (redact_text(unquote_path(name)) for name in (names[0], names[-1]))
    yield DiffEntry(old, path, before, blob)
