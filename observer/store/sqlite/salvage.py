"""Salvaging events and projects from a damaged database, page by page, without SQLite.

A row that matches its checksum is what was stored, wherever it stands: in a page that no tree leads
to any more, beside a damaged row, in the write-ahead log behind a damaged frame. So every page is
parsed as if it were a leaf of a table, and matching rows are kept; neither the header, the schema
nor the inner pages have to be intact.

Source: https://www.sqlite.org/fileformat.html
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from observer.store.maintenance import SalvagedRow, Stored
from observer.store.sqlite.connection import PAGES_CHECKED
from observer.store.sqlite.pages import RESERVED_BYTES, is_whole
from observer.store.sqlite.rows import EVENT_COLUMNS, PROJECT_FIELDS, checksum

PAGE_BYTES = 4096
"""Of our databases; the header that says so may be damaged."""
USABLE_BYTES = PAGE_BYTES - 8
_FRAME_HEADER_BYTES, _WAL_HEADER_BYTES = 24, 32
_HEADER_BYTES, _VERSION = 100, slice(60, 64)
_TABLE_LEAF = 0x0D
_LOCAL_MOST = USABLE_BYTES - 35
_LOCAL_LEAST = (USABLE_BYTES - 12) * 32 // 255 - 23
_COLUMNS = {len(EVENT_COLUMNS) + 1: "event", len(PROJECT_FIELDS) + 1: "project"}
_WIDTHS = (0, 1, 2, 3, 4, 6, 8)
_ENDLESS = 1 << 30


def salvaged(database: Path) -> Iterator[SalvagedRow]:
    """Yield the whole rows of a database and of the log beside it, some of them more than once.

    Raises:
        OSError: a file that is there cannot be read.
    """
    log = database.with_name(f"{database.name}-wal")
    with closing(_Bytes(database)) as stored, closing(_Bytes(log)) as logged:
        newest = dict(_frames(logged))
        for page in _pages(stored):
            yield from _rows(page, stored, logged, newest)
        for _, start in _frames(logged):
            page = logged.part(start, PAGE_BYTES)
            yield from _rows(page, stored, logged, newest)


def damaged_pages(database: Path, *, first: int = 0, count: int = _ENDLESS) -> list[int]:
    """Return the numbers of pages that do not fit their checksums, of `count` after `first`.

    Raises:
        OSError: the file cannot be read.
    """
    found: list[int] = []
    with database.open("rb") as file:
        file.seek(first * PAGE_BYTES)
        for number in range(first + 1, first + count + 1):
            page = file.read(PAGE_BYTES)
            if len(page) < PAGE_BYTES:
                return found
            if not is_whole(page):
                found.append(number)
    return found


def has_checksums(database: Path) -> bool:
    """Return False of a database of an older observer, whose pages prove nothing.

    Raises:
        OSError: the file cannot be read.
    """
    with database.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    is_whole = header.startswith(b"SQLite format 3\0") and len(header) == _HEADER_BYTES
    version = int.from_bytes(header[_VERSION])
    return not is_whole or version >= PAGES_CHECKED or header[20] == RESERVED_BYTES


class _Bytes:
    """A file as it stands; one that is missing or empty has none."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb") if path.exists() else None
        self.size = os.fstat(self._file.fileno()).st_size if self._file else 0
        self._map = (
            mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
            if self._file and self.size
            else None
        )

    def part(self, start: int, length: int) -> bytes:
        return b"" if self._map is None else self._map[start : start + length]

    def close(self) -> None:
        if self._map is not None:
            self._map.close()
        if self._file is not None:
            self._file.close()


def _pages(stored: _Bytes) -> Iterator[bytes]:
    for start in range(0, stored.size, PAGE_BYTES):
        yield stored.part(start, PAGE_BYTES)


def _frames(logged: _Bytes) -> Iterator[tuple[int, int]]:
    """Yield the page number of each frame and where its page starts, oldest first."""
    step = _FRAME_HEADER_BYTES + PAGE_BYTES
    for start in range(_WAL_HEADER_BYTES, logged.size - step + 1, step):
        number = int.from_bytes(logged.part(start, 4))
        yield number, start + _FRAME_HEADER_BYTES


def _rows(
    page: bytes, stored: _Bytes, logged: _Bytes, newest: Mapping[int, int]
) -> Iterator[SalvagedRow]:
    if len(page) < PAGE_BYTES:
        return
    start = 100 if page[:6] == b"SQLite" else 0
    if page[start] != _TABLE_LEAF:
        return
    for place in range(start + 8, USABLE_BYTES - 1, 2):
        cell = int.from_bytes(page[place : place + 2])
        if not start + 8 < cell < USABLE_BYTES - 4:
            return  # behind the last pointer
        for newer in (newest, {}):
            row = _row(page, cell, _Chain(stored, logged, newer))
            if row is not None:
                yield row
                break


class _Chain(NamedTuple):
    """Where what does not fit into a page goes on."""

    stored: _Bytes
    logged: _Bytes
    newest: Mapping[int, int]

    def rest(self, number: int, length: int) -> bytes:
        parts = []
        while length > 0 and number:
            if number in self.newest:
                page = self.logged.part(self.newest[number], PAGE_BYTES)
            else:
                page = self.stored.part((number - 1) * PAGE_BYTES, PAGE_BYTES)
            if len(page) < PAGE_BYTES:
                break
            parts.append(page[4 : 4 + min(length, USABLE_BYTES - 4)])
            length -= USABLE_BYTES - 4
            number = int.from_bytes(page[:4])
        return b"".join(parts)


def _row(page: bytes, cell: int, chain: _Chain) -> SalvagedRow | None:
    """Read one cell; None if it is not a row of ours, or does not match its checksum."""
    try:
        length, at = _varint(page, cell)
        key, at = _varint(page, at)
        if not 0 < length < 2 * chain.stored.size + 2 * chain.logged.size:
            return None
        local = _local(length)
        payload = page[at : at + local]
        if local < length:
            number = int.from_bytes(page[at + local : at + local + 4])
            payload += chain.rest(number, length - local)
        values = _values(payload)
    except (IndexError, ValueError):
        return None
    if values is None or len(payload) != length:
        return None
    return _proven(key, values)


def _proven(key: int, values: list[Stored]) -> SalvagedRow | None:
    table = _COLUMNS.get(len(values))
    if table is None:
        return None
    *kept, known = values
    kept[0] = key  # an INTEGER PRIMARY KEY stands in the key alone
    if table == "event":
        # Where the columns were added to the table is not where the checksum has them.
        kept = [*kept[:11], kept[12], kept[11]]
    return SalvagedRow(table, key, tuple(kept)) if checksum(*kept) == known else None


def _local(length: int) -> int:
    """Return how many bytes of a row stand in its own page."""
    if length <= _LOCAL_MOST:
        return length
    surplus = _LOCAL_LEAST + (length - _LOCAL_LEAST) % (USABLE_BYTES - 4)
    return surplus if surplus <= _LOCAL_MOST else _LOCAL_LEAST


def _values(payload: bytes) -> list[Stored] | None:
    end, at = _varint(payload, 0)
    kinds = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
        if len(kinds) > max(_COLUMNS):
            return None
    if len(kinds) not in _COLUMNS:
        return None
    found: list[Stored] = []
    for kind in kinds:
        value, at = _value(payload, at, kind)
        found.append(value)
    return found


def _value(payload: bytes, at: int, kind: int) -> tuple[Stored, int]:
    """Return one value and where the next one is; text as bytes."""
    if kind >= 12:
        length = (kind - 12) // 2
        return payload[at : at + length], at + length
    if kind in {8, 9}:
        return kind - 8, at
    width = _WIDTHS[kind]
    return (int.from_bytes(payload[at : at + width], signed=True) if kind else None), at + width


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(8):
        byte = data[at + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    return value << 8 | data[at + 8], at + 9
