"""The one clock: integer UTC milliseconds. What must be told the time takes it as an argument."""

from __future__ import annotations

import time


def now_ms() -> int:
    """Return the time of this machine's clock, which may be wrong."""
    return time.time_ns() // 1_000_000
