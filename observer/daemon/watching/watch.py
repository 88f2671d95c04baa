"""The rounds of the watch: what changed, when it has settled, and when its time has come."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Collection

from observer.clock import now_ms
from observer.daemon.watching.forest import Forest
from observer.daemon.watching.pending import Pending
from observer.daemon.watching.telling import Telling
from observer.errors import NotFound

SETTLED_S = 0.5
"""Without a change for this long, what was being written has been written."""
UNSETTLED_MS = 5_000
"""A file that is written all the time is looked at this often nevertheless."""
LOCKED_MS = 60_000
"""Git may be at work for this long before its lock is taken for a forgotten one."""
MOST_CHANGED = 2_000
"""Paths of one tree that are told apart; with more it is looked at as a whole."""


class _Changed:
    """The paths of one tree that changed, and since when."""

    def __init__(self, since_ms: int) -> None:
        self.since_ms = since_ms
        self.paths: set[str] = set()


class Watch:
    """What one thread does again and again.

    Args:
        call: set by whoever wants a round to begin at once.
    """

    def __init__(self, forest: Forest, telling: Telling, *, call: threading.Event) -> None:
        self._forest = forest
        self._telling = telling
        self._call = call
        self._pending = Pending()
        self._changed: dict[str, _Changed] = {}
        self._last_change_s = 0.0

    def round(self) -> None:
        """Wait for something to do, and do it.

        Raises:
            StoreUnavailable: nothing is lost, the next round tells it.
        """
        self._note(self._forest.refresh_if_due())
        self._note(self._forest.wait(self._call, wait_s=self._wait_s()))
        if self._changed and time.monotonic() - self._last_change_s >= SETTLED_S:
            self._look()
        self._tell(now_ms())
        self._telling.take_back()

    def end(self) -> None:
        """Look at and tell all there is, at once.

        Raises:
            StoreUnavailable: it is lost.
        """
        self._forest.close()
        self._look()
        self._tell(sys.maxsize)

    def _wait_s(self) -> float:
        due_ms = self._pending.due_ms()
        waits = [self._forest.wait_s()]
        waits += [SETTLED_S] if self._changed else []
        waits += [max((due_ms - now_ms()) / 1000, SETTLED_S)] if due_ms is not None else []
        return min(waits)

    def _note(self, paths: Collection[str]) -> None:
        at_ms = now_ms()
        for path in paths:
            tree = self._forest.tree_of(path)
            if tree is None or not tree.concerns(path):
                continue
            changed = self._changed.setdefault(tree.root, _Changed(at_ms))
            changed.paths.add(path)
            if len(changed.paths) > MOST_CHANGED:
                changed.paths = {tree.root}
            is_restless = at_ms - changed.since_ms > UNSETTLED_MS
            self._last_change_s = self._last_change_s if is_restless else time.monotonic()

    def _look(self) -> None:
        """Look at what changed, in trees where git is not at work."""
        at_ms = now_ms()
        for root, changed in list(self._changed.items()):
            tree = self._forest.tree(root)
            if tree and tree.is_busy and at_ms - changed.since_ms < LOCKED_MS:
                continue
            del self._changed[root]
            if tree is None or not self._forest.keep_up(tree, changed.paths):
                continue
            try:
                saves = tree.look(changed.paths, since_ms=changed.since_ms, now_ms=now_ms())
            except NotFound as error:
                self._forest.give_up(tree, str(error))
                continue
            self._pending.add(root, saves, now_ms=now_ms())

    def _tell(self, at_ms: int) -> None:
        for root, files in self._pending.due(at_ms).items():
            if self._telling.tell(root, files):
                self._pending.drop(root, [saves[0].path for saves in files])
