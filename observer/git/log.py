"""git's log as commits, one or the whole history as a stream, the moves of HEAD, and what differs.

Names of files and branches are redacted, as in events.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from observer.core.errors import NotFound, ObserverError
from observer.core.events import Commit
from observer.git.patch import (
    FIELDS,
    RECORD,
    CommitParser,
    header_fields,
    time_ms,
    unquote_path,
)
from observer.git.process import git_output, repository_at, stream_lines
from observer.git.repository import is_partial_clone, read_config, repository_settings
from observer.redaction.redact import redact_text

_LOG = (
    *("log", "--format=tformat:%x00" + "".join(f"%{field}%x00" for field in FIELDS)),
    *("--encoding=UTF-8", "--no-mailmap", "--no-notes", "--no-show-signature", "--no-decorate"),
    *("--no-color", "--root", "--raw", "--diff-merges=first-parent", "--no-relative"),
    *("-O/dev/null", "--ignore-submodules=none"),
)
_PATCH = (
    *("--patch", "--unified=0", "--inter-hunk-context=0", "--find-renames", "-l1000"),
    *("--no-ext-diff", "--no-textconv", "--submodule=short", "--diff-algorithm=default"),
    *("--src-prefix=a/", "--dst-prefix=b/"),
)
_RAW = (
    *("--raw", "--no-abbrev", "--find-renames", "-l1000", "--no-relative", "-O/dev/null"),
    "--ignore-submodules=all",
)
PATCH_CHARS = 100_000
"""Longest part of a patch that is shown."""
_NAMES = ("--no-renames",)
"""For commits whose files are not available: only the names of files, no counts or symbols."""


def read_commit(root: str, rev: str) -> Commit:
    """Return one commit; a merge as its first parent sees it. Raises: NotFound (or no git)."""
    for detail in (_PATCH, _NAMES):
        try:
            for _, commit in _stream(root, (*detail, "--no-walk", "--end-of-options", rev)):
                return commit
        except NotFound:
            raise
        except ObserverError:
            continue  # files of a partial clone are missing, or there is no such commit
    raise NotFound(f"no commit {rev} in {root}", hint="see: git log")


def commit_patch(root: str, commit: str) -> str:
    """Return what a commit changed beside its first parent, redacted; "" where git cannot say."""
    words = ("log", "--format=", "--no-color", "--diff-merges=first-parent", *_PATCH)
    shown = ("--unified=2", "--no-walk", "--end-of-options", commit, "--")
    try:
        return redact_text((git_output(root, *words, *shown) or "")[:PATCH_CHARS])
    except ObserverError:
        return ""


def commit_history(
    root: str, *, since: str = "", to: str = "HEAD", at_most: int | None = None
) -> Iterator[tuple[int, Commit]]:
    """Yield (committed_ms, commit) of all commits reachable from one, parents before children.

    What `since` contains is left out, unless it is unknown. Of `at_most` the newest are yielded.
    Raises: NotFound, ObserverError (git found the repository damaged).
    """
    wanted = _range(root, since, to)
    if not wanted:
        return iter(())
    detail = _NAMES if is_partial(root) else _PATCH
    limit = () if at_most is None else (f"--max-count={at_most}",)
    cut_off = frozenset(read_config(f"{repository_at(root).common_dir}/shallow").split())
    return (
        # Where the parents are missing, git shows every file as new.
        (at_ms, replace(commit, files=()) if commit.hash in cut_off else commit)
        for at_ms, commit in _stream(root, (*detail, *limit, "--date-order", "--reverse", wanted))
    )


def count_commits(root: str, *, since: str = "", to: str = "HEAD") -> int:
    """Return how many commits `commit_history` yields. Raises: NotFound (no repository)."""
    wanted = _range(root, since, to)
    return int(git_output(root, "rev-list", "--count", wanted, "--") or 0) if wanted else 0


def _stream(root: str, words: tuple[str, ...]) -> Iterator[tuple[int, Commit]]:
    lines = stream_lines(root, (*_LOG, *words, "--"), record=RECORD, fields=len(FIELDS))
    header = next(lines, None)
    if header is None:
        return
    draft = CommitParser(header)
    for line in lines:
        if line.startswith(RECORD):
            yield draft.finished()
            draft = CommitParser(line)
        else:
            draft.take(line)
    yield draft.finished()


def _range(root: str, since: str, to: str) -> str:
    repository_at(root)  # says why, where there is none
    head = resolve_commit(root, to)
    if not head:
        return ""
    known = resolve_commit(root, since) if since else ""
    return f"{known}..{head}" if known else head


def is_partial(root: str) -> bool:
    """Return True if a clone lacks objects, and fetches them when needed."""
    return is_partial_clone(repository_settings(repository_at(root)))


MOST_MOVES = 300
"""Moves of HEAD that are read, the latest."""

_REFLOG = ("log", "-g", f"-{MOST_MOVES}", "--no-show-signature")
RESET = "reset:"
"""How the message of a reset begins."""
_REBASED = r"^[^:]*\((pick|squash|fixup|reword|edit|continue)\)"


class HeadMove(NamedTuple):
    """A move of HEAD: the commit that it came to, the reflog message, and when, in seconds."""

    to: str
    message: str
    at_s: int = 0


def head_moves(root: str) -> list[HeadMove]:
    """Return the last moves of HEAD, newest first. Raises: NotFound (git does not answer)."""
    answer = git_output(root, *_REFLOG, "--date=unix", "--format=%H %gd %gs", "HEAD", "--") or ""
    lines = (line.split(" ", 2) for line in answer.split("\n") if line)
    return [HeadMove(to, message, int(at[len("HEAD@{") : -1])) for to, at, message in lines]


def head_before_resets(moves: Sequence[HeadMove], to: str) -> str:
    """Return where HEAD was before resets and its move to a commit, "" if there were none."""
    behind = itertools.dropwhile(lambda move: move.to != to, moves)
    earlier = list(itertools.islice(behind, 1, None))
    left = itertools.dropwhile(lambda move: move.message.startswith(RESET), earlier)
    since = next(left, HeadMove("", "")).to
    return since if earlier and earlier[0].to != since else ""


def rebased_commits(root: str) -> set[str]:
    """Return the last commits a rebase made, in any work tree. Raises: NotFound."""
    only = ("--extended-regexp", f"--grep-reflog={_REBASED}")
    return set((git_output(root, *_REFLOG, "--all", "--format=%H", *only) or "").split())


MESSAGE_CHARS = 2_000
_DIFF = ("diff-tree", "-r", *_RAW)
_FILE = ("100644", "100755", "120000")
"""Modes of what has text: files and symbolic links."""


class DiffEntry(NamedTuple):
    """One entry of a raw diff: a file's paths and blobs before and after, "" where it was not."""

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
    """Return the full hash of a commit, "" if no commit has that name here. Raises: NotFound."""
    if not rev or rev.startswith("-"):
        return ""
    return git_output(root, "rev-parse", "--verify", "--quiet", f"{rev}^{{commit}}") or ""


def current_branch(root: str) -> str:
    """Return the branch that is checked out, "" if HEAD is detached. Raises: NotFound."""
    return redact_text(git_output(root, "symbolic-ref", "--short", "--quiet", "HEAD") or "")


def checked_out_branches(root: str) -> set[str]:
    """Return the names of the branches that are checked out in any work tree. Raises: NotFound."""
    lines = (git_output(root, "worktree", "list", "--porcelain") or "").split("\n")
    mark = "branch refs/heads/"
    return {redact_text(line.removeprefix(mark)) for line in lines if line.startswith(mark)}


def commits_between(root: str, since: str, to: str) -> Iterator[CommitDiff]:
    """Yield the commits that `to` contains and `since` does not, parents before children.

    Raises: NotFound (git does not answer), ObserverError (it failed: not all were yielded).
    """
    return _steps(root, ("--topo-order", "--reverse", f"{since}..{to}" if since else to))


def commits_by_hash(root: str, commits: Sequence[str]) -> Iterator[CommitDiff]:
    """Yield those of the commits that exist, in the order given; raises as `commits_between`."""
    return _steps(root, ("--no-walk=unsorted", "--ignore-missing", *commits))


def _steps(root: str, words: Sequence[str]) -> Iterator[CommitDiff]:
    lines = stream_lines(root, (*_LOG, *_RAW, *words, "--"), record=RECORD, fields=len(FIELDS))
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
    """Return the files in which two commits differ. Raises: NotFound, ObserverError."""
    if old == new:
        return ()
    lines = stream_lines(root, (*_DIFF, old, new, "--"), record=RECORD, fields=0)
    return tuple(moved for line in lines for moved in _moved(line))


def first_parents(root: str, to: str, *, since: str = "") -> list[str]:
    """Return a commit and its first parents, newest first, up to those of `since`; or NotFound."""
    words = ("--first-parent", to, *([f"^{since}"] if since else []))
    return (git_output(root, "rev-list", *words, "--") or "").split()


def reachable_commits(root: str, *commits: str, without: str = "") -> set[str]:
    """Return the commits reachable from these, less those from `without`. Raises: NotFound."""
    words = (*commits, *([f"^{without}"] if without else []))
    return set((git_output(root, "rev-list", *words, "--") or "").split())


def is_related(root: str, one: str, other: str) -> bool:
    """Return True if two commits have a history in common. Raises: NotFound."""
    return bool(git_output(root, "merge-base", one, other))


def merge_base(root: str, commits: Sequence[str]) -> str:
    """Return the best common ancestor of these commits, "" if there is none. Raises: NotFound."""
    return git_output(root, "merge-base", "--octopus", *commits) or ""


def _step(header: bytes, files: Iterable[DiffEntry]) -> CommitDiff:
    commit, parents, _, authored, committed, message = header_fields(header)
    return CommitDiff(
        commit=commit,
        parents=tuple(parents.split()),
        committed_ms=time_ms(committed),
        authored_ms=time_ms(authored),
        message=message[:MESSAGE_CHARS],
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
