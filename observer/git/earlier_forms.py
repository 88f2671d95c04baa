"""Commits that history has no more and that brought lines which another commit has now.

A rebase, an amend or a pick keeps the author and the author's time of a commit, a squash keeps its
lines only. What git drops from history it keeps for weeks, by its reflog.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from observer.git.blame import (
    BlamedCommit,
    commit_of,
    has_words,
    lines_of,
    with_previous_time,
)
from observer.git.process import git_output

_MOST = 40
"""Newest commits beside history that are looked at."""
_BESIDE = ("--reflog", "--branches", f"--max-count={_MOST}", "^HEAD")
"""Which commits HEAD's history lacks."""
_LOG = (
    *("--literal-pathspecs", "log", "--format=%H%x00%an%x00%at%x00%ct%x00%s", "--encoding=UTF-8"),
    *("--no-mailmap", "--no-show-signature", "--no-color", "-p", "-U0", "--diff-merges=off"),
    *("--no-ext-diff", "--no-textconv", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/"),
)


def with_earlier_forms(
    root: str, origins: Sequence[BlamedCommit], own: Collection[str]
) -> list[BlamedCommit]:
    """Return the commits with `before_ms`, as `with_previous_time` says, `forms` and `brought`.

    Raises:
        NotFound: git is not installed or does not answer in time.
    """
    names = sorted({name for one in origins for name in one.paths})
    asked = [one.hash for one in origins if one.hash]
    beside = list(_patches(root, names, *_BESIDE)) if names else []
    made = list(_patches(root, names, "--no-walk", *asked)) if names and asked else []
    return [
        replace(
            with_previous_time(root, one, own),
            brought=tuple(text for each in made if each.hash == one.hash for text in each.texts),
            forms=tuple(with_previous_time(root, form, own) for form in _forms(one, beside)),
        )
        for one in origins
    ]


def _patches(root: str, names: Sequence[str], *which: str) -> Iterator[BlamedCommit]:
    """Yield each of some commits and of these files, with the lines that it brought into it."""
    answer = git_output(root, *_LOG, *which, "--", *names) or ""
    commit, patch = BlamedCommit(hash=""), list[str]()
    for line in (*answer.split("\n"), "\0"):
        if "\0" not in line:
            patch.append(line)
            continue
        for path, lines in lines_of(patch).items():
            yield replace(commit, path=path, texts=tuple(lines.values()))
        patch.clear()
        commit = commit_of(line) if line != "\0" else commit


def _forms(origin: BlamedCommit, beside: Sequence[BlamedCommit]) -> Iterator[BlamedCommit]:
    """Yield the forms that a commit had, and others with lines of it: each line's first of each."""
    wanted = {text.strip() for text in origin.texts if has_words(text)}
    found: dict[tuple[str, int], set[str]] = {}
    for one in sorted(beside, key=lambda each: each.committed_ms):
        is_later = bool(origin.hash) and one.committed_ms > origin.committed_ms
        if is_later or one.path not in origin.paths or one.hash == origin.hash:
            continue
        lineage = one.author, one.authored_ms
        known = found.get(lineage, set())
        brought = wanted.intersection(text.strip() for text in one.texts) - known
        if brought or (one.is_form_of(origin) and lineage not in found):
            found[lineage] = known | brought
            yield one
