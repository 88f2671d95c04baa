"""Answers kept while nothing has changed that they were made of.

An agent asks for the context of its project at every start and after every compaction, mostly
about a memory that has not changed since. Promises that a kept answer is the one that would be
made: anything written into the store drops it, and what git was asked for it is asked again. Of
what changes with time alone, recency and expiry, it is at most a minute old.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from observer.memory.api import Memory
from observer.search.recent_sessions import Uncommitted
from observer.views.tool import ToolResult

MOST = 32
LONGEST = 50_000
"""Answers that are kept, and characters of the longest such text: at most 5 MB, mostly 0.5."""
MINUTE_MS = 60_000

Made = ToolResult[Any]  # each tool has its own result


@dataclass(frozen=True, slots=True)
class Witness:
    """What git was asked for an answer, and what it said."""

    _said: list[tuple[Uncommitted, Sequence[str], frozenset[str] | None]] = field(
        default_factory=list
    )

    def hearing(self, ask: Uncommitted | None) -> Uncommitted | None:
        """Return the same way to ask, listened to."""
        if ask is None:
            return None

        def heard(paths: Sequence[str]) -> frozenset[str] | None:
            said = ask(paths)
            self._said.append((ask, paths, said))
            return said

        return heard

    def stands(self) -> bool:
        """Return True if git still says the same."""
        return all(ask(paths) == said for ask, paths, said in self._said)


class Kept:
    """The last answers of one memory; safe to share between threads.

    Args:
        memory: whose answers they are.
        now_ms: the clock.
    """

    def __init__(self, memory: Memory, now_ms: Callable[[], int]) -> None:
        self._memory = memory
        self._now_ms = now_ms
        self._answers: OrderedDict[Hashable, tuple[Hashable, Made, Witness]] = OrderedDict()
        self._lock = threading.Lock()

    def answer(self, asked: Hashable, make: Callable[[Witness], Made]) -> Made:
        """Return the answer to a question, made anew where anything has changed since."""
        # Before it is made: what is written meanwhile makes it an answer of before.
        state = self._memory.snapshot(), self._now_ms() // MINUTE_MS
        with self._lock:
            known = self._answers.get(asked)
        if known and known[0] == state and known[2].stands():
            return known[1]
        witness = Witness()
        made = make(witness)
        if len(made.text) <= LONGEST:
            self._keep(asked, (state, made, witness))
        return made

    def _keep(self, asked: Hashable, answer: tuple[Hashable, Made, Witness]) -> None:
        with self._lock:
            self._answers[asked] = answer
            self._answers.move_to_end(asked)
            if len(self._answers) > MOST:
                self._answers.popitem(last=False)
