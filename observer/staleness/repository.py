"""One git repository at one moment, as the synchronisation of a worktree reads it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager

from observer.git import commit_diffs as git
from observer.git.commit_diffs import CommitDiff, DiffEntry
from observer.git.objects import Blobs
from observer.git.status import uncommitted_paths
from observer.staleness.history_walk import FileFingerprints

MOST_NAMED = 100
"""Commits named in one question."""
MOST_ASKED = 500
"""Files named in one question."""


class RepositoryView(AbstractContextManager["RepositoryView"]):
    """A worktree's repository; a context manager, since it keeps a process for texts.

    Raises:
        NotFound: git is not installed, or `root` cannot be a path.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self.head = git.resolve_commit(root, "HEAD")
        self.branch = git.current_branch(root)
        self._blobs = Blobs(root)
        self.fingerprints = FileFingerprints(self._text)

    def __exit__(self, *_: object) -> None:
        """End its process."""
        self._blobs.close()

    def has(self, commit: str) -> bool:
        """Return True if the repository has this commit."""
        found = self._blobs.get(commit)
        return found is not None and found.kind == "commit"

    def leads_here(self, commit: str) -> bool:
        """Return True if a commit exists and shares history with HEAD."""
        return self.has(commit) and git.is_related(self.root, commit, self.head)

    def blob_at(self, commit: str, path: str) -> str:
        """Return git's name of a file's content in a commit, "" if it is not there."""
        found = self._blobs.get(f"{commit}:{path}")
        return found.id if found and found.kind == "blob" else ""

    def checked_out(self) -> set[str]:
        """Return the branches that this worktree and those beside it show."""
        return git.checked_out_branches(self.root)

    def uncommitted(self, paths: Sequence[str]) -> frozenset[str]:
        """Return which of the first `MOST_ASKED` files differ from HEAD, as far as git reports."""
        return uncommitted_paths(self.root, paths[:MOST_ASKED]) or frozenset()

    def steps(self, since: str, to: str) -> Iterator[CommitDiff]:
        """Yield the commits that `to` contains and `since` ("" for none) does not, in order."""
        return git.commits_between(self.root, since, to)

    def named(self, commits: Sequence[str]) -> Iterator[CommitDiff]:
        """Yield the commits of these that exist."""
        for start in range(0, len(commits), MOST_NAMED):
            yield from git.commits_by_hash(self.root, commits[start : start + MOST_NAMED])

    def leap(self, old: str, new: str) -> tuple[DiffEntry, ...]:
        """Return how the files of two commits differ."""
        return git.diff_commits(self.root, old, new) if old != new else ()

    def trunk(self, to: str, *, since: str = "") -> list[str]:
        """Return a commit and its first parents, newest first, less those that `since` contains."""
        return git.first_parents(self.root, to, since=since)

    def parent(self, commit: str) -> str:
        """Return the first parent of a commit, "" if it is the first commit itself."""
        return git.resolve_commit(self.root, f"{commit}^")

    def contained(self, commit: str, *, without: str = "") -> set[str]:
        """Return all commits that one contains, less those that another contains."""
        return git.reachable_commits(self.root, commit, without=without)

    def held(self, commits: Collection[str], *, by: str) -> set[str]:
        """Return which of these commits another contains; those that are not there are in none."""
        if len(commits) > MOST_NAMED:
            return self.contained(by).intersection(commits)
        # A few are asked after by what they have beyond it: nothing, mostly, however long the
        # history is.
        there = set(filter(self.has, commits))
        return there - git.reachable_commits(self.root, *there, without=by) if there else there

    def before(self, commits: Sequence[str]) -> str:
        """Return a commit that all of these contain and that is none of them, "" if there is none.

        Of more than `MOST_NAMED` none is looked for.
        """
        if len(commits) > MOST_NAMED:
            return ""
        shared = git.merge_base(self.root, commits)
        return self.parent(shared) if shared in commits else shared

    def _text(self, blob: str) -> bytes | None:
        found = self._blobs.get(blob)
        return found.data if found else None
