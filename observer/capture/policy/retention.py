"""How long what was captured is kept: by type, by repository, and by what had to make room.

Notes and what was done to them are never asked about. What settles other events (commits, the
begin and end of sessions) stays as long as the longest of them: without a commit its edits would
be told as not committed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from observer.capture.policy.policies import Policies
from observer.capture.project.identity import main_folder
from observer.config import RETAINED, Settings
from observer.model import Project

DAY_MS = 86_400_000
FOR_EVER = 1 << 40
"""Days; no clock tells of any so long ago."""
ON_PURPOSE = frozenset(
    ("remember", "revise", "approve", "forget", "undo", "enriched", "triage")
)  # fmt: skip
_TOOLS = frozenset(("command", "file-write", "file-read", "search", "tool-use"))


class Retention:
    """What is too old to be kept, by whole days (UTC): nothing expires between two midnights.

    Args:
        settings: days by type, for all repositories.
        policies: those of repositories, which can only shorten.
        dropped: by type the time before which everything had to make room.
    """

    def __init__(
        self,
        settings: Settings,
        policies: Policies,
        dropped: Mapping[str, int] | None = None,
    ) -> None:
        pairs = (one.split("=") for one in settings.retention_by_type)
        self._own = {name: int(days) for name, days in pairs}
        self._days = settings.retention_days
        self._policies = policies
        self._dropped = dropped or {}

    def is_expired(self, kind: str, at_ms: int, *, now_ms: int, at_most: int) -> bool:
        """Return True if an event is older than is kept; `at_most` are the days of its project.

        An intent is of the kind of what it intends.
        """
        if kind in ON_PURPOSE:
            return False
        if at_ms < self._dropped.get(kind, 0):
            return True
        return at_ms < _midnight(now_ms) - self.days(kind, at_most=at_most) * DAY_MS

    def days(self, kind: str, *, at_most: int = FOR_EVER) -> int:
        """Return for how many days events of a type are kept, `FOR_EVER` for ever."""
        if kind in RETAINED:
            return min(self._own.get(kind, self._days) or FOR_EVER, at_most)
        if kind == "outcome":  # whose intent is gone
            return min(self.days(name, at_most=at_most) for name in _TOOLS)
        return max(self.days(name, at_most=at_most) for name in RETAINED)

    def before_ms(self, now_ms: int, *, at_most: Iterable[int] = ()) -> int:
        """Return a time from which on nothing is expired, whatever it is."""
        shortest = min((self.days(name) for name in RETAINED), default=FOR_EVER)
        shortest = min(shortest, *at_most, FOR_EVER)
        return max(_midnight(now_ms) - shortest * DAY_MS, *self._dropped.values(), 0)

    def of_project(self, project: Project) -> int:
        """Return the most days that the policies of a project's work trees allow, the fewest."""
        roots = {*project.roots, *map(main_folder, project.common_dirs)}
        found = (self._policies.at(root).retention_days for root in roots)
        return min((days for days in found if days), default=FOR_EVER)


def _midnight(now_ms: int) -> int:
    return now_ms - now_ms % DAY_MS
