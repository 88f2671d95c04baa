"""Failures of git that a later step of git settles: nobody has to take them up again.

Part of interpretation (step 6). A merge that stopped at a conflict is over once it is committed or
given up, and a refused checkout once another one worked, by whatever words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from observer.interpret import gitline
from observer.interpret.commandline import parts_of
from observer.interpret.state import State
from observer.interpret.wording import word_set

_BY = {
    "add": word_set("add commit"),
    "am": word_set("am"),
    "checkout": word_set("checkout switch"),
    "cherry-pick": word_set("cherry-pick commit reset"),
    "commit": word_set("commit"),
    "fetch": word_set("fetch pull"),
    "merge": word_set("merge commit pull reset"),
    "pull": word_set("pull merge rebase"),
    "push": word_set("push"),
    "rebase": word_set("rebase pull"),
    "revert": word_set("revert commit reset"),
    "stash": word_set("stash"),
    "switch": word_set("checkout switch"),
}
"""What fails -> what settles it. `commit`, `checkout` … may come as words or as git's own event."""
_PATHS = "--"
"""Before it a checkout names no branch, and behind it files, which no other checkout restores."""


def after(state: State, steps: Iterable[Sequence[str]]) -> State:
    """Return the state without the failures that steps of git, as their words, settle."""
    # What stands last in a command line is taken for what failed.
    failing = [
        (head, words)
        for head, ran in state.commands.items()
        if ran.ok is False and ran.tool == "git"
        for words in map(gitline.words_of, parts_of(head)[-1:])
        if words
    ]
    if not failing:
        return state
    done = [words for words in steps if words]
    over = {head for head, words in failing if any(_settles(step, words) for step in done)}
    left = {head: ran for head, ran in state.commands.items() if head not in over}
    return replace(state, commands=left) if over else state


def _settles(step: Sequence[str], failed: Sequence[str]) -> bool:
    if _PATHS in failed or _PATHS in step or step[0] not in _BY.get(failed[0], ()):
        return False
    mine, its = _refs(step), _refs(failed)
    return step[0] != "push" or not (mine and its) or mine == its


def _refs(words: Sequence[str]) -> list[str]:
    """Return what a push names behind the remote."""
    return [word for word in words[1:] if not word.startswith("-")][1:]
