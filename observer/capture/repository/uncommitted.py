"""Which files differ from the last commit, asked about few of them and not for long."""

from __future__ import annotations

from collections.abc import Sequence

from observer.errors import NotFound
from observer.git.process import ask

WAIT_S = 1.0
"""As long as git may take; named files cost it 5 to 20 ms even in a large repository."""


def uncommitted(
    root: str, paths: Sequence[str], *, wait_s: float = WAIT_S
) -> frozenset[str] | None:
    """Return those of the paths, relative to `root`, that no commit holds as they are.

    What git ignores is none of them, and neither is what was deleted before git heard of it. None
    if git cannot tell: there is none, or no repository, or it took too long.
    """
    asked = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    words = ("--literal-pathspecs", *asked, "--ignore-submodules=all", "--", *paths)
    try:
        told = ask(root, *words, wait_s=wait_s)
    except NotFound:
        return None
    if told is None:
        return None
    # Each record is two letters, a blank, and the path.
    return frozenset(record[3:] for record in told.split("\0")[:-1])
