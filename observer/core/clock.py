"""The one clock: integer UTC milliseconds. What depends on the time takes it as an argument."""

from __future__ import annotations

import time
from datetime import UTC, datetime

LAST_MS = 253_402_300_799_999
"""9999-12-31: the end of the last day that has an ISO 8601 name."""


def now_ms() -> int:
    """Return the time of this machine's clock, which may be wrong."""
    return time.time_ns() // 1_000_000


def iso_ms(text: str) -> int | None:
    """Return an ISO 8601 time, without a zone in UTC, as UTC milliseconds; None if it is none."""
    try:
        moment = datetime.fromisoformat(text)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
