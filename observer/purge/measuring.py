"""What takes the space of a home: its files by what they are for, events by project and type."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from observer.events import Value
from observer.paths import Home
from observer.store.purging import ALL_MS, PurgeReader


class Amount(Value):
    """Some events: how many, the bytes that they take as JSON, the oldest and the newest."""

    events: int
    bytes: int
    oldest_ms: int | None
    newest_ms: int | None


NOTHING = Amount(events=0, bytes=0, oldest_ms=None, newest_ms=None)


def files(home: Home) -> dict[str, int]:
    """Return the bytes of the home's files by what they are for, whatever takes nothing too."""
    parts = {
        "database": _beside(home, ""),
        "write-ahead log": _beside(home, "-wal"),
        "index": size_bytes(home.index),
        "backups": size_bytes(home.backups),
        "context": size_bytes(home.context),
        "logs": size_bytes(home.logs),
        "spool": size_bytes(home.spool),
        "models": size_bytes(home.models),
    }
    return parts | {"other": max(0, size_bytes(home.root) - _program(home) - sum(parts.values()))}


def total_bytes(home: Home) -> int:
    """Return the bytes of the home's files, but for an observer that is installed into it."""
    return sum(files(home).values())


def size_bytes(folder: Path) -> int:
    """Return the bytes of the files in a folder and below it; 0 where there is none."""
    return sum(map(_bytes, folder.rglob("*")))


def amounts(
    reader: PurgeReader, among: Collection[int] | None = None
) -> dict[tuple[int, str], Amount]:
    """Return how much of the log is of each project and type; of some events, where named."""
    found: dict[tuple[int, str], Amount] = {}
    for one in reader.aged(before_ms=ALL_MS):
        if among is None or one.seq in among:
            place = one.project_id, one.of or one.kind
            alone = Amount(events=1, bytes=one.bytes, oldest_ms=one.at_ms, newest_ms=one.at_ms)
            known = found.get(place, NOTHING)
            found[place] = plus(known, alone)
    return found


def plus(one: Amount, other: Amount) -> Amount:
    """Return two amounts together."""
    return Amount(
        events=one.events + other.events,
        bytes=one.bytes + other.bytes,
        oldest_ms=min(_known(one.oldest_ms, other.oldest_ms), default=None),
        newest_ms=max(_known(one.newest_ms, other.newest_ms), default=None),
    )


def _known(*times: int | None) -> Iterator[int]:
    return (at_ms for at_ms in times if at_ms is not None)


def _beside(home: Home, ending: str) -> int:
    return _bytes(home.database.with_name(home.database.name + ending))


def _program(home: Home) -> int:
    return size_bytes(home.root / "venv")


def _bytes(path: Path) -> int:
    try:
        return 0 if path.is_symlink() or not path.is_file() else path.stat().st_size
    except FileNotFoundError:  # deleted meanwhile
        return 0
