"""Path patterns in the style of gitignore, matched without a regular expression over the path."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import translate
from functools import lru_cache

_Match = Callable[[str], re.Match[str] | None]
_ANY_DEPTH = "**"


class Pattern:
    """A glob relative to the root of a work tree.

    `*`, `?` and `[a-z]` stay within one folder; `**` stands for any number of folders. A pattern
    without a slash, or with one at its end only, matches at any depth; with one at its end it
    matches folders only. What matches a folder matches everything below it. Case counts.

    Raises:
        ValueError: says what is wrong with the text.
    """

    def __init__(self, text: str) -> None:
        names = [name for name in text.split("/") if name not in {"", "."}]
        if complaint := _complaint(text, names):
            raise ValueError(complaint)
        if "/" not in text.rstrip("/"):
            names.insert(0, _ANY_DEPTH)
        if names[-1] == _ANY_DEPTH:
            names[-1] = "*"  # `docs/**` is what is in docs, not docs itself
        steps = tuple(None if name == _ANY_DEPTH else _matcher(name) for name in names)
        self._folder = (*steps, None)
        self._file = (*steps, _matcher("*"), None) if text.endswith("/") else self._folder

    def matches(self, names: Sequence[str], *, is_folder: bool = False) -> bool:
        """Return True if a path, given as the names along it, or a folder around it matches.

        Args:
            names: the parts of a path relative to the root.
            is_folder: whether the path itself may be a folder.
        """
        return _matches(self._folder if is_folder else self._file, names)


def _matches(steps: Sequence[_Match | None], names: Sequence[str]) -> bool:
    """Return True if the steps match all names; goes back to the last `**` at most."""
    at = step = 0
    resume: tuple[int, int] | None = None
    while at < len(names):
        match = steps[step] if step < len(steps) else _never
        if match is None:
            step += 1
            resume = (at, step)
        elif match(names[at]):
            at, step = at + 1, step + 1
        elif resume:
            at, step = resume[0] + 1, resume[1]
            resume = (at, step)
        else:
            return False
    return all(match is None for match in steps[step:])


def _never(name: str) -> None:
    del name


def _complaint(text: str, names: Sequence[str]) -> str:
    if text.startswith("!"):
        return "no pattern can bring back what another one excludes"
    if ".." in names:
        return "it leads out of the repository"
    if "\\" in text or not text.isprintable():
        return "backslashes and control characters are not supported"
    return "" if names else "it names nothing"


@lru_cache(maxsize=1024)
def _matcher(name: str) -> _Match:
    # What `translate` makes has atomic groups: no name can make it backtrack without end.
    return re.compile(translate(name)).match
