"""The lines that one commit brought in, with their numbers in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from observer.git.patch import unquote_path
from observer.git.process import git_output

_HUNK = re.compile(r"@@ -\d+(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_WORDS = (
    *("diff-tree", "-r", "-p", "-U0", "--root", "--no-commit-id", "--no-color"),
    *("--no-ext-diff", "--no-textconv", "--find-renames"),
    *("--src-prefix=a/", "--dst-prefix=b/"),
)


def added_lines(root: str, commit: str) -> Mapping[str, Mapping[int, str]]:
    """Return the lines that a commit has and its parent has not, by path and number.

    None of a merge.

    Raises:
        NotFound: git is not installed, or does not answer in time.
    """
    return _parsed((git_output(root, *_WORDS, commit, "--") or "").split("\n"))


def _parsed(patch: Iterable[str]) -> dict[str, dict[int, str]]:
    found: dict[str, dict[int, str]] = {}
    path, number, old, new = "", 0, 0, 0
    for line in patch:
        if old and line.startswith("-"):
            old -= 1
        elif new and line.startswith("+"):
            found.setdefault(path, {})[number] = line[1:]
            number, new = number + 1, new - 1
        elif hunk := _HUNK.match(line):
            old, number, new = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
        elif line.startswith("+++ "):
            path = unquote_path(line[4:].rstrip("\t").encode()).removeprefix("b/")
    return found
