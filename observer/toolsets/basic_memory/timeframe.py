"""Time frames: how far back "7d", "2 weeks", "last month" or "2026-01-05" reach. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from observer.core.errors import BadInput
from observer.search.dates import NUMBERS, dated

DAY_MS = 86_400_000
LONGEST_DAYS = 365

_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}
_NAMED = {"now": 0, "today": 0, "yesterday": 1}
_SPAN = re.compile(
    rf"(?:last\s+|past\s+)?(?P<count>\d{{1,5}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})?"
    r"\s*(?P<unit>h|hours?|d|days?|w|weeks?|m|mo|months?|y|years?)(?:\s+ago)?",
    re.IGNORECASE,
)


def since_ms(text: str, *, now_ms: int) -> int:
    """Return when a time frame that ends now begins; it is a day long at least.

    >>> (since_ms("2 weeks", now_ms=20 * DAY_MS) // DAY_MS, since_ms("1h", now_ms=DAY_MS))
    (6, 0)

    Raises:
        BadInput: it is no time frame, begins in the future, or more than a year ago.
    """
    days = _days(text.strip(), now_ms)
    if days is None or days < 0:
        raise BadInput(
            f"Could not parse timeframe: {text[:80]}",
            hint='write a span or a day: "7d", "2 weeks", "yesterday", "2026-01-05"',
        )
    if days > LONGEST_DAYS:
        raise BadInput(f"Timeframe should be <= 1 year, not {text[:80]!r}", hint='at most "365d"')
    return now_ms - int(max(days, 1) * DAY_MS)


def moment_or_since_ms(text: str, *, now_ms: int) -> int | None:
    """Return when a date lies, or when a span that ends now begins; None for no text.

    Raises:
        BadInput: it is neither.
    """
    if not text.strip():
        return None
    days = _days(text.strip(), now_ms)
    if days is None:
        raise BadInput(
            f"{text[:80]!r} is not a date", hint='write 2026-01-05, or a span: "7d", "1 week"'
        )
    return now_ms - int(days * DAY_MS)


def whole_days(text: str, *, now_ms: int) -> str:
    """Return a time frame in the short form that answers name it by, such as ``14d``.

    Raises:
        BadInput: as `since_ms`.
    """
    return f"{round((now_ms - since_ms(text, now_ms=now_ms)) / DAY_MS)}d"


def _days(text: str, now_ms: int) -> float | None:
    if text.lower() in _NAMED:
        return _NAMED[text.lower()]
    if span := _SPAN.fullmatch(text):
        count = (span["count"] or "1").lower()
        number = int(count) if count.isdecimal() else NUMBERS[" ".join(count.split())]
        return number * _DAYS[span["unit"][0].lower()]
    try:
        begun = datetime.fromisoformat(text)
    except ValueError:
        said = dated(text, now_ms=now_ms)
        begun_ms = said.since_ms if said and not said.rest else None
    else:
        begun_ms = int(begun.replace(tzinfo=begun.tzinfo or UTC).timestamp() * 1000)
    return None if begun_ms is None else (now_ms - begun_ms) / DAY_MS
