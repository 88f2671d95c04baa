"""Saves that wait until every hook had time to tell of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from observer.capture.saves import Save, changes, joined
from observer.capture.twins import WINDOW_MS

MOST_WAIT_MS = 60_000
"""An editor that saves at every pause of the typist is told of at least this often."""
MOST_SAVES = 8
"""Of one file that wait one by one; each holds the whole text."""

Where = tuple[str, str]
"""A work tree, and a path in it."""


class Pending:
    """The saves of all trees, by file, in their order."""

    def __init__(self) -> None:
        self._saves: dict[Where, list[Save]] = {}
        self._from_ms: dict[Where, int] = {}
        self._to_ms: dict[Where, int] = {}

    def __bool__(self) -> bool:
        """Whether anything waits."""
        return bool(self._saves)

    def add(self, root: str, saves: Iterable[Save], *, now_ms: int) -> None:
        """Let saves wait."""
        for save in saves:
            where = root, save.path
            waiting = self._saves.setdefault(where, [])
            self._from_ms.setdefault(where, now_ms)
            self._to_ms[where] = now_ms
            waiting.append(save)
            if len(waiting) > MOST_SAVES:
                waiting[:2] = [joined(*waiting[:2])]

    def due_ms(self) -> int | None:
        """Return when the next file is due, None if nothing waits."""
        return min(map(self._due_ms, self._saves), default=None)

    def due(self, now_ms: int) -> dict[str, list[list[Save]]]:
        """Return, by tree, the saves of each file that have waited long enough; they stay."""
        found: dict[str, list[list[Save]]] = {}
        for where, saves in self._saves.items():
            if self._due_ms(where) <= now_ms:
                found.setdefault(where[0], []).append(list(saves))
        return found

    def drop(self, root: str, paths: Iterable[str]) -> None:
        """Forget what was told."""
        for path in paths:
            for kept in (self._saves, self._from_ms, self._to_ms):
                kept.pop((root, path), None)

    def _due_ms(self, where: Where) -> int:
        return min(self._to_ms[where] + WINDOW_MS, self._from_ms[where] + MOST_WAIT_MS)


def untold(saves: Iterable[Save], told_ms: Iterable[int]) -> Save | None:
    """Return what of one file's saves hooks did not tell at these times, None if nothing."""
    times = list(told_ms)
    left = [save for save in saves if not is_told(save, times)]
    whole = reduce(joined, left) if left else None
    return whole if whole and changes(whole) else None


def is_told(save: Save, told_ms: Iterable[int]) -> bool:
    """Tell whether one of the times is that of a save."""
    return any(save.from_ms - WINDOW_MS <= at_ms <= save.to_ms + WINDOW_MS for at_ms in told_ms)
