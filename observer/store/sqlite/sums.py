"""Checksums of rows: what is stored of an event, or of a project, proves itself wherever it stands.

Pages have checksums of their own, and what is on a damaged page is refused as a whole. These tell
which rows of it are whole all the same, in a page that no table leads to any more, in an old copy.
CRC-32, as for pages: noticing is all that it is for, and it costs 1 microsecond for 4 KB.
"""

from __future__ import annotations

import zlib

from observer.store.purging import Stored

EVENT_COLUMNS = (
    "seq", "id", "dedup", "kind", "client", "project_id", "session_id", "root", "branch",
    "commit_hash", "at_ms", "data", "stored_ms",
)  # fmt: skip
"""What an event's checksum is over, in this order."""
_NUMBERS = frozenset(("seq", "project_id", "session_id", "at_ms", "stored_ms"))


def checksum(*values: Stored) -> int:
    """Return the checksum of a row's values; text counts by its bytes, whatever they are."""
    return zlib.crc32(b"\0".join(map(_bytes, values)))


def as_blobs(columns: tuple[str, ...]) -> str:
    """Return columns of events as they are read: text as it stands, since it may be no UTF-8."""
    return ", ".join(name if name in _NUMBERS else f"CAST({name} AS BLOB)" for name in columns)


def _bytes(value: Stored) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode(errors="surrogatepass")
    return b"" if value is None else str(value).encode()
