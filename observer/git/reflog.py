"""The last moves of HEAD, out of its reflog: those that no hook tells of, or another one tells."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from observer.git.process import ask

MOST = 300
"""Moves that are looked at, the last."""

_LOG = ("log", "-g", f"-{MOST}", "--no-show-signature")
_RESET = "reset:"
_REBASED = r"^[^:]*\((pick|squash|fixup|reword|edit|continue)\)"


class Move(NamedTuple):
    """HEAD came to a commit, and what git said of it."""

    to: str
    said: str


def moves(root: str) -> list[Move]:
    """Return the last moves of HEAD, newest first.

    Raises:
        NotFound: there is no git.
    """
    told = ask(root, *_LOG, "--format=%H %gs", "HEAD", "--") or ""
    lines = (line.partition(" ") for line in told.split("\n") if line)
    return [Move(to, said) for to, _, said in lines]


def before_resets(moves: Sequence[Move], to: str) -> str:
    """Return where HEAD was before resets that were followed by its move to a commit.

    "" if there were none, or HEAD was not elsewhere before.
    """
    behind = itertools.dropwhile(lambda move: move.to != to, moves)
    earlier = list(itertools.islice(behind, 1, None))
    left = itertools.dropwhile(lambda move: move.said.startswith(_RESET), earlier)
    since = next(left, Move("", "")).to
    return since if earlier and earlier[0].to != since else ""


def rebased(root: str) -> set[str]:
    """Return the last commits that a rebase made, in any work tree of the repository.

    post-rewrite tells of what they replace.

    Raises:
        NotFound: there is no git.
    """
    only = ("--extended-regexp", f"--grep-reflog={_REBASED}")
    return set((ask(root, *_LOG, "--all", "--format=%H", *only) or "").split())
