"""The one clock: integer UTC milliseconds. What depends on the time takes it as an argument."""

from __future__ import annotations

import time

LAST_MS = 253_402_300_799_999
"""9999-12-31: the end of the last day that has an ISO 8601 name."""


def now_ms() -> int:
    """Return the time of this machine's clock, which may be wrong."""
    return time.time_ns() // 1_000_000
