"""Format and parse times, always with their zone: UTC, or the machine's local zone for people."""

from __future__ import annotations

import re
from contextvars import ContextVar
from datetime import UTC, datetime

from observer.core.errors import BadInput
from observer.core.model import iso

_AGO = re.compile(r"(\d{1,5})\s*(min|h|d|w)")
_STATED = re.compile(r"\b(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC\b")
_UNIT_MS = {"min": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}
_IS_LOCAL: ContextVar[bool] = ContextVar("is_local", default=False)


def show_local(*, is_local: bool = True) -> None:
    """Show local times in the current context from now on, as people read them, or UTC."""
    _IS_LOCAL.set(is_local)


def is_local() -> bool:
    """Return True if times are shown in the machine's zone."""
    return _IS_LOCAL.get()


def minute_of(at: str) -> str:
    """Return an ISO 8601 time in the format of `minute`."""
    return minute(int(datetime.fromisoformat(at).timestamp() * 1000))


def second_of(at: str) -> str:
    """Return an ISO 8601 time in the machine's zone, to the second: ``2026-11-21 10:12:05``."""
    return f"{datetime.fromisoformat(at).astimezone():%Y-%m-%d %H:%M:%S}"


def localised(text: str) -> str:
    """Return a text of observer's own with its times, stored as UTC, as they are shown."""
    if not _IS_LOCAL.get():
        return text
    return _STATED.sub(lambda at: minute_of(f"{at[1]}T{at[2]}Z"), text)


def day(at_ms: int) -> str:
    """Return the day of a time, ``2026-11-21``, in the zone that times are shown in."""
    at = datetime.fromtimestamp(at_ms // 1000, UTC)
    return f"{at.astimezone() if _IS_LOCAL.get() else at:%Y-%m-%d}"


def minute(at_ms: int) -> str:
    """Return a time to the minute: ``2026-11-21 09:12Z``, or the local ``2026-11-21 10:12``.

    A local time has its zone behind it where that is not the present one.
    """
    if not _IS_LOCAL.get():
        return f"{iso(at_ms)[:16].replace('T', ' ')}Z"
    local = datetime.fromtimestamp(at_ms // 1000, UTC).astimezone()
    shown = local.isoformat(" ", "minutes")
    differs = local.utcoffset() != datetime.now(UTC).astimezone().utcoffset()
    return f"{shown[:16]} {shown[16:]}" if differs else shown[:16]


def span(from_ms: int, to_ms: int) -> str:
    """Return a time span: ``2026-11-21 09:12 to 10:05Z``; a common day and zone appear once."""
    first, last = minute(from_ms), minute(to_ms)
    if first == last:
        return first
    if (first[:10], first[16:]) != (last[:10], last[16:]):
        return f"{first} to {last}"
    return f"{first[:16]} to {last[11:]}"


def coming_ms(text: str, *, now_ms: int) -> int | None:
    """Return a future time as `moment_ms`, ``30d`` from now. Raises BadInput, if past too."""
    at_ms = moment_ms(text, now_ms=now_ms)
    if at_ms is not None and _AGO.fullmatch(text.strip()):
        at_ms = 2 * now_ms - at_ms
    if at_ms is not None and at_ms <= now_ms:
        raise BadInput(
            f"{text.strip()!r} is in the past", hint="name a future time, or a span from now: 30d"
        )
    return at_ms


def moment_ms(text: str, *, now_ms: int) -> int | None:
    """Return a time such as ``2026-11-21``, ``2026-11-21T09:30`` or ``7d`` (ago) in ms, UTC.

    Without a zone it is in the one that times are shown in. Empty text gives None. Raises BadInput:
    it is malformed.
    """
    if not (clean := text.strip()):
        return None
    if ago := _AGO.fullmatch(clean):
        return now_ms - int(ago[1]) * _UNIT_MS[ago[2]]
    try:
        at = datetime.fromisoformat(clean)
        if not at.tzinfo:
            at = at.astimezone() if _IS_LOCAL.get() else at.replace(tzinfo=UTC)
        return int(at.timestamp() * 1000)
    except (ValueError, OverflowError):
        raise BadInput(
            f"{clean[:40]!r} is not a time",
            hint="write 2026-11-21, 2026-11-21T09:30, or a span: 30min, 12h, 7d, 2w",
        ) from None
