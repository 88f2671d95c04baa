"""git's log as commits, one or the whole history as a stream, and the moves of HEAD.

`patch` parses git's output into commits, `defined_names` names what changed inside a file, and
`process` runs git. The reflog gives moves of HEAD that no hook reports, or that another one does.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from observer.core.errors import NotFound, ObserverError
from observer.core.events import Commit
from observer.git.commit_diffs import resolve_commit
from observer.git.configuration import is_partial_clone, read_config
from observer.git.patch import FIELDS, RECORD, CommitParser
from observer.git.process import git_output, repository_at, stream_lines
from observer.git.repository import repository_settings
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
PATCH_CHARS = 100_000
"""Longest part of a patch that is shown."""
_NAMES = ("--no-renames",)
"""For commits whose files are not available: only the names of files, no counts or symbols."""


def read_commit(root: str, rev: str) -> Commit:
    """Return one commit of the repository at `root`; a merge as its first parent sees it.

    Raises:
        NotFound: there is no such commit or repository (any more), or no git.
    """
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
    """Return (committed_ms, commit) of all commits reachable from one, parents before children.

    Args:
        root: a folder of the repository.
        since: a commit; what it contains is left out. One that is unknown here, as after a
            rewritten history, leaves nothing out.
        to: the commit.
        at_most: yield only so many, the newest.

    Raises:
        NotFound: there is no repository, or no git.
        ObserverError: while iterating, git found the repository damaged.
    """
    wanted = _range(root, since, to)
    if not wanted:
        return iter(())
    detail = _NAMES if is_partial(root) else _PATCH
    limit = () if at_most is None else (f"--max-count={at_most}",)
    return _history(root, (*detail, *limit, "--date-order", "--reverse", wanted))


def count_commits(root: str, *, since: str = "", to: str = "HEAD") -> int:
    """Return how many commits `commit_history` yields.

    Raises:
        NotFound: there is no repository, or no git.
    """
    wanted = _range(root, since, to)
    return int(git_output(root, "rev-list", "--count", wanted, "--") or 0) if wanted else 0


def _history(root: str, words: tuple[str, ...]) -> Iterator[tuple[int, Commit]]:
    cut_off = frozenset(read_config(f"{repository_at(root).common_dir}/shallow").split())
    for at_ms, commit in _stream(root, words):
        # The parents are missing, so git shows every file as new.
        yield at_ms, replace(commit, files=()) if commit.hash in cut_off else commit


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
    """Return the commits wanted in git's words, "" if there are none at all."""
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
    """Return the last moves of HEAD, newest first.

    Raises:
        NotFound: there is no git.
    """
    answer = git_output(root, *_REFLOG, "--date=unix", "--format=%H %gd %gs", "HEAD", "--") or ""
    lines = (line.split(" ", 2) for line in answer.split("\n") if line)
    return [HeadMove(to, message, int(at[len("HEAD@{") : -1])) for to, at, message in lines]


def head_before_resets(moves: Sequence[HeadMove], to: str) -> str:
    """Return where HEAD was before resets that were followed by its move to a commit.

    "" if there were none, or HEAD was not elsewhere before.
    """
    behind = itertools.dropwhile(lambda move: move.to != to, moves)
    earlier = list(itertools.islice(behind, 1, None))
    left = itertools.dropwhile(lambda move: move.message.startswith(RESET), earlier)
    since = next(left, HeadMove("", "")).to
    return since if earlier and earlier[0].to != since else ""


def rebased_commits(root: str) -> set[str]:
    """Return the last commits that a rebase made, in any work tree of the repository.

    The post-rewrite hook reports what they replace.

    Raises:
        NotFound: there is no git.
    """
    only = ("--extended-regexp", f"--grep-reflog={_REBASED}")
    return set((git_output(root, *_REFLOG, "--all", "--format=%H", *only) or "").split())
