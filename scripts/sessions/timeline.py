"""What happened in a corpus, in one order: hook calls of sessions and commits of their author."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sessions.corpus import Repository
from sessions.history import Made
from sessions.transcript import HookEvent

_GIT = re.compile(r"\bgit\b.*\b(commit|merge|rebase|cherry-pick|pull)\b|\bgt\b")
_AROUND_MS = 1_500
_COMMIT_LAG_MS = 500
_HOUR_MS = 3_600_000


class Step(NamedTuple):
    """One hook call of a session, or one commit; `place` counts the calls of its session."""

    at_ms: int
    repository: Repository
    session: str
    place: int
    happened: HookEvent | Made

    @property
    def is_first(self) -> bool:
        """Whether a session begins."""
        return self.place == 0 and isinstance(self.happened, HookEvent)


class _Window(NamedTuple):
    start_ms: int
    end_ms: int
    session: str
    command: str


def steps(repositories: Sequence[Repository]) -> list[Step]:
    """Return all that happened, each a millisecond or more after what was before."""
    found = [step for each in repositories for step in (*_calls(each), *_commits(each))]
    found.sort(key=lambda step: (step.at_ms, step.repository.name, step.session, step.place))
    in_order, last_ms = [], 0
    for step in found:
        last_ms = max(step.at_ms, last_ms + 1)
        in_order.append(step._replace(at_ms=last_ms))
    return in_order


class Committers:
    """Which session made a commit: one that ran git at that time."""

    def __init__(self, shown: Sequence[Step]) -> None:
        self._windows: dict[str, list[_Window]] = defaultdict(list)
        for step in shown:
            if isinstance(step.happened, HookEvent) and _runs_git(step.happened):
                lasted_ms = step.happened.payload.get("duration_ms", 0)
                self._windows[step.repository.name].append(
                    _Window(
                        step.at_ms - lasted_ms - _AROUND_MS,
                        step.at_ms + _AROUND_MS,
                        step.session,
                        step.happened.payload["tool_input"]["command"],
                    )
                )

    def of(self, repository: Repository, made: Made) -> str:
        """Return the session that made a commit, "" for a person."""
        found = [
            window
            for at_ms in (made.committed_ms, made.at_ms)
            for window in self._windows[repository.name]
            if window.start_ms <= at_ms + 999 and at_ms <= window.end_ms
        ]
        # Two sessions may run git at one time: the one that was given the subject made it.
        named = (window for window in found if made.subject in window.command)
        return next((window.session for window in (*named, *found)), "")


def _calls(repository: Repository) -> Iterator[Step]:
    for transcript in repository.transcripts:
        for place, event in enumerate(transcript.events):
            yield Step(event.at_ms, repository, transcript.session, place, event)


def _commits(repository: Repository) -> Iterator[Step]:
    times = [event.at_ms for each in repository.transcripts for event in each.events]
    since_ms, until_ms = min(times) - _HOUR_MS, max(times) + _HOUR_MS
    for made in repository.history.commits.values():
        is_local = made.author == repository.author and made.committer != "GitHub"
        is_known = made.hash in repository.history.branch_of
        if is_local and is_known and since_ms < made.at_ms < until_ms:
            yield Step(made.at_ms + _COMMIT_LAG_MS, repository, "git", 0, made)


def _runs_git(event: HookEvent) -> bool:
    if event.event not in {"PostToolUse", "PostToolUseFailure"}:
        return False
    given = event.payload["tool_input"]
    return event.payload["tool_name"] == "Bash" and bool(_GIT.search(given.get("command", "")))
