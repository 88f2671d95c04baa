"""A cache of answers, valid while nothing that they depend on has changed.

An agent asks for the context of its project at every start and after every compaction, mostly
about a memory that has not changed since. Promises that a cached answer equals a new one: any
write to the store invalidates it, and git is asked the same questions again. In what changes with
time alone, recency and expiry, it is at most a minute old.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from observer.memory.api import Memory
from observer.search.recent_sessions import Uncommitted
from observer.tools.tool import ToolResult

MOST = 32
LONGEST = 50_000
"""Cached answers, and characters of the longest cached text: 5 MB at most, 0.5 typically."""
MINUTE_MS = 60_000

AnyResult = ToolResult[Any]  # each tool has its own result


@dataclass(frozen=True, slots=True)
class GitAnswers:
    """The questions that git was asked for an answer, and its answers."""

    _answers: list[tuple[Uncommitted, Sequence[str], frozenset[str] | None]] = field(
        default_factory=list
    )

    def recording(self, ask: Uncommitted | None) -> Uncommitted | None:
        """Return a function like `ask` that records each question and its answer."""
        if ask is None:
            return None

        def recorded(paths: Sequence[str]) -> frozenset[str] | None:
            answer = ask(paths)
            self._answers.append((ask, paths, answer))
            return answer

        return recorded

    def still_hold(self) -> bool:
        """Return True if git still gives the same answers."""
        return all(ask(paths) == answer for ask, paths, answer in self._answers)


class ResponseCache:
    """The latest answers of one memory; safe to share between threads.

    Args:
        memory: the memory that is asked.
        now_ms: the clock.
    """

    def __init__(self, memory: Memory, now_ms: Callable[[], int]) -> None:
        self._memory = memory
        self._now_ms = now_ms
        self._answers: OrderedDict[Hashable, tuple[Hashable, AnyResult, GitAnswers]] = OrderedDict()
        self._lock = threading.Lock()

    def answer(self, asked: Hashable, make: Callable[[GitAnswers], AnyResult]) -> AnyResult:
        """Return the answer to a request: the cached one if it is valid, else a new one.

        Args:
            asked: the request's key.
            make: makes the answer, asking git through the argument's `recording`.
        """
        # Taken before the answer is made: a write meanwhile then invalidates it.
        state = self._memory.snapshot(), self._now_ms() // MINUTE_MS
        with self._lock:
            known = self._answers.get(asked)
        if known and known[0] == state and known[2].still_hold():
            return known[1]
        git = GitAnswers()
        made = make(git)
        if len(made.text) <= LONGEST:
            self._keep(asked, (state, made, git))
        return made

    def _keep(self, asked: Hashable, answer: tuple[Hashable, AnyResult, GitAnswers]) -> None:
        with self._lock:
            self._answers[asked] = answer
            self._answers.move_to_end(asked)
            if len(self._answers) > MOST:
                self._answers.popitem(last=False)
