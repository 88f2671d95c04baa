"""Keeps a home below its greatest size: what goes for it, in which order, and what is said."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from observer.core.disk import replace
from observer.core.paths import Home, read_plain
from observer.core.text import counted
from observer.core.value import Value, decode_json
from observer.store.reader import StoreReader
from observer.upkeep.shred import shred

LEAST_WORTH = (
    "file-read", "search", "tool-use", "command", "delegation", "custom", "reply", "file-write",
    "prompt",
)  # fmt: skip
"""Types of events in the order in which they make room."""
NEAR, ROOMY = 0.9, 0.8
"""Shares of the limit: from the one on it is announced, down to the other room is made."""
REMEMBERED_MS = 7 * 86_400_000


class Cap(Value):
    """How a home stands to its greatest size.

    `dropped` has by type the time before which everything went; `copies` and `events` count what
    went at `dropped_ms`, the last time.
    """

    limit_bytes: int
    used_bytes: int
    dropped: dict[str, int] = msgspec.field(default_factory=dict)
    copies: int = 0
    events: int = 0
    dropped_ms: int | None = None
    at_ms: int = 0

    @property
    def is_near(self) -> bool:
        """Whether it has to be announced that something will go."""
        return self.used_bytes > NEAR * self.limit_bytes

    @property
    def is_above(self) -> bool:
        """Whether something has to go."""
        return self.used_bytes > self.limit_bytes


def read(home: Home) -> Cap | None:
    """Return what was noted last; None if nothing was, or it cannot be read."""
    with suppress(OSError, msgspec.MsgspecError):
        return decode_json(read_plain(home.cap), Cap)
    return None


def note(home: Home, cap: Cap) -> None:
    """Write down how it stands. Raises OSError: the home cannot be written."""
    replace(home.cap, msgspec.json.encode(cap))


def measured(home: Home, before: Cap | None, limit_mb: int, *, at_ms: int) -> Cap:
    """Return how it stands now, with what went before."""
    known = before or Cap(limit_bytes=0, used_bytes=0)
    now = {"limit_bytes": limit_mb << 20, "used_bytes": total_bytes(home), "at_ms": at_ms}
    return msgspec.structs.replace(known, **now)


def surplus(home: Home, cap: Cap) -> list[Path]:
    """Return copies, the oldest first but for the newest, and rotated logs that make room."""
    copies = sorted(home.backups.glob("*.db"), key=lambda path: path.stat().st_mtime)[:-1]
    logs = sorted(home.logs.glob("daemon.log.*"))
    found, excess = [], total_bytes(home) - ROOMY * cap.limit_bytes
    for path in (*copies, *logs):
        if excess <= 0:
            break
        excess -= path.stat().st_size
        found.append(path)
    return found


def drop_copies(home: Home, cap: Cap) -> Cap:
    """Delete what is `surplus`."""
    gone = surplus(home, cap)
    for path in gone:
        shred(path)
    return msgspec.structs.replace(
        cap,
        used_bytes=total_bytes(home),
        copies=len(gone),
        events=0,
        dropped_ms=cap.at_ms if gone else cap.dropped_ms,
    )


def chosen(reader: StoreReader, home: Home, cap: Cap) -> Cap:
    """Return it with the times before which events of each type go, so that there is room."""
    rows = list(reader.aged_events())
    stored = sum(one.bytes for one in rows) or 1
    # An event costs as much again in items, words and vectors.
    each = files(home)["database"] / stored
    excess = cap.used_bytes - ROOMY * cap.limit_bytes
    dropped = dict(cap.dropped)
    for kind in LEAST_WORTH:
        alike = [one for one in rows if kind in {one.kind, one.of}]
        for one in sorted(alike, key=lambda one: one.at_ms):
            if excess <= 0:
                return msgspec.structs.replace(cap, dropped=dropped)
            excess -= one.bytes * each
            dropped[kind] = max(dropped.get(kind, 0), one.at_ms + 1)
    return msgspec.structs.replace(cap, dropped=dropped)


def counted_out(home: Home, cap: Cap, events: int) -> Cap:
    """Return it after so many events went."""
    return msgspec.structs.replace(
        cap, used_bytes=total_bytes(home), events=events, dropped_ms=cap.at_ms
    )


def text(home: Home, *, now_ms: int) -> str:
    """Return what a person should know of it; empty where there is room and nothing went lately."""
    cap = read(home)
    if cap is None:
        return ""
    said = []
    if cap.dropped_ms is not None and now_ms - cap.dropped_ms < REMEMBERED_MS:
        what = [counted(cap.events, "event")] * bool(cap.events)
        what += [counted(cap.copies, "old file")] * bool(cap.copies)
        said.append(f"{' and '.join(what)} dropped to keep the home below max_home_mb")
    if cap.is_near:
        used, limit = (size / (1 << 20) for size in (cap.used_bytes, cap.limit_bytes))
        said.append(
            f"the home takes {used:,.0f} of {limit:,.0f} MiB (max_home_mb): above it old copies"
            " and the oldest reads, searches and commands go"
        )
    return "; ".join(said)


class EventVolume(Value):
    """Some events: how many, the bytes that they take as JSON, the oldest and the newest."""

    events: int
    bytes: int
    oldest_ms: int | None
    newest_ms: int | None


NOTHING = EventVolume(events=0, bytes=0, oldest_ms=None, newest_ms=None)


def files(home: Home) -> dict[str, int]:
    """Return the bytes of the home's files by what they are for, whatever takes nothing too."""
    log = home.database.with_name(f"{home.database.name}-wal")
    parts = {"database": file_bytes(home.database), "write-ahead log": file_bytes(log)}
    for name in ("index", "backups", "context", "logs", "spool", "models"):
        parts[name] = size_bytes(getattr(home, name))
    others = size_bytes(home.root) - program_bytes(home) - sum(parts.values())
    return parts | {"other": max(0, others)}


def total_bytes(home: Home) -> int:
    """Return the bytes of the home's files, but for an observer that is installed into it."""
    return sum(files(home).values())


def size_bytes(folder: Path) -> int:
    """Return the bytes of the files in a folder and below it; 0 where there is none."""
    return sum(map(file_bytes, folder.rglob("*")))


def amounts(
    reader: StoreReader, among: Collection[int] | None = None
) -> dict[tuple[int, str], EventVolume]:
    """Return how much of the log is of each project and type; of some events, where named."""
    found: dict[tuple[int, str], EventVolume] = {}
    for one in reader.aged_events():
        if among is None or one.seq in among:
            place = one.project_id, one.of or one.kind
            alone = EventVolume(events=1, bytes=one.bytes, oldest_ms=one.at_ms, newest_ms=one.at_ms)
            found[place] = plus(found.get(place, NOTHING), alone)
    return found


def plus(one: EventVolume, other: EventVolume) -> EventVolume:
    """Return two amounts together."""

    def known(*times: int | None) -> Iterator[int]:
        return (at_ms for at_ms in times if at_ms is not None)

    return EventVolume(
        events=one.events + other.events,
        bytes=one.bytes + other.bytes,
        oldest_ms=min(known(one.oldest_ms, other.oldest_ms), default=None),
        newest_ms=max(known(one.newest_ms, other.newest_ms), default=None),
    )


def program_bytes(home: Home) -> int:
    """Return the bytes of an observer that is installed into the home."""
    return size_bytes(home.root / "venv")


def file_bytes(path: Path) -> int:
    """Return the size of a plain file, 0 for what is none, or gone."""
    try:
        return 0 if path.is_symlink() or not path.is_file() else path.stat().st_size
    except FileNotFoundError:  # deleted meanwhile
        return 0
