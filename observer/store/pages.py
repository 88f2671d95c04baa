"""Pages of the database as bytes: proven when they are read, salvaged where they are damaged.

A page of the database ends in eight bytes that SQLite leaves alone, and holds there the CRC of the
rest. A page in the write-ahead log is proven by the CRC with which this process wrote or last read
it, else by the log's own checksums. A page that does not fit is refused, so that nothing is read
from it: neither a wrong text nor a wrong way to another page.

CRC-32 finds every change of up to 32 bits in a row, and misses one of four billion others. It costs
1 microsecond a page; what SQLite keeps in its cache is not read again. SQLite's own `cksumvfs`
proves no page of the write-ahead log, and reports damage as a fault of the disk.

Salvaging needs no SQLite: a row that matches its checksum is what was stored, wherever it stands:
in a page that no tree leads to any more, beside a damaged row, in the write-ahead log behind a
damaged frame. So every page is parsed as if it were a leaf of a table, and matching rows are kept;
neither the header, the schema nor the inner pages have to be intact.

Source: https://www.sqlite.org/fileformat.html
"""

from __future__ import annotations

import mmap
import os
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import apsw

from observer.store.rows import EVENT_COLUMNS, PROJECT_FIELDS, SalvagedRow, Stored, checksum

VFS = "observer-pages"
RESERVED_BYTES = 8
"""At the end of each page; of the sizes that SQLite's own checksums use, too."""
_WHOLE = zlib.crc32(bytes(RESERVED_BYTES))
"""The checksum of anything that its own checksum follows, in so many bytes."""

_PAGE_SIZES = frozenset(512 << shift for shift in range(8))
_MAGIC = b"SQLite format 3\0"
_RESERVED_AT = 20
"""Place in the header of how many bytes each page reserves."""
_FRAME_HEADER_BYTES, _WAL_HEADER_BYTES, _WAL_BIG_ENDIAN = 24, 32, b"\x37\x7f\x06\x83"
_WORD = 1 << 32

PAGES_CHECKED = 9
"""From this schema version on each page carries a checksum."""
PAGE_BYTES = 4096
"""Of our databases; the header that says so may be damaged."""
USABLE_BYTES = PAGE_BYTES - 8
_HEADER_BYTES, _VERSION = 100, slice(60, 64)
_TABLE_LEAF = 0x0D
_LOCAL_MOST = USABLE_BYTES - 35
_LOCAL_LEAST = (USABLE_BYTES - 12) * 32 // 255 - 23
_COLUMNS = {len(EVENT_COLUMNS) + 1: "event", len(PROJECT_FIELDS) + 1: "project"}
_WIDTHS = (0, 1, 2, 3, 4, 6, 8)
_ENDLESS = 1 << 30

Flags = list[int]


def is_whole(page: bytes) -> bool:
    """Return True if a page fits its checksum; one that was never written is all zeros."""
    return zlib.crc32(page) == _WHOLE or not any(page)


def sealed(page: bytes) -> bytes:
    """Return a page with its checksum."""
    body = memoryview(page)[:-RESERVED_BYTES]
    return b"".join((body, zlib.crc32(body).to_bytes(RESERVED_BYTES, "little")))


class _DatabaseFile(apsw.VFSFile):
    """The file of a database; one that reserves no bytes, of an older observer, is not checked."""

    def __init__(self, base: str, name: str | apsw.URIFilename, flags: Flags) -> None:
        super().__init__(base, name, flags)
        self._name = name if isinstance(name, str) else name.filename()
        self._is_read_only = bool(flags[0] & apsw.SQLITE_OPEN_READONLY)
        self._is_checked = self._reserves(super().xRead(100, 0) if self.xFileSize() >= 100 else b"")

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - as SQLite calls it
        """Return what is there, once it has proven to be what was written."""
        data: bytes = super().xRead(amount, offset)
        if amount in _PAGE_SIZES and len(data) == amount:
            if not offset:
                self._is_checked = self._reserves(data)
            if self._is_checked and not is_whole(data):
                raise apsw.CorruptError(f"page {offset // amount + 1} was changed on the disk")
        return data

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - as SQLite calls it
        """Write a page with its checksum."""
        if not offset:
            was_checked, self._is_checked = self._is_checked, self._reserves(data)
            if self._is_checked and not was_checked:
                self._seal(len(data))
        is_page = self._is_checked and len(data) in _PAGE_SIZES
        super().xWrite(sealed(data) if is_page else data, offset)

    def xLock(self, level: int) -> None:  # noqa: N802 - as SQLite calls it
        """Take a lock; a file that is open for reading only is never locked against readers.

        SQLite tries that when the last connection closes, and takes any refusal; ours has to be
        one that is no error.
        """
        if self._is_read_only and level > apsw.SQLITE_LOCK_SHARED:
            raise apsw.BusyError("opened for reading only")
        super().xLock(level)

    def xDeviceCharacteristics(self) -> int:  # noqa: N802 - as SQLite calls it
        """Return what the disk can do, but for reads of less than a page: none proves them."""
        return super().xDeviceCharacteristics() & ~apsw.SQLITE_IOCAP_SUBPAGE_READ

    def _seal(self, page_bytes: int) -> None:
        """Give the pages their checksums that were written before the first one.

        What a cache cannot hold of a new file, such as a copy, comes first.
        """
        for offset in range(page_bytes, self.xFileSize(), page_bytes):
            page = super().xRead(page_bytes, offset)
            if len(page) == page_bytes and any(page):
                super().xWrite(sealed(page), offset)

    def _reserves(self, header: bytes) -> bool:
        return header[:16] == _MAGIC and header[_RESERVED_AT] == RESERVED_BYTES


class _LogFile(apsw.VFSFile):
    """The write-ahead log. The marks, shared by all connections, say what stands where."""

    def __init__(
        self, base: str, name: str | apsw.URIFilename, flags: Flags, marks: dict[int, int]
    ) -> None:
        super().__init__(base, name, flags)
        self._marks = marks

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - as SQLite calls it
        """Return what is there, once it has proven to be what was written."""
        data: bytes = super().xRead(amount, offset)
        if amount in _PAGE_SIZES and len(data) == amount:
            mark = zlib.crc32(data)
            if self._marks.get(offset) != mark:
                if not self._is_proven(data, offset):
                    raise apsw.CorruptError(f"the write-ahead log was changed at {offset}")
                self._marks[offset] = mark
        return data

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - as SQLite calls it
        """Write, and note what a page is."""
        if len(data) in _PAGE_SIZES:
            # Before its bytes are there: else a reader may see them without it.
            self._marks[offset] = zlib.crc32(data)
        super().xWrite(data, offset)

    def _is_proven(self, page: bytes, offset: int) -> bool:
        """Return True if a page fits the checksum of its frame, which goes on from the last one."""
        start = offset - _FRAME_HEADER_BYTES
        magic = super().xRead(4, 0)
        header = super().xRead(_FRAME_HEADER_BYTES, start)
        before = _WAL_HEADER_BYTES - 8
        if start > _WAL_HEADER_BYTES:
            before = start - len(page) - 8
        order = "big" if magic == _WAL_BIG_ENDIAN else "little"
        sums = frame_sums(super().xRead(8, before), header[:8] + page, order)
        return sums == header[16:24]


def frame_sums(before: bytes, content: bytes, order: str) -> bytes:
    """Return the checksums of a frame of the log, given those before it, as they are stored.

    Source: https://www.sqlite.org/fileformat.html#checksum_algorithm
    """
    first, second = (int.from_bytes(before[place : place + 4]) for place in (0, 4))
    words: Sequence[int] = memoryview(content).cast("I")
    if order != sys.byteorder:
        words = [int.from_bytes(word.to_bytes(4, sys.byteorder), order) for word in words]  # type: ignore[arg-type]  # one of the two
    for place in range(0, len(words), 2):
        first = (first + words[place] + second) % _WORD
        second = (second + words[place + 1] + first) % _WORD
    return first.to_bytes(4) + second.to_bytes(4)


class _Pages(apsw.VFS):
    """Opens the files of databases over whatever is the default of this process."""

    def __init__(self) -> None:
        super().__init__(VFS, "")
        self._marks: dict[str, dict[int, int]] = {}

    def xOpen(  # noqa: N802 - as SQLite calls it
        self, name: str | apsw.URIFilename | None, flags: Flags
    ) -> apsw.VFSFile:
        """Open a file; journals and temporary files as they are."""
        base = apsw.vfs_names()[0]
        kind = flags[0]
        if name is not None and kind & apsw.SQLITE_OPEN_MAIN_DB:
            return _DatabaseFile(base, name, flags)
        if name is not None and kind & apsw.SQLITE_OPEN_WAL:
            path = name if isinstance(name, str) else name.filename()
            return _LogFile(base, name, flags, self._marks.setdefault(path, {}))
        return apsw.VFSFile(base, name, flags)


_pages: _Pages | None = None


def register() -> None:
    """Register it over what is the default of this process by now."""
    global _pages  # noqa: PLW0603 - registered as long as it lives
    _pages = _Pages()


register()


def salvaged(database: Path) -> Iterator[SalvagedRow]:
    """Yield the whole rows of a database and of the log beside it, some of them more than once.

    Raises:
        OSError: a file that is there cannot be read.
    """
    log = database.with_name(f"{database.name}-wal")
    with closing(_Bytes(database)) as stored, closing(_Bytes(log)) as logged:
        newest = dict(_frames(logged))
        for start in range(0, stored.size, PAGE_BYTES):
            yield from _rows(stored.part(start, PAGE_BYTES), stored, logged, newest)
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
