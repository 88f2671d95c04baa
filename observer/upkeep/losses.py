"""What was damaged and is to be repaired, what was repaired and lost: for `status` and `doctor`."""

from __future__ import annotations

import os

import msgspec

from observer.core.disk import replace
from observer.core.model import iso
from observer.core.paths import Home, open_plain, read_plain
from observer.core.value import Value, decode_json


def request_repair(home: Home, reason: str) -> None:
    """Have the database repaired, which may look whole. Raises OSError: not written down."""
    with os.fdopen(open_plain(home.damage, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
        file.write(reason.encode(errors="replace"))


class Loss(Value):
    """One mending: events that were whole, came from backups, or are gone, and the damaged files.

    Those gone happened from `from_ms` until `until_ms`, None for unknown.
    """

    at_ms: int
    reason: str
    kept: int = 0
    restored: int = 0
    lost: int = 0
    from_ms: int | None = None
    until_ms: int | None = None
    aside: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return what a person has to know of it."""
        ends = [("after", self.from_ms), ("before", self.until_ms)]
        span = " and ".join(f"{word} {_minute(at_ms)}" for word, at_ms in ends if at_ms)
        lost = f"{self.lost:,} lost{f', of {span}' if span else ''}" if self.lost else "none lost"
        return (
            f"the database was damaged, and repaired at {_minute(self.at_ms)}: of its events"
            f" {self.kept:,} were whole, {self.restored:,} came from backups, {lost}"
        )


def losses(home: Home) -> list[Loss]:
    """Return what was repaired, oldest first; what cannot be read counts as nothing."""
    try:
        return decode_json(read_plain(home.losses), list[Loss])
    except (OSError, msgspec.MsgspecError):
        return []


def recent(home: Home, *, now_ms: int) -> Loss | None:
    """Return the newest loss of the last days, one that lost events before one that lost none."""
    found = [loss for loss in losses(home) if loss.at_ms >= now_ms - 7 * 86_400_000]
    return max(found, key=lambda loss: (loss.lost > 0, loss.at_ms), default=None)


def note(home: Home, loss: Loss) -> None:
    """Add a loss. Raises OSError: it cannot be written."""
    replace(home.losses, msgspec.json.encode([*losses(home), loss][-20:]))


def _minute(at_ms: int) -> str:
    return f"{iso(at_ms)[:16].replace('T', ' ')} UTC"
