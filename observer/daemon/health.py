"""The current problems of the daemon, worded so that a person can act; for `status`, `doctor`."""

from __future__ import annotations

import logging

log = logging.getLogger(__name__)


class Health:
    """The reasons for degraded operation, one for each part.

    Read and written from several threads; every change is one assignment.
    """

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}

    def degrade(self, part: str, reason: str) -> None:
        """Set the problem of a part; an unchanged reason is not logged again."""
        if self._reasons.get(part) != reason:
            log.error("%s: %s", part, reason)
            self._reasons = {**self._reasons, part: reason}

    def recover(self, part: str) -> None:
        """Clear the problem of a part."""
        if part in self._reasons:
            log.info("%s: recovered", part)
            self._reasons = {name: why for name, why in self._reasons.items() if name != part}

    def text(self) -> str | None:
        """Return all reasons as one line, None if there are none."""
        reasons = [f"{part}: {reason}" for part, reason in sorted(self._reasons.items())]
        return "; ".join(reasons) or None
