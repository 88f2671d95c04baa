"""What stands in a file of a home, packed or not, in whichever page of a database."""

from __future__ import annotations

from pathlib import Path

from observer.store.pages import salvaged
from observer.store.purging import packed_texts
from observer.store.rows import unpacked_event


def legible(path: Path) -> bytes:
    """Return the bytes of a file; those of a database are followed by what is packed in it."""
    found = [path.read_bytes()]
    if path.suffix == ".db":
        found += packed_texts(path)
        rows = (row.values for row in salvaged(path) if row.table == "event")
        found += map(unpacked_event, rows)
    return b"\n".join(found)
