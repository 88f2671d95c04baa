"""What is wrong at the moment, in words a person can act on; shown by `status` and `doctor`."""

from __future__ import annotations

import logging

log = logging.getLogger(__name__)


class Health:
    """Reasons why the daemon gives less than it promises, one for each part of it.

    Read and written from several threads; every change is one assignment.
    """

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}

    def degrade(self, part: str, reason: str) -> None:
        """Note what a part cannot do; the same reason again is not logged again."""
        if self._reasons.get(part) != reason:
            log.error("%s: %s", part, reason)
            self._reasons = {**self._reasons, part: reason}

    def recover(self, part: str) -> None:
        """Note that a part does its work again."""
        if part in self._reasons:
            log.info("%s: well again", part)
            self._reasons = {name: why for name, why in self._reasons.items() if name != part}

    def text(self) -> str | None:
        """Return all reasons as one line, None when all is well."""
        reasons = [f"{part}: {reason}" for part, reason in sorted(self._reasons.items())]
        return "; ".join(reasons) or None
